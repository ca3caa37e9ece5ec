// finding:   over-arrival / tx-bytes-never-arrive
// at:        marked
// note:      Each of two warps elects a leader, and both arm a barrier that counts one arrival.
// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
#include <sluice/arch/cp_async_bulk.hpp>
#include <sluice/arch/mbarrier.hpp>

#include "corpus.hpp"

using namespace sluice::ptx;

__global__ void load(const uint32_t* in, uint32_t* out) {
  __shared__ alignas(128) uint32_t tile[64];
  __shared__ uint64_t full;
  if (threadIdx.x == 0) mbarrier_init(&full, 1);
  __syncthreads();
  const bool leads = BUG ? threadIdx.x % 32 == 0 : threadIdx.x == 0;
  if (leads) mbarrier_arrive_expect_tx(&full, sizeof(tile));           // at
  if (threadIdx.x == 0) cp_async_bulk(tile, in, sizeof(tile), &full);  // at
  mbarrier_wait_parity(&full, 0);
  out[threadIdx.x] = tile[threadIdx.x];
}

int main() {
  const corpus::Buffers buffers;
  if (corpus::failed(corpus::launch(load, buffers, 1, 64))) return 2;
  return corpus::judge(buffers, 64, [](uint32_t i) { return corpus::input(i); });
}
