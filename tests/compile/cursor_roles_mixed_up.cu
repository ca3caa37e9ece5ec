// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// expect: each cursor belongs to one ring and one role
//
// A producer's cursor is stored as a consumer's.
#include <cuda.h>

#include "sluice/ring.hpp"

using Tile = sluice::Tile<float, 64, 32, sluice::Swizzle::B128>;
using Ring = sluice::Ring<sluice::Stage<Tile>, 3, sluice::CopyEngine<sluice::Warps<0>>,
                          sluice::Consumers<sluice::Warps<1, 3>>>;

__global__ void kernel(const __grid_constant__ CUtensorMap map, float* out, int n) {
  Ring ring(sluice::shared_memory<Ring::SharedStorage>());
#if BAD
  Ring::Consumer cursor = ring.producer();
#else
  Ring::Consumer cursor = ring.consumer();
#endif
  if (cursor) out[0] = 1;
}
