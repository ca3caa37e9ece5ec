// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// expect: consumers that take turns wait in take() alone
//
// A single wait does not know whose turn it is.
#include <cuda.h>

#include "sluice/ring.hpp"

using Tile = sluice::Tile<float, 64, 32, sluice::Swizzle::B128>;
using Ring = sluice::Ring<sluice::Stage<Tile>, 3, sluice::CopyEngine<sluice::Warps<0>>,
                          sluice::TakingTurns<sluice::Warpgroups<1, 2>, 2>>;

__global__ void kernel(float* out, int n) {
  Ring ring(sluice::shared_memory<Ring::SharedStorage>());
  if (auto consumer = ring.consumer()) {
#if BAD
    out[0] = consumer.wait()(0, 0);
#else
    for (auto tile : consumer.take(n)) out[0] = tile(0, 0);
#endif
  }
}
