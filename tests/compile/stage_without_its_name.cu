// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// expect: the first argument of a Ring is its stage
//
// A bare tile where the stage is stated.
#include <cuda.h>

#include "sluice/ring.hpp"

using Tile = sluice::Tile<float, 64, 32, sluice::Swizzle::B128>;
using Ring = sluice::Ring<
#if BAD
    Tile,
#else
    sluice::Stage<Tile>,
#endif
    3, sluice::CopyEngine<sluice::Warps<0>>, sluice::Consumers<sluice::Warps<1, 3>>>;

__global__ void kernel(float* out, int n) {
  Ring ring(sluice::shared_memory<Ring::SharedStorage>());
  if (auto consumer = ring.consumer()) {
    for (auto stage : consumer.take(n)) out[stage.trip()] = 0;
  }
}
