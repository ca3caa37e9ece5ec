// finding:   arrivals-never-complete / deadlock
// at:        marked
// note:      A warp that has nothing left to do leaves, and the barrier still counts it.
// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
#include <sluice/arch/mbarrier.hpp>

#include "corpus.hpp"

using namespace sluice::ptx;

__global__ void rounds(const uint32_t* in, uint32_t* out) {
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) mbarrier_init(&barrier, blockDim.x);  // at
  __syncthreads();
  const int mine = threadIdx.x < 32 ? 4 : 2;
  for (int round = 0; round < mine; ++round) {
    mbarrier_arrive(&barrier);                  // at
    mbarrier_wait_parity(&barrier, round & 1);  // at
  }
  if (mine == 2 && !BUG) mbarrier_arrive_drop(&barrier);
  out[threadIdx.x] = in[threadIdx.x];
}

int main() {
  const corpus::Buffers buffers;
  if (corpus::failed(corpus::launch(rounds, buffers, 1, 64))) return 2;
  return corpus::judge(buffers, 64, [](uint32_t i) { return corpus::input(i); });
}
