// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// expect: threads fill this ring, and wgmma reads through the asynchronous proxy
//
// Converted operands: without a fence by each writer wgmma may read older bytes.
#include "sluice/ring.hpp"

using Tile = sluice::Tile<short, 64, 64, sluice::Swizzle::B128>;
#if BAD
using Producer = sluice::Stores<sluice::Warps<4, 4>>;
#else
using Producer = sluice::Stores<sluice::Warps<4, 4>, sluice::ReadBy::AsyncProxy>;
#endif
using Ring = sluice::Ring<sluice::Stage<Tile>, 3, Producer, sluice::Consumers<sluice::Warpgroups<0>>>;

__global__ void kernel(unsigned long long* out, int n) {
  Ring ring(sluice::shared_memory<Ring::SharedStorage>());
  if (auto consumer = ring.consumer()) {
    for (auto tile : consumer.take(n)) out[0] = tile.wgmma_descriptor(16);
  }
}
