// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// expect: only consumers that take turns skip stages
//
// A stage that nobody gives back stops the producer.
#include <cuda.h>

#include "sluice/ring.hpp"

using Tile = sluice::Tile<float, 64, 32, sluice::Swizzle::B128>;
using Ring = sluice::Ring<sluice::Stage<Tile>, 3, sluice::CopyEngine<sluice::Warps<0>>,
#if BAD
                          sluice::Consumers<sluice::Warpgroups<1, 2>>>;
#else
                          sluice::TakingTurns<sluice::Warpgroups<1, 2>, 2>>;
#endif

__global__ void kernel(const __grid_constant__ CUtensorMap map, float* out, int n) {
  Ring ring(sluice::shared_memory<Ring::SharedStorage>());
  if (auto consumer = ring.consumer()) {
    consumer.skip(1);
    for (auto tile : consumer.take(n)) out[0] = tile(0, 0);
  }
}
