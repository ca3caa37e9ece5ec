// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// expect: hold<K> keeps so many stages that none is left for the producer
//
// Of two stages the producer keeps one until its copies have landed, and the consumer would hold the other.
#include "sluice/ring.hpp"

using Tile = sluice::Tile<short, 64, 64, sluice::Swizzle::B128>;
#if BAD
constexpr int kStages = 2;
#else
constexpr int kStages = 3;
#endif
using Ring = sluice::Ring<sluice::Stage<Tile>, kStages,
                          sluice::CpAsync<sluice::Warps<4, 2>, sluice::ReadBy::AsyncProxy>,
                          sluice::Consumers<sluice::Warpgroups<0>>>;

__global__ void kernel(unsigned long long* out, int n) {
  Ring ring(sluice::shared_memory<Ring::SharedStorage>());
  if (auto consumer = ring.consumer()) {
    for (auto tile : consumer.take(n, sluice::hold<1>)) out[0] = tile.wgmma_descriptor(16);
  }
}
