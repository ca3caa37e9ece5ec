// finding:   multicast-mask-mismatch
// at:        marked
// note:      The multicast mask was made for clusters of four, and the cluster has two CTAs.
// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
#include <sluice/arch/cluster.hpp>
#include <sluice/arch/cp_async_bulk.hpp>
#include <sluice/arch/fence.hpp>
#include <sluice/arch/mbarrier.hpp>

#include "corpus.hpp"

using namespace sluice::ptx;

__global__ void broadcast(const uint32_t* in, uint32_t* out) {
  __shared__ alignas(128) uint32_t tile[64];
  __shared__ uint64_t full;
  if (threadIdx.x == 0) {
    mbarrier_init(&full, 1);
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(&full, sizeof(tile));
  }
  barrier_cluster_sync();
  if (threadIdx.x == 0 && cluster_ctarank() == 0)
    cp_async_bulk_multicast(tile, in, sizeof(tile), &full, BUG ? 0xf : 0x3);  // at
  mbarrier_wait_parity(&full, 0);
  out[blockIdx.x * 64 + threadIdx.x] = tile[threadIdx.x];
}

int main() {
  const corpus::Buffers buffers;
  if (corpus::failed(corpus::launch(broadcast, buffers, 2, 64, 2))) return 2;
  return corpus::judge(buffers, 128, [](uint32_t i) { return corpus::input(i % 64); });
}
