// finding:   phase-operand-invalid
// at:        marked
// note:      The trip count itself is given as parity; a GPU looks at its lowest bit alone.
// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
#include <sluice/arch/cp_async_bulk.hpp>
#include <sluice/arch/mbarrier.hpp>

#include "corpus.hpp"

using namespace sluice::ptx;

__global__ void copy_tiles(const uint32_t* in, uint32_t* out) {
  __shared__ alignas(128) uint32_t tile[64];
  __shared__ uint64_t full;
  if (threadIdx.x == 0) mbarrier_init(&full, 1);
  __syncthreads();
  for (uint32_t trip = 0; trip < 3; ++trip) {
    if (threadIdx.x == 0) {
      mbarrier_arrive_expect_tx(&full, sizeof(tile));
      cp_async_bulk(tile, in + trip * 64, sizeof(tile), &full);
    }
    mbarrier_wait_parity(&full, BUG ? trip : trip & 1);  // at
    out[trip * 64 + threadIdx.x] = tile[threadIdx.x];
    __syncthreads();
  }
}

int main() {
  const corpus::Buffers buffers;
  if (corpus::failed(corpus::launch(copy_tiles, buffers, 1, 64))) return 2;
  return corpus::judge(buffers, 192, [](uint32_t i) { return corpus::input(i); });
}
