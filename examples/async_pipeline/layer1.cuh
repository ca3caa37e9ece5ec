// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The lesson on layer 1: a ring of stages in shared memory, filled by the tensor copy engine (TMA) on behalf
// of one lane of warp 0 and emptied by warps 1 to 3. Each stage has two barriers: `full` says that its tile
// has landed, `empty` says that it may be overwritten. C++17. The files in mistakes/ are edits of this one.
#pragma once

#include <cuda.h>

#include "program.hpp"
#include "sluice/arch/cluster.hpp"
#include "sluice/arch/cp_async_bulk_tensor.hpp"
#include "sluice/pipeline.hpp"
#include "tile_job.hpp"

namespace example::right {

/// What lies in shared memory. The 128-byte swizzle works on address bits, so tiles start on multiples of
/// 1024: the array of the kernel does, and a tile is 16 times that long. The barriers come after the tiles,
/// and the size is rounded up to 128: with 3 stages 49152 + 48, rounded up to 49280.
template <int kStages>
struct Shared {
  alignas(128) HalfBits tiles[kStages][kTileElements];
  typename sluice::PipelineTmaAsync<kStages>::SharedStorage barriers;
};

/// Start the copy of a tile into a stage. In a cluster each CTA fetches its part of the rows and sends it to
/// the same place in all of them; the bytes count on the full barrier of the CTA where they land.
template <int kCtas>
__device__ void load_tile(const CUtensorMap* map, HalfBits* stage, std::uint64_t* full_barrier, int place) {
  const int column = place * kTileCols;
  if constexpr (kCtas == 1) {
    sluice::ptx::cp_async_bulk_tensor(stage, map, full_barrier, sluice::ptx::Coordinates{column, 0});
  } else {
    constexpr std::uint16_t kAllCtas = (1 << kCtas) - 1;
    const int row = static_cast<int>(sluice::ptx::cluster_ctarank()) * (kTileRows / kCtas);
    sluice::ptx::cp_async_bulk_tensor_multicast(stage + row * kTileCols, map, full_barrier,
                                                sluice::ptx::Coordinates{column, row}, kAllCtas);
  }
}

/// Give a stage back. In one CTA every consumer thread arrives. In a cluster a stage is filled by all CTAs,
/// so each of them must hear of it: the consumers meet, and then warp 1 arrives once at every CTA in the name
/// of all of them.
template <int kCtas, class Pipeline, class State>
__device__ void release_stage(Pipeline& pipeline, const State& read) {
  if constexpr (kCtas == 1) {
    pipeline.consumer_release(read);
  } else {
    sluice::NamedBarrier::sync(kConsumerThreads, 0);
    if (threadIdx.x / 32 == 1) pipeline.consumer_release(read);
  }
}

template <int kStages, int kCtas>
__global__ void __launch_bounds__(kThreads)
    async_pipeline(const __grid_constant__ CUtensorMap map, const TileJob job) {
  using Pipeline = sluice::PipelineTmaAsync<kStages>;
  using PipelineState = typename Pipeline::PipelineState;

  extern __shared__ __align__(1024) unsigned char shared_bytes[];
  auto& shared = *reinterpret_cast<Shared<kStages>*>(shared_bytes);
  auto& barriers = shared.barriers;
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;

  // Say who takes part. From this follow the counts of the barriers: one arrival and the bytes for a full
  // barrier, the arrivals of all consumers for an empty one.
  typename Pipeline::Params params;
  params.role = warp == 0 ? Pipeline::ThreadCategory::Producer : Pipeline::ThreadCategory::Consumer;
  params.is_leader = warp == 0 && lane == 0;
  params.num_producers = 1;
  params.num_consumers = kCtas == 1 ? kConsumerThreads : 32;
  params.transaction_bytes = kTileBytes;
  Pipeline pipeline(barriers, params, sluice::ClusterShape<kCtas, 1, 1>{});

  // Let nobody touch a barrier before it exists: wait for all threads of the CTA, or of the cluster.
  sluice::pipeline_init_arrive_relaxed(kCtas);
  sluice::pipeline_init_wait(kCtas);

  if (warp == 0) {
    // Produce: wait until the stage is free and arm its full barrier, start the copy, go to the next stage.
    if (lane == 0) {
      PipelineState write = sluice::make_producer_start_state<Pipeline>();
      for (int tile = 0; tile < job.tiles; ++tile) {
        job.log_producer(tile, write);
        pipeline.producer_acquire(write);
        load_tile<kCtas>(&map, shared.tiles[write.index()], pipeline.producer_get_barrier(write),
                         job.place(tile));
        ++write;
      }
      job.log_producer(job.tiles, write);

      // Stay until the last stages have been given back, because peers in the cluster arrive here.
      pipeline.producer_tail(write);
    }
  } else {
    // Consume: wait until the tile has landed, verify it, give the stage back, go to the next stage.
    PipelineState read;
    for (int tile = 0; tile < job.tiles; ++tile) {
      if (threadIdx.x == 32) job.log_consumer(tile, read);
      unsigned verified = 0;
      pipeline.consumer_wait(read);
      const unsigned wrong = count_wrong<kConsumerThreads>(shared.tiles[read.index()], job.place(tile),
                                                           threadIdx.x - 32, &verified);
      release_stage<kCtas>(pipeline, read);
      ++read;
      job.log_result(tile, verified, wrong);
    }
    if (threadIdx.x == 32) job.log_consumer(job.tiles, read);
  }
}

/// What main.cpp needs to know of the kernel. Host.
template <int kStages, int kCtas>
Program program() {
  using Storage = Shared<kStages>;
  return {async_pipeline<kStages, kCtas>,
          {sizeof(Storage), sizeof(Storage::tiles), sizeof(Storage::barriers)},
          kCtas == 1 ? kConsumerThreads : kCtas};
}

}  // namespace example::right
