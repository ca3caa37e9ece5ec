// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// expect: cp.async fills the slots of a CpAsync ring alone
//
// cp.async into a stage that was taken, not filled.
#include <cuda.h>

#include "sluice/ring.hpp"

using Tile = sluice::Tile<float, 64, 32, sluice::Swizzle::B128>;
using Ring = sluice::Ring<sluice::Stage<Tile>, 3, sluice::CopyEngine<sluice::Warps<0>>,
                          sluice::Consumers<sluice::Warps<1, 3>>>;

__global__ void kernel(const __grid_constant__ CUtensorMap map, float* out, int n) {
  Ring ring(sluice::shared_memory<Ring::SharedStorage>());
  if (auto consumer = ring.consumer()) {
    for (auto stage : consumer.take(n)) {
#if BAD
      stage.tile().copy(0, 0, out);
#else
      out[0] = stage.tile()(0, 0);
#endif
    }
  }
}
