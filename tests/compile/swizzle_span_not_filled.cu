// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// expect: the tile's inner box does not fill the swizzle's span
//
// 32 halves are 64 bytes: the rows of a 128-byte swizzle would have gaps.
#include <cuda.h>

#include "sluice/ring.hpp"

#if BAD
using Tile = sluice::Tile<short, 64, 32, sluice::Swizzle::B128>;
#else
using Tile = sluice::Tile<short, 64, 32, sluice::Swizzle::B64>;
#endif
using Ring = sluice::Ring<sluice::Stage<Tile>, 3, sluice::CopyEngine<sluice::Warps<0>>,
                          sluice::Consumers<sluice::Warps<1, 3>>>;

__global__ void kernel(float* out, int n) {
  Ring ring(sluice::shared_memory<Ring::SharedStorage>());
  if (auto consumer = ring.consumer()) {
    for (auto stage : consumer.take(n)) out[stage.trip()] = 0;
  }
}
