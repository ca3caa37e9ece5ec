// finding:   tx-bytes-exceed / read-before-full
// at:        marked
// note:      Each lane pushes a word to the other CTA, which expects one word less.
// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
#include <sluice/arch/cluster.hpp>
#include <sluice/arch/cp_async_bulk.hpp>
#include <sluice/arch/fence.hpp>
#include <sluice/arch/mbarrier.hpp>

#include "corpus.hpp"

using namespace sluice::ptx;

__global__ void exchange(const uint32_t* in, uint32_t* out) {
  __shared__ uint32_t words[32];
  __shared__ uint64_t full;
  if (threadIdx.x == 0) {
    mbarrier_init(&full, 1);
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(&full, BUG ? 31 * 4 : 32 * 4);  // at
  }
  barrier_cluster_sync();
  const uint32_t peer = cluster_ctarank() ^ 1;
  st_async(&words[threadIdx.x], in[blockIdx.x * 32 + threadIdx.x], &full, peer);  // at
  mbarrier_wait_parity(&full, 0);                                                 // at
  out[blockIdx.x * 32 + threadIdx.x] = words[threadIdx.x];                        // at
  barrier_cluster_sync();
}

int main() {
  const corpus::Buffers buffers;
  if (corpus::failed(corpus::launch(exchange, buffers, 2, 32, 2))) return 2;
  return corpus::judge(buffers, 64, [](uint32_t i) { return corpus::input(i ^ 32); });
}
