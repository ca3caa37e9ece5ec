// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// expect: a swizzle keeps 16 bytes together
//
// Two neighbouring 16-byte chunks of a row are not neighbours in memory.
#include <cuda.h>

#include "sluice/ring.hpp"

using Tile = sluice::Tile<float, 64, 32, sluice::Swizzle::B128>;
using Ring = sluice::Ring<sluice::Stage<Tile>, 3, sluice::CopyEngine<sluice::Warps<0>>,
                          sluice::Consumers<sluice::Warps<1, 3>>>;

__global__ void kernel(const __grid_constant__ CUtensorMap map, float* out, int n) {
  Ring ring(sluice::shared_memory<Ring::SharedStorage>());
  struct Wide {
    float values[8];
  };
  if (auto consumer = ring.consumer()) {
    for (auto tile : consumer.take(n)) {
#if BAD
      out[0] = tile.vector<Wide>(0, 0).values[7];
#else
      out[0] = tile.vector<float4>(0, 4).w;
#endif
    }
  }
}
