// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// expect: a plain bulk copy cannot divide rows into panels
//
// The rows of a tile of two panels are not contiguous in shared memory.
#include <cuda.h>

#include "sluice/ring.hpp"

#if BAD
using Tile = sluice::Panels<sluice::Tile<float, 8, 32>, 2>;
#else
using Tile = sluice::Tile<float, 8, 64>;
#endif
using Ring = sluice::Ring<sluice::Stage<Tile>, 3, sluice::CopyEngine<sluice::Warps<0>>,
                          sluice::Consumers<sluice::Warps<1, 3>>>;

__global__ void kernel(const float* in, int n) {
  Ring ring(sluice::shared_memory<Ring::SharedStorage>());
  if (auto producer = ring.producer()) {
    for (auto slot : producer.fill(n)) slot.load(sluice::from(in));
  }
}
