// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// expect: do not divide among the CTAs that load it
//
// Four rows per CTA would start in the middle of the swizzle's pattern of eight.
#include <cuda.h>

#include "sluice/ring.hpp"

#if BAD
using Tile = sluice::Tile<float, 8, 32, sluice::Swizzle::B128>;
#else
using Tile = sluice::Tile<float, 16, 32, sluice::Swizzle::B128>;
#endif
using Ring = sluice::Ring<sluice::Stage<sluice::Multicast<Tile, sluice::Along::X>>, 3,
                          sluice::CopyEngine<sluice::Warps<0>, sluice::ClusterShape<2>>,
                          sluice::Consumers<sluice::Warps<1, 3>>>;

__global__ void kernel(float* out, int n) {
  Ring ring(sluice::shared_memory<Ring::SharedStorage>());
  if (auto consumer = ring.consumer()) {
    for (auto stage : consumer.take(n)) out[stage.trip()] = 0;
  }
}
