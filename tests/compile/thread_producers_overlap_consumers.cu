// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// expect: consumer warps overlap the producer's
//
// Warps 2 and 3 stand on both sides.
#include <cuda.h>

#include "sluice/ring.hpp"

using Tile = sluice::Row<float, 1024>;
using Ring = sluice::Ring<sluice::Stage<Tile>, 3, sluice::CpAsync<sluice::Warps<0, 4>>,
#if BAD
                          sluice::Consumers<sluice::Warps<2, 4>>>;
#else
                          sluice::Consumers<sluice::Warps<4, 4>>>;
#endif

__global__ void kernel(float* out, int n) {
  Ring ring(sluice::shared_memory<Ring::SharedStorage>());
  if (auto consumer = ring.consumer()) {
    for (auto stage : consumer.take(n)) out[stage.trip()] = 0;
  }
}
