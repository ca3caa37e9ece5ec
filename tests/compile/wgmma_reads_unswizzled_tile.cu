// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// expect: wgmma reads this tile only with a swizzle
//
// Plain rows are not the core matrices that wgmma expects without a swizzle.
#include <cuda.h>

#include "sluice/ring.hpp"

#if BAD
using Tile = sluice::Tile<float, 64, 32>;
#else
using Tile = sluice::Tile<float, 64, 32, sluice::Swizzle::B128>;
#endif
using Ring = sluice::Ring<sluice::Stage<Tile>, 3, sluice::CopyEngine<sluice::Warps<0>>,
                          sluice::Consumers<sluice::Warps<1, 3>>>;

__global__ void kernel(const __grid_constant__ CUtensorMap map, float* out, int n) {
  Ring ring(sluice::shared_memory<Ring::SharedStorage>());
  if (auto consumer = ring.consumer()) {
    for (auto tile : consumer.take(n)) out[0] = tile.wgmma_descriptor() != 0;
  }
}
