// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// expect: one stage alone needs more shared memory than the device has
//
// 65536 floats are 256 KiB; a CTA can have 227.
#include <cuda.h>

#include "sluice/ring.hpp"

#if BAD
using Tile = sluice::Row<float, 65536>;
#else
using Tile = sluice::Row<float, 32768>;
#endif
using Ring = sluice::Ring<sluice::Stage<Tile>, 1, sluice::CopyEngine<sluice::Warps<0>>,
                          sluice::Consumers<sluice::Warps<1, 3>>>;

__global__ void kernel(float* out, int n) {
  Ring ring(sluice::shared_memory<Ring::SharedStorage>());
  if (auto consumer = ring.consumer()) {
    for (auto stage : consumer.take(n)) out[stage.trip()] = 0;
  }
}
