// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// expect: the swizzle's span is smaller than the tile's inner box
//
// 128 halves are 256 bytes, twice the widest span.
#include <cuda.h>

#include "sluice/ring.hpp"

#if BAD
using Tile = sluice::Tile<short, 64, 128, sluice::Swizzle::B128>;
#else
using Tile = sluice::Tile<short, 64, 64, sluice::Swizzle::B128>;
#endif
using Ring = sluice::Ring<sluice::Stage<Tile>, 3, sluice::CopyEngine<sluice::Warps<0>>,
                          sluice::Consumers<sluice::Warps<1, 3>>>;

__global__ void kernel(float* out, int n) {
  Ring ring(sluice::shared_memory<Ring::SharedStorage>());
  if (auto consumer = ring.consumer()) {
    for (auto stage : consumer.take(n)) out[stage.trip()] = 0;
  }
}
