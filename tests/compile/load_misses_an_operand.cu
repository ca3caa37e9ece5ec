// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// expect: load() takes one source for each tile of the stage
//
// The stage expects the bytes of two tiles, and one copy is issued.
#include <cuda.h>

#include "sluice/ring.hpp"

using A = sluice::Tile<float, 64, 32, sluice::Swizzle::B128>;
using B = sluice::Row<float, 64>;
using Ring = sluice::Ring<sluice::Stage<A, B>, 3, sluice::CopyEngine<sluice::Warps<0>>,
                          sluice::Consumers<sluice::Warps<1, 3>>>;

__global__ void kernel(const __grid_constant__ CUtensorMap map, float* out, int n) {
  Ring ring(sluice::shared_memory<Ring::SharedStorage>());
  if (auto producer = ring.producer()) {
    for (auto slot : producer.fill(n)) {
#if BAD
      slot.load(sluice::from(map, 0, 0));
#else
      slot.load(sluice::from(map, 0, 0), sluice::from(out));
#endif
    }
  }
}
