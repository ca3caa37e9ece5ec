// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// expect: hold<K> keeps so many stages that none is left for the producer
//
// Three stages held of three: the producer waits for ever.
#include <cuda.h>

#include "sluice/ring.hpp"

using Tile = sluice::Tile<float, 64, 32, sluice::Swizzle::B128>;
using Ring = sluice::Ring<sluice::Stage<Tile>, 3, sluice::CopyEngine<sluice::Warps<0>>,
                          sluice::Consumers<sluice::Warps<1, 3>>>;

__global__ void kernel(const __grid_constant__ CUtensorMap map, float* out, int n) {
  Ring ring(sluice::shared_memory<Ring::SharedStorage>());
  if (auto consumer = ring.consumer()) {
    float sum = 0;
#if BAD
    for (auto tile : consumer.take(n, sluice::hold<3>)) sum += tile(0, 0);
#else
    for (auto tile : consumer.take(n, sluice::hold<2>)) sum += tile(0, 0);
#endif
    out[0] = sum;
  }
}
