// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// expect: each cursor belongs to one ring and one role
//
// The cursor of a ring of two stages cannot go on in a ring of three.
#include <cuda.h>

#include "sluice/ring.hpp"

using Tile = sluice::Tile<float, 64, 32, sluice::Swizzle::B128>;
using Ring = sluice::Ring<sluice::Stage<Tile>, 3, sluice::CopyEngine<sluice::Warps<0>>,
                          sluice::Consumers<sluice::Warps<1, 3>>>;
using Other = sluice::Ring<sluice::Stage<Tile>, 2, sluice::CopyEngine<sluice::Warps<0>>,
                           sluice::Consumers<sluice::Warps<1, 3>>>;

__global__ void kernel(const __grid_constant__ CUtensorMap map, float* out, int n) {
  Ring ring(sluice::shared_memory<Ring::SharedStorage>());
  Other other(sluice::shared_memory<Other::SharedStorage>());
#if BAD
  Ring::Producer cursor = other.producer();
#else
  Ring::Producer cursor = ring.producer();
#endif
  if (cursor) out[0] = 1;
}
