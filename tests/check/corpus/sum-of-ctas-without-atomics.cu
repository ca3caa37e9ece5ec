// finding:   global-race
// at:        marked
// note:      CTAs add to one word with an ordinary load and store.
// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
#include "corpus.hpp"

__global__ void count(const uint32_t* in, uint32_t* out) {
  if (threadIdx.x != 0) return;
#if BUG
  out[0] += in[blockIdx.x];  // at
#else
  atomicAdd(out, in[blockIdx.x]);
#endif
}

int main() {
  const corpus::Buffers buffers;
  if (corpus::failed(corpus::launch(count, buffers, 4, 32))) return 2;
  return corpus::judge(buffers, 1, [](uint32_t) {
    return corpus::input(0) + corpus::input(1) + corpus::input(2) + corpus::input(3);
  });
}
