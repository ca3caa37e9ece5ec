// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// expect: a producer's cursor cannot drain a ring
//
// The producer's cursor is asked for full stages.
#include <cuda.h>

#include "sluice/ring.hpp"

using Tile = sluice::Tile<float, 64, 32, sluice::Swizzle::B128>;
using Ring = sluice::Ring<sluice::Stage<Tile>, 3, sluice::CopyEngine<sluice::Warps<0>>,
                          sluice::Consumers<sluice::Warps<1, 3>>>;

__global__ void kernel(const __grid_constant__ CUtensorMap map, float* out, int n) {
  Ring ring(sluice::shared_memory<Ring::SharedStorage>());
  if (auto producer = ring.producer()) {
#if BAD
    for (auto tile : producer.take(n)) out[0] = tile(0, 0);
#else
    for (auto slot : producer.fill(n)) slot.load(sluice::from(map, 0, 0));
#endif
  }
}
