// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Seven kernels as templates over `Api`, the names of a pipeline library: compiled once with sluice's layer 1
// and once with CUTLASS. Copies and matrix instructions come from one place (sluice/arch and below), so that
// a difference in machine code is a difference of the pipelines. The same on the typed rings are in
// layer2.cu. Nothing here runs; only the machine code counts. All have a producer warpgroup (one thread of it
// copies) and consumer warpgroups behind it. Loops are not unrolled, so that their lengths can be compared.
#pragma once

#include <cuda.h>

#include "pieces.hpp"

namespace sass_bench {

/// The parameters of one role, as all bodies with one or more consumer warpgroups need them.
template <class Pipeline>
__device__ typename Pipeline::Params role_params(std::uint32_t bytes, std::uint32_t consumers,
                                                 std::uint32_t warp) {
  typename Pipeline::Params params;
  params.transaction_bytes = bytes;
  params.role =
      warp == kProducerWarp ? Pipeline::ThreadCategory::Producer : Pipeline::ThreadCategory::Consumer;
  params.is_leader = warp == kProducerWarp;
  params.num_consumers = consumers;
  return params;
}

/// One operand of plain bytes; each consumer thread stores its share to global memory.
template <class Api>
__global__ void __launch_bounds__(2 * kWarpgroup) copy_ring(const int4* in, int4* out, int tiles) {
  using Pipeline = typename Api::template Pipeline<4>;
  using State = typename Pipeline::PipelineState;
  struct Shared {
    alignas(128) int4 tile[4][kCopyPieces];
    typename Pipeline::SharedStorage storage;
  };
  extern __shared__ __align__(1024) unsigned char bytes[];
  auto& shared = *reinterpret_cast<Shared*>(bytes);
  const std::uint32_t warp = sluice::ptx::warp_index_sync();
  Pipeline pipeline(shared.storage, role_params<Pipeline>(sizeof(shared.tile[0]), kWarpgroup, warp),
                    typename Api::OneCta{});
  __syncthreads();

  if (warp == kProducerWarp && sluice::ptx::elect_one_sync()) {
    State state = Api::template producer_start<Pipeline>();
#pragma unroll 1
    for (int tile = 0; tile < tiles; ++tile, ++state) {
      pipeline.producer_acquire(state);
      sluice::ptx::cp_async_bulk(shared.tile[state.index()], in + tile * kCopyPieces, sizeof(shared.tile[0]),
                                 pipeline.producer_get_barrier(state));
    }
  }
  if (!is_consumer<1>()) return;
  const int thread = threadIdx.x - kWarpgroup;
  State state;
#pragma unroll 1
  for (int tile = 0; tile < tiles; ++tile, ++state) {
    pipeline.consumer_wait(state);
    copy_out(out + tile * kCopyPieces, shared.tile[state.index()], thread);
    pipeline.consumer_release(state);
  }
}

/// The protocol alone: the consumer reads nothing.
template <class Api>
__global__ void __launch_bounds__(2 * kWarpgroup) protocol_only(const int4* in, int tiles) {
  using Pipeline = typename Api::template Pipeline<3>;
  using State = typename Pipeline::PipelineState;
  struct Shared {
    alignas(128) int4 tile[3][kCopyPieces];
    typename Pipeline::SharedStorage storage;
  };
  extern __shared__ __align__(1024) unsigned char bytes[];
  auto& shared = *reinterpret_cast<Shared*>(bytes);
  const std::uint32_t warp = sluice::ptx::warp_index_sync();
  Pipeline pipeline(shared.storage, role_params<Pipeline>(sizeof(shared.tile[0]), kWarpgroup, warp),
                    typename Api::OneCta{});
  __syncthreads();

  if (warp == kProducerWarp && sluice::ptx::elect_one_sync()) {
    State state = Api::template producer_start<Pipeline>();
#pragma unroll 1
    for (int tile = 0; tile < tiles; ++tile, ++state) {
      pipeline.producer_acquire(state);
      sluice::ptx::cp_async_bulk(shared.tile[state.index()], in, sizeof(shared.tile[0]),
                                 pipeline.producer_get_barrier(state));
    }
  }
  if (!is_consumer<1>()) return;
  State state;
#pragma unroll 1
  for (int tile = 0; tile < tiles; ++tile, ++state) {
    pipeline.consumer_wait(state);
    pipeline.consumer_release(state);
  }
}

/// Two operands by tensor copies, one consumer warpgroup with wgmma that waits for each product before it
/// releases.
template <class Api>
__global__ void __launch_bounds__(2 * kWarpgroup)
    two_operands(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
                 float4* out, int tiles) {
  using Pipeline = typename Api::template Pipeline<4>;
  using State = typename Pipeline::PipelineState;
  struct Shared {
    alignas(1024) std::uint16_t a[4][kTileA];
    alignas(1024) std::uint16_t b[4][kTileB];
    typename Pipeline::SharedStorage storage;
  };
  extern __shared__ __align__(1024) unsigned char bytes[];
  auto& shared = *reinterpret_cast<Shared*>(bytes);
  const std::uint32_t warp = sluice::ptx::warp_index_sync();
  Pipeline pipeline(shared.storage,
                    role_params<Pipeline>(sizeof(shared.a[0]) + sizeof(shared.b[0]), kWarpgroup, warp),
                    typename Api::OneCta{});
  __syncthreads();

  if (warp == kProducerWarp && sluice::ptx::elect_one_sync()) {
    State state = Api::template producer_start<Pipeline>();
#pragma unroll 1
    for (int tile = 0; tile < tiles; ++tile, ++state) {
      pipeline.producer_acquire(state);
      const auto barrier = pipeline.producer_get_barrier(state);
      copy_tensor(shared.a[state.index()], map_a, barrier, tile * kTileK, 0);
      copy_tensor(shared.b[state.index()], map_b, barrier, tile * kTileK, 0);
    }
  }
  if (!is_consumer<1>()) return;
  Accumulator sum;
  State state;
#pragma unroll 1
  for (int tile = 0; tile < tiles; ++tile, ++state) {
    pipeline.consumer_wait(state);
    multiply(sum, shared.a[state.index()], shared.b[state.index()]);
    sluice::ptx::wgmma_wait_group<0>();
    pipeline.consumer_release(state);
  }
  sum.store(out);
}

/// Two consumer warpgroups, one product in flight: a stage is released when the next product has been issued.
template <class Api>
__global__ void __launch_bounds__(3 * kWarpgroup)
    held_release(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
                 float4* out, int tiles) {
  using Pipeline = typename Api::template Pipeline<4>;
  using State = typename Pipeline::PipelineState;
  struct Shared {
    alignas(1024) std::uint16_t a[4][2 * kTileA];
    alignas(1024) std::uint16_t b[4][kTileB];
    typename Pipeline::SharedStorage storage;
  };
  extern __shared__ __align__(1024) unsigned char bytes[];
  auto& shared = *reinterpret_cast<Shared*>(bytes);
  const std::uint32_t warp = sluice::ptx::warp_index_sync();
  Pipeline pipeline(shared.storage,
                    role_params<Pipeline>(sizeof(shared.a[0]) + sizeof(shared.b[0]), 2 * kWarpgroup, warp),
                    typename Api::OneCta{});
  __syncthreads();

  if (warp == kProducerWarp && sluice::ptx::elect_one_sync()) {
    State state = Api::template producer_start<Pipeline>();
#pragma unroll 1
    for (int tile = 0; tile < tiles; ++tile, ++state) {
      pipeline.producer_acquire(state);
      const auto barrier = pipeline.producer_get_barrier(state);
      copy_tensor(shared.a[state.index()], map_a, barrier, tile * kTileK, 0);
      copy_tensor(shared.b[state.index()], map_b, barrier, tile * kTileK, 0);
    }
  }
  if (!is_consumer<2>()) return;
  const int half = threadIdx.x / kWarpgroup - 1;
  Accumulator sum;
  State state;
  State release;
#pragma unroll 1
  for (int tile = 0; tile < tiles; ++tile, ++state) {
    pipeline.consumer_wait(state);
    multiply(sum, shared.a[state.index()] + half * kTileA, shared.b[state.index()]);
    if (tile == 0) continue;
    sluice::ptx::wgmma_wait_group<1>();
    pipeline.consumer_release(release);
    ++release;
  }
  sluice::ptx::wgmma_wait_group<0>();
  if (tiles > 0) pipeline.consumer_release(release);
  sum.store(out);
}

/// A persistent kernel: cursors live across output tiles. With kAskAhead both sides ask for the next stage
/// one step ahead and hand the answer to the call that waits.
template <class Api, bool kAskAhead>
__device__ __forceinline__ void persistent_body(const int4* in, int4* out, int outputs, int steps) {
  using Pipeline = typename Api::template Pipeline<4>;
  using State = typename Pipeline::PipelineState;
  struct Shared {
    alignas(128) int4 tile[4][kCopyPieces];
    typename Pipeline::SharedStorage storage;
  };
  extern __shared__ __align__(1024) unsigned char bytes[];
  auto& shared = *reinterpret_cast<Shared*>(bytes);
  const std::uint32_t warp = sluice::ptx::warp_index_sync();
  Pipeline pipeline(shared.storage, role_params<Pipeline>(sizeof(shared.tile[0]), kWarpgroup, warp),
                    typename Api::OneCta{});
  __syncthreads();

  if (warp == kProducerWarp && sluice::ptx::elect_one_sync()) {
    State state = Api::template producer_start<Pipeline>();
#pragma unroll 1
    for (int output = blockIdx.x; output < outputs; output += gridDim.x) {
      auto token = pipeline.producer_try_acquire(state, !kAskAhead);
#pragma unroll 1
      for (int step = 0; step < steps; ++step) {
        if constexpr (kAskAhead) {
          pipeline.producer_acquire(state, token);
        } else {
          pipeline.producer_acquire(state);
        }
        sluice::ptx::cp_async_bulk(shared.tile[state.index()], in + (output * steps + step) * kCopyPieces,
                                   sizeof(shared.tile[0]), pipeline.producer_get_barrier(state));
        ++state;
        if constexpr (kAskAhead) token = pipeline.producer_try_acquire(state, step + 1 >= steps);
      }
    }
  }
  if (!is_consumer<1>()) return;
  const int thread = threadIdx.x - kWarpgroup;
  State state;
#pragma unroll 1
  for (int output = blockIdx.x; output < outputs; output += gridDim.x) {
    int4 sum = {};
    auto token = pipeline.consumer_try_wait(state, !kAskAhead);
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
      if constexpr (kAskAhead) {
        pipeline.consumer_wait(state, token);
      } else {
        pipeline.consumer_wait(state);
      }
      add_share(sum, shared.tile[state.index()], thread);
      pipeline.consumer_release(state);
      ++state;
      if constexpr (kAskAhead) token = pipeline.consumer_try_wait(state, step + 1 >= steps);
    }
    out[output * kWarpgroup + thread] = sum;
  }
}

