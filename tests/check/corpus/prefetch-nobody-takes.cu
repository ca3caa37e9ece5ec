// finding:   missing-wait
// at:        marked
// note:      The producer loads one tile ahead also in the last round, and the CTA ends while it comes.
// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
#include <sluice/arch/cp_async_bulk.hpp>
#include <sluice/arch/mbarrier.hpp>

#include "corpus.hpp"

using namespace sluice::ptx;

constexpr int kTiles = 4;
constexpr int kTile = 64;

__global__ void copy_tiles(const uint32_t* in, uint32_t* out) {
  __shared__ alignas(128) uint32_t tile[2][kTile];
  __shared__ uint64_t full[2];
  if (threadIdx.x == 0) {
    mbarrier_init(&full[0], 1);
    mbarrier_init(&full[1], 1);
  }
  __syncthreads();
  const auto fetch = [&](int t) {
    mbarrier_arrive_expect_tx(&full[t % 2], sizeof(tile[0]));                   // at
    cp_async_bulk(tile[t % 2], in + t * kTile, sizeof(tile[0]), &full[t % 2]);  // at
  };
  if (threadIdx.x == 0) fetch(0);  // at
  for (int t = 0; t < kTiles; ++t) {
    if (threadIdx.x == 0 && (BUG || t + 1 < kTiles)) fetch(t + 1);  // at
    mbarrier_wait_parity(&full[t % 2], t / 2 & 1);
    out[t * kTile + threadIdx.x] = tile[t % 2][threadIdx.x];
    __syncthreads();
  }
}

int main() {
  const corpus::Buffers buffers;
  if (corpus::failed(corpus::launch(copy_tiles, buffers, 1, kTile))) return 2;
  return corpus::judge(buffers, kTiles * kTile, [](uint32_t i) { return corpus::input(i); });
}
