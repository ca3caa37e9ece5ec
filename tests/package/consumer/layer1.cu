// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel with layer 1, in C++17: warp 0 copies tiles of 1 KiB, warp 1 adds them up.
#include <sluice/arch/cp_async_bulk.hpp>
#include <sluice/pipeline.hpp>

namespace {

constexpr int kTileInts = 256;
using Pipeline = sluice::PipelineTmaAsync<2>;

__global__ void add_tiles(const int* in, int* out, int tiles) {
  __shared__ alignas(128) int tile[2][kTileInts];
  __shared__ Pipeline::SharedStorage storage;
  const bool is_producer = threadIdx.x < 32;
  Pipeline::Params params;
  params.transaction_bytes = sizeof(tile[0]);
  params.role = is_producer ? Pipeline::ThreadCategory::Producer : Pipeline::ThreadCategory::Consumer;
  params.is_leader = threadIdx.x == 0;
  params.num_consumers = 32;
  Pipeline pipeline(storage, params, sluice::ClusterShape<1>{});
  __syncthreads();

  if (is_producer) {
    if (threadIdx.x != 0) return;
    auto state = sluice::make_producer_start_state<Pipeline>();
    for (int i = 0; i < tiles; ++i, ++state) {
      pipeline.producer_acquire(state);
      sluice::ptx::cp_async_bulk(tile[state.index()], in + i * kTileInts, sizeof(tile[0]),
                                 pipeline.producer_get_barrier(state));
    }
    return;
  }
  int sum = 0;
  Pipeline::PipelineState state;
  for (int i = 0; i < tiles; ++i, ++state) {
    pipeline.consumer_wait(state);
    for (int j = threadIdx.x - 32; j < kTileInts; j += 32) sum += tile[state.index()][j];
    pipeline.consumer_release(state);
  }
  atomicAdd(out, sum);
}

}  // namespace

const void* layer1_kernel() {
  return reinterpret_cast<const void*>(add_tiles);
}
