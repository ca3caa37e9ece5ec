// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// expect: the bytes of a tile must be a multiple of 16
//
// Nine rows of three halves are 54 bytes.
#include <cuda.h>

#include "sluice/ring.hpp"

#if BAD
using Tile = sluice::Tile<short, 9, 3>;
#else
using Tile = sluice::Tile<short, 9, 8>;
#endif
using Ring = sluice::Ring<sluice::Stage<Tile>, 3, sluice::CopyEngine<sluice::Warps<0>>,
                          sluice::Consumers<sluice::Warps<1, 3>>>;

__global__ void kernel(float* out, int n) {
  Ring ring(sluice::shared_memory<Ring::SharedStorage>());
  if (auto consumer = ring.consumer()) {
    for (auto stage : consumer.take(n)) out[stage.trip()] = 0;
  }
}
