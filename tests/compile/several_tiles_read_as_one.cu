// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// expect: this stage holds several tiles: take one with get<I>()
//
// Which of the two tiles is meant?
#include <cuda.h>

#include "sluice/ring.hpp"

using A = sluice::Tile<float, 64, 32, sluice::Swizzle::B128>;
using B = sluice::Row<float, 64>;
using Ring = sluice::Ring<sluice::Stage<A, B>, 3, sluice::CopyEngine<sluice::Warps<0>>,
                          sluice::Consumers<sluice::Warps<1, 3>>>;

__global__ void kernel(const __grid_constant__ CUtensorMap map, float* out, int n) {
  Ring ring(sluice::shared_memory<Ring::SharedStorage>());
  if (auto consumer = ring.consumer()) {
    for (auto stage : consumer.take(n)) {
#if BAD
      out[0] = stage(0, 0);
#else
      out[0] = stage.get<0>()(0, 0);
#endif
    }
  }
}
