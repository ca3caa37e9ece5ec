// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The ring with PipelineTmaAsync: warp 8 copies whole tiles with the copy engine, warps 0 to 7 add. The
// source is compiled twice, with sluice's layer 1 and with CUTLASS: `Api` says where the names come from.
#pragma once

#include "adding.hpp"
#include "shapes.hpp"

namespace stream {

constexpr int kRingThreads = kConsumerThreads + 32;

template <class Api, class Shape>
__global__ void __launch_bounds__(kRingThreads, 1) tma_ring_kernel(Job job) {
  using Pipeline = typename Api::template Pipeline<Shape::Stages>;
  using State = typename Pipeline::PipelineState;
  extern __shared__ __align__(128) unsigned char shared[];
  Piece* const tiles = reinterpret_cast<Piece*>(shared);
  auto& storage =
      *reinterpret_cast<typename Pipeline::SharedStorage*>(shared + Shape::Stages * Shape::TileBytes);

  // Who is who, and how much comes per stage.
  const int thread = static_cast<int>(threadIdx.x);
  const bool is_producer = thread >= kConsumerThreads;
  typename Pipeline::Params params;
  params.transaction_bytes = Shape::TileBytes;
  params.role = is_producer ? Pipeline::ThreadCategory::Producer : Pipeline::ThreadCategory::Consumer;
  params.is_leader = thread == kConsumerThreads;
  params.num_consumers = kConsumerThreads;
  Pipeline pipeline(storage, params, typename Api::OneCta{});
  __syncthreads();

  if (is_producer) {
    if (thread != kConsumerThreads) return;
    State state = Api::template producer_start<Pipeline>();
    for (std::uint32_t tile = blockIdx.x; tile < job.tiles; tile += gridDim.x, ++state) {
      pipeline.producer_acquire(state);
      Api::copy(tiles + state.index() * Shape::TilePieces,
                job.data + static_cast<std::uint64_t>(tile) * Shape::TilePieces, Shape::TileBytes,
                pipeline.producer_get_barrier(state));
    }
    pipeline.producer_tail(state);
    return;
  }

  Sum sum = 0;
  State state;
  for (std::uint32_t tile = blockIdx.x; tile < job.tiles; tile += gridDim.x, ++state) {
    pipeline.consumer_wait(state);
    sum += add_share<Shape::TilePieces>(tiles + state.index() * Shape::TilePieces, thread);
    pipeline.consumer_release(state);
  }
  write_cta_sum(job, sum, thread);
}

template <class Api>
cudaError_t launch_tma_ring(const Job& job, int ctas, Shape shape) {
  return with_shape(shape, [&](auto static_shape) {
    using Static = decltype(static_shape);
    if constexpr (!Static::fits) {
      return cudaErrorInvalidValue;
    } else {
      return launch(tma_ring_kernel<Api, Static>, job, ctas, kRingThreads, Static::SharedBytes);
    }
  });
}

}  // namespace stream
