// finding:   tensor-map-invalid
// at:        marked
// note:      Nobody looks at the result of the encoder, which has refused the box, and the copy gets 128 zero
// bytes. SPDX-FileCopyrightText: The sluice authors SPDX-License-Identifier: Apache-2.0
#include <cuda.h>
#include <sluice/arch/cp_async_bulk_tensor.hpp>
#include <sluice/arch/mbarrier.hpp>
#include <sluice/host/tensor_map.hpp>

#include "corpus.hpp"

using namespace sluice::ptx;

constexpr int kColumns = 32, kRows = 8;

__global__ void fetch(const __grid_constant__ CUtensorMap map, uint32_t* out) {
  __shared__ alignas(128) uint32_t tile[kRows * kColumns];
  __shared__ uint64_t full;
  if (threadIdx.x == 0) mbarrier_init(&full, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    mbarrier_arrive_expect_tx(&full, sizeof(tile));
    cp_async_bulk_tensor(tile, &map, &full, Coordinates{0, 0});  // at
  }
  mbarrier_wait_parity(&full, 0);
  for (int i = static_cast<int>(threadIdx.x); i < kRows * kColumns; i += 32) out[i] = tile[i];
}

int main() {
  const corpus::Buffers buffers;
#if BUG
  const CUtensorMap map{};
#else
  const auto made = sluice::tensor_map(buffers.in).shape({kColumns, kRows}).box({kColumns, kRows}).encode();
  if (!made) return 2;
  const CUtensorMap map = *made;
#endif
  fetch<<<1, 32>>>(map, buffers.out);
  if (corpus::failed(cudaGetLastError())) return 2;
  return corpus::judge(buffers, kRows * kColumns, [](uint32_t i) { return corpus::input(i); });
}
