// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// expect: more stages than fit into the 232448 bytes of shared memory
//
// Seven stages of 32 KiB and their barriers fit, eight do not.
#include <cuda.h>

#include "sluice/ring.hpp"

using Tile = sluice::Row<float, 8192>;
using Ring = sluice::Ring<sluice::Stage<Tile>,
#if BAD
                          8,
#else
                          7,
#endif
                          sluice::CopyEngine<sluice::Warps<0>>, sluice::Consumers<sluice::Warps<1, 3>>>;

__global__ void kernel(float* out, int n) {
  Ring ring(sluice::shared_memory<Ring::SharedStorage>());
  if (auto consumer = ring.consumer()) {
    for (auto stage : consumer.take(n)) out[stage.trip()] = 0;
  }
}
