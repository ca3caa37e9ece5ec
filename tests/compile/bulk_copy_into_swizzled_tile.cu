// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// expect: a plain bulk copy moves bytes as they are and cannot swizzle
//
// The tile is read through a swizzle that a copy from a pointer does not write.
#include <cuda.h>

#include "sluice/ring.hpp"

using Tile = sluice::Tile<float, 64, 32, sluice::Swizzle::B128>;
using Ring = sluice::Ring<sluice::Stage<Tile>, 3, sluice::CopyEngine<sluice::Warps<0>>,
                          sluice::Consumers<sluice::Warps<1, 3>>>;

__global__ void kernel(const __grid_constant__ CUtensorMap map, float* out, int n) {
  Ring ring(sluice::shared_memory<Ring::SharedStorage>());
  if (auto producer = ring.producer()) {
    for (auto slot : producer.fill(n)) {
#if BAD
      slot.load(sluice::from(out));
#else
      slot.load(sluice::from(map, 0, 0));
#endif
    }
  }
}
