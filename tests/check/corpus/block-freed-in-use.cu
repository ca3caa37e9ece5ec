// finding:   global-race
// at:        marked
// note:      One thread frees the block of the device heap while others may still read it. Blocks that
// threads hand
//            back and others get again are no race.
// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "corpus.hpp"

constexpr int kThreads = 128;

__global__ void turn_round(const uint32_t* in, uint32_t* out) {
  __shared__ uint32_t* block;
  for (int own = 0; own < 4; ++own) {
    auto* const word = static_cast<uint32_t*>(malloc(sizeof(uint32_t)));
    *word = in[threadIdx.x];
    out[threadIdx.x] = *word;
    free(word);
  }
  if (threadIdx.x == 0) block = static_cast<uint32_t*>(malloc(kThreads * sizeof(uint32_t)));
  __syncthreads();
  block[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = block[kThreads - 1 - threadIdx.x];  // at
#if !BUG
  __syncthreads();
#endif
  if (threadIdx.x == kThreads - 1) free(block);  // at
}

int main() {
  const corpus::Buffers buffers;
  if (corpus::failed(corpus::launch(turn_round, buffers, 1, kThreads))) return 2;
  return corpus::judge(buffers, kThreads, [](uint32_t i) { return corpus::input(kThreads - 1 - i); });
}
