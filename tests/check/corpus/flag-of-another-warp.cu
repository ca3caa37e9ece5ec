// finding:   livelock
// at:        marked
// note:      The waiting warp polls a flag that nobody sets, because the setter takes the next one.
// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda/atomic>

#include "corpus.hpp"

__global__ void hand_over(const uint32_t* in, uint32_t* out) {
  __shared__ uint32_t flags[2];
  __shared__ uint32_t word;
  if (threadIdx.x < 2) flags[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    word = in[0];
    cuda::atomic_ref<uint32_t, cuda::thread_scope_block> flag(flags[BUG]);
    flag.store(1, cuda::memory_order_release);
  }
  if (threadIdx.x == 32) {
    cuda::atomic_ref<uint32_t, cuda::thread_scope_block> flag(flags[0]);
    while (flag.load(cuda::memory_order_acquire) == 0) {  // at
    }
    out[0] = word;
  }
}

int main() {
  const corpus::Buffers buffers;
  if (corpus::failed(corpus::launch(hand_over, buffers, 1, 64))) return 2;
  return corpus::judge(buffers, 1, [](uint32_t i) { return corpus::input(i); });
}
