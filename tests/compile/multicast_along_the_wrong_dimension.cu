// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// expect: a tile is multicast along a dimension in which the cluster has one CTA
//
// The cluster has two CTAs along x and one along y.
#include <cuda.h>

#include "sluice/ring.hpp"

using Tile = sluice::Tile<float, 64, 32, sluice::Swizzle::B128>;
using Ring = sluice::Ring<
#if BAD
    sluice::Stage<sluice::Multicast<Tile, sluice::Along::Y>>,
#else
    sluice::Stage<sluice::Multicast<Tile, sluice::Along::X>>,
#endif
    3, sluice::CopyEngine<sluice::Warps<0>, sluice::ClusterShape<2>>, sluice::Consumers<sluice::Warps<1, 3>>>;

__global__ void kernel(float* out, int n) {
  Ring ring(sluice::shared_memory<Ring::SharedStorage>());
  if (auto consumer = ring.consumer()) {
    for (auto stage : consumer.take(n)) out[stage.trip()] = 0;
  }
}
