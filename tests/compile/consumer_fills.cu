// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// expect: a consumer's cursor cannot fill a ring
//
// The consumers' cursor is asked for free stages.
#include <cuda.h>

#include "sluice/ring.hpp"

using Tile = sluice::Tile<float, 64, 32, sluice::Swizzle::B128>;
using Ring = sluice::Ring<sluice::Stage<Tile>, 3, sluice::CopyEngine<sluice::Warps<0>>,
                          sluice::Consumers<sluice::Warps<1, 3>>>;

__global__ void kernel(const __grid_constant__ CUtensorMap map, float* out, int n) {
  Ring ring(sluice::shared_memory<Ring::SharedStorage>());
  if (auto consumer = ring.consumer()) {
#if BAD
    for (auto slot : consumer.fill(n)) slot.load(sluice::from(map, 0, 0));
#else
    for (auto tile : consumer.take(n)) out[0] = tile(0, 0);
#endif
  }
}