template <class Api>
__global__ void __launch_bounds__(2 * kWarpgroup)
    persistent(const int4* in, int4* out, int outputs, int steps) {
  persistent_body<Api, false>(in, out, outputs, steps);
}

template <class Api>
__global__ void __launch_bounds__(2 * kWarpgroup)
    persistent_tokens(const int4* in, int4* out, int outputs, int steps) {
  persistent_body<Api, true>(in, out, outputs, steps);
}

/// A cluster of 2 x 1: each CTA loads its own A, and one half of the B that both need.
template <class Api>
__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(2 * kWarpgroup)
    multicast(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
              float4* out, int tiles) {
  using Pipeline = typename Api::template Pipeline<4>;
  using State = typename Pipeline::PipelineState;
  struct Shared {
    alignas(1024) std::uint16_t a[4][kTileA];
    alignas(1024) std::uint16_t b[4][2 * kTileB];
    typename Pipeline::SharedStorage storage;
  };
  extern __shared__ __align__(1024) unsigned char bytes[];
  auto& shared = *reinterpret_cast<Shared*>(bytes);
  const std::uint32_t warp = sluice::ptx::warp_index_sync();
  Pipeline pipeline(shared.storage,
                    role_params<Pipeline>(sizeof(shared.a[0]) + sizeof(shared.b[0]), kWarpgroup, warp),
                    typename Api::TwoCtas{});
  Api::init_arrive(2);
  Api::init_wait(2);

  if (warp == kProducerWarp && sluice::ptx::elect_one_sync()) {
    const int rank = static_cast<int>(sluice::ptx::cluster_ctarank());
    State state = Api::template producer_start<Pipeline>();
#pragma unroll 1
    for (int tile = 0; tile < tiles; ++tile, ++state) {
      pipeline.producer_acquire(state);
      const auto barrier = pipeline.producer_get_barrier(state);
      copy_tensor(shared.a[state.index()], map_a, barrier, tile * kTileK,
                  static_cast<int>(blockIdx.x) * kTileM);
      copy_tensor_multicast(shared.b[state.index()] + rank * kTileB, map_b, barrier, tile * kTileK,
                            rank * kTileN, 3);
    }
    pipeline.producer_tail(state);
  }
  if (!is_consumer<1>()) return;
  Accumulator sum;
  State state;
#pragma unroll 1
  for (int tile = 0; tile < tiles; ++tile, ++state) {
    pipeline.consumer_wait(state);
    multiply(sum, shared.a[state.index()], shared.b[state.index()]);
    sluice::ptx::wgmma_wait_group<0>();
    pipeline.consumer_release(state);
  }
  sum.store(out);
}

/// Names all bodies of one library, so that the compiler makes them.
template <class Api>
void make_bodies() {
  const void* const bodies[] = {
      reinterpret_cast<const void*>(copy_ring<Api>),    reinterpret_cast<const void*>(protocol_only<Api>),
      reinterpret_cast<const void*>(two_operands<Api>), reinterpret_cast<const void*>(held_release<Api>),
      reinterpret_cast<const void*>(persistent<Api>),   reinterpret_cast<const void*>(persistent_tokens<Api>),
      reinterpret_cast<const void*>(multicast<Api>),
  };
  static_cast<void>(bodies);
}

}  // namespace sass_bench
