// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// expect: one warp issues the copies of a ring
//
// Two warps would arm the barrier twice.
#include <cuda.h>

#include "sluice/ring.hpp"

using Tile = sluice::Tile<float, 64, 32, sluice::Swizzle::B128>;
using Ring = sluice::Ring<sluice::Stage<Tile>, 3,
#if BAD
                          sluice::CopyEngine<sluice::Warps<0, 2>>,
#else
                          sluice::CopyEngine<sluice::Warps<0>>,
#endif
                          sluice::Consumers<sluice::Warps<2, 2>>>;

__global__ void kernel(float* out, int n) {
  Ring ring(sluice::shared_memory<Ring::SharedStorage>());
  if (auto consumer = ring.consumer()) {
    for (auto stage : consumer.take(n)) out[stage.trip()] = 0;
  }
}
