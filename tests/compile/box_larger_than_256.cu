// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// expect: a box of a tensor map has at most 256 elements along a dimension
//
// 512 rows need two boxes.
#include <cuda.h>

#include "sluice/ring.hpp"

#if BAD
using Tile = sluice::Tile<float, 512, 32, sluice::Swizzle::B128>;
#else
using Tile = sluice::Tile<float, 256, 32, sluice::Swizzle::B128>;
#endif
using Ring = sluice::Ring<sluice::Stage<Tile>, 3, sluice::CopyEngine<sluice::Warps<0>>,
                          sluice::Consumers<sluice::Warps<1, 3>>>;

__global__ void kernel(const __grid_constant__ CUtensorMap map, float* out, int n) {
  Ring ring(sluice::shared_memory<Ring::SharedStorage>());
  if (auto producer = ring.producer()) {
    for (auto slot : producer.fill(n)) slot.load(sluice::from(map, 0, 0));
  }
}
