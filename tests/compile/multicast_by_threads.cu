// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// expect: only the copy engine multicasts a tile
//
// cp.async writes the shared memory of its own CTA alone.
#include <cuda.h>

#include "sluice/ring.hpp"

using Tile = sluice::Row<float, 1024>;
using Ring = sluice::Ring<
#if BAD
    sluice::Stage<sluice::Multicast<Tile, sluice::Along::X>>,
#else
    sluice::Stage<Tile>,
#endif
    3, sluice::CpAsync<sluice::Warps<0>>, sluice::Consumers<sluice::Warps<1, 3>>>;

__global__ void kernel(float* out, int n) {
  Ring ring(sluice::shared_memory<Ring::SharedStorage>());
  if (auto consumer = ring.consumer()) {
    for (auto stage : consumer.take(n)) out[stage.trip()] = 0;
  }
}
