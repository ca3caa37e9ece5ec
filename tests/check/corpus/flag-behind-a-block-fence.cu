// finding:   scope-too-narrow
// at:        marked
// note:      One CTA hands data to another through a flag; its fence reaches its own block only.
// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
#include "corpus.hpp"

__device__ int flag = 0;

__global__ void hand_over(const uint32_t* in, uint32_t* out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    out[1] = in[0] + 1;  // at
#if BUG
    __threadfence_block();
#else
    __threadfence();
#endif
    atomicExch(&flag, 1);
  } else {
    while (atomicAdd(&flag, 0) == 0) __nanosleep(20);
    __threadfence();
    out[0] = out[1] * 2;  // at
  }
}

int main() {
  const corpus::Buffers buffers;
  if (corpus::failed(corpus::launch(hand_over, buffers, 2, 32))) return 2;
  return corpus::judge(buffers, 1, [](uint32_t) { return (corpus::input(0) + 1) * 2; });
}
