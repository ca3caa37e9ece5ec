// finding:   bulk-store-in-flight
// at:        marked
// note:      A bulk reduction still reads the tile when the next one is written over it.
// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
#include <sluice/arch/cp_async_bulk.hpp>
#include <sluice/arch/fence.hpp>

#include "corpus.hpp"

using namespace sluice::ptx;

__global__ void add_rows(const uint32_t*, uint32_t* out) {
  __shared__ alignas(128) float tile[32];
  for (int row = 0; row < 3; ++row) {
    tile[threadIdx.x] = static_cast<float>(threadIdx.x + row);  // at
    fence_proxy_async_shared_cta();
    __syncthreads();
    if (threadIdx.x == 0) {
      cp_reduce_async_bulk_add(reinterpret_cast<float*>(out), tile, sizeof(tile));  // at
      cp_async_bulk_commit_group();
#if !BUG
      cp_async_bulk_wait_group_read<0>();
#endif
    }
    __syncthreads();
  }
}

int main() {
  const corpus::Buffers buffers;
  if (corpus::failed(corpus::launch(add_rows, buffers, 1, 32))) return 2;
  return corpus::judge(buffers, 32, [](uint32_t i) {
    return static_cast<uint32_t>(__builtin_bit_cast(int, static_cast<float>(3 * i + 3)));
  });
}
