// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// expect: form two or more groups of equal size
//
// Three warps do not make two equal groups.
#include <cuda.h>

#include "sluice/ring.hpp"

using Tile = sluice::Tile<float, 64, 32, sluice::Swizzle::B128>;
using Ring = sluice::Ring<sluice::Stage<Tile>, 3, sluice::CopyEngine<sluice::Warps<0>>,
#if BAD
                          sluice::TakingTurns<sluice::Warps<1, 3>, 2>>;
#else
                          sluice::TakingTurns<sluice::Warps<1, 4>, 2>>;
#endif

__global__ void kernel(float* out, int n) {
  Ring ring(sluice::shared_memory<Ring::SharedStorage>());
  if (auto consumer = ring.consumer()) {
    for (auto stage : consumer.take(n)) out[stage.trip()] = 0;
  }
}
