// finding:   barrier-misaligned
// at:        marked
// note:      The barrier is placed by hand behind one word, 4 bytes off its alignment.
// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
#include <sluice/arch/mbarrier.hpp>

#include "corpus.hpp"

using namespace sluice::ptx;

__global__ void meet(const uint32_t* in, uint32_t* out) {
  __shared__ alignas(8) unsigned char storage[32];
  auto* word = reinterpret_cast<uint32_t*>(storage);
  auto* barrier = reinterpret_cast<uint64_t*>(storage + (BUG ? 4 : 8));
  if (threadIdx.x == 0) {
    mbarrier_init(barrier, blockDim.x);  // at
    *word = in[0];
  }
  __syncthreads();
  mbarrier_arrive(barrier);
  mbarrier_wait_parity(barrier, 0);
  out[threadIdx.x] = *word;
}

int main() {
  const corpus::Buffers buffers;
  if (corpus::failed(corpus::launch(meet, buffers, 1, 64))) return 2;
  return corpus::judge(buffers, 64, [](uint32_t) { return corpus::input(0); });
}
