// finding:   barrier-overwritten
// at:        marked
// note:      A loop over a padded row count writes two words behind the tile, where its barrier lies.
// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
#include <sluice/arch/mbarrier.hpp>

#include "corpus.hpp"

using namespace sluice::ptx;

constexpr int kTile = 62;

struct Shared {
  uint32_t tile[kTile];
  uint64_t barrier;
};

__global__ void hand_over(const uint32_t* in, uint32_t* out) {
  __shared__ Shared shared;
  if (threadIdx.x == 0) mbarrier_init(&shared.barrier, 32);  // at
  __syncthreads();
  auto* words = reinterpret_cast<volatile uint32_t*>(&shared);
  if (threadIdx.x < 32) {
    for (int i = threadIdx.x; i < (BUG ? 64 : kTile); i += 32) words[i] = in[i];  // at
    mbarrier_arrive(&shared.barrier);
  } else {
    mbarrier_wait_parity(&shared.barrier, 0);
    for (int i = threadIdx.x - 32; i < kTile; i += 32) out[i] = words[i];
  }
}

int main() {
  const corpus::Buffers buffers;
  if (corpus::failed(corpus::launch(hand_over, buffers, 1, 64))) return 2;
  return corpus::judge(buffers, kTile, [](uint32_t i) { return corpus::input(i); });
}
