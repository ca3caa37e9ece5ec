// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The lesson on layer 2: the same job on a typed ring. What a stage holds, how many stages there are, who
// fills them and who reads them is stated once, as a type; counts, bytes, phases, alignment, release and tail
// follow from it. C++20.
#include "dispatch.hpp"
#include "program.hpp"
#include "sluice/ring.hpp"

namespace example {

using Tile = sluice::Tile<HalfBits, kTileRows, kTileCols, sluice::Swizzle::B128>;

/// In a cluster each CTA loads its part of a tile and sends it to all.
template <int kCtas>
using Stage = std::conditional_t<kCtas == 1, sluice::Stage<Tile>,
                                 sluice::Stage<sluice::Multicast<Tile, sluice::Along::X>>>;

template <int kStages, int kCtas>
using Ring =
    sluice::Ring<Stage<kCtas>, kStages, sluice::CopyEngine<sluice::Warps<0>, sluice::ClusterShape<kCtas>>,
                 sluice::Consumers<sluice::Warps<1, 3>>>;

template <class Ring>
__global__ void __launch_bounds__(kThreads)
    async_pipeline_typed(const __grid_constant__ CUtensorMap map, const TileJob job) {
  Ring ring(sluice::shared_memory<typename Ring::SharedStorage>());

  if (auto producer = ring.producer()) {
    if (producer.is_issuer()) job.log_producer(0, producer.state());
    for (auto slot : producer.fill(job.tiles)) {
      slot.load(sluice::from(map, job.place(slot.trip()) * kTileCols, 0));
      if (producer.is_issuer()) job.log_producer(slot.trip() + 1, producer.state());
    }
  }

  if (auto consumer = ring.consumer()) {
    const int thread = threadIdx.x - 32;
    if (thread == 0) job.log_consumer(0, consumer.state());
    for (auto tile : consumer.take(job.tiles)) {
      unsigned verified = 0;
      unsigned wrong = 0;
#pragma unroll 1
      for (int i = thread; i < kTileElements; i += kConsumerThreads, ++verified) {
        const int row = i / kTileCols;
        const int col = i % kTileCols;
        wrong += tile(row, col) != element_bits(job.place(tile.trip()), row, col);
      }
      job.log_result(tile.trip(), verified, wrong);
      if (thread == 0) job.log_consumer(tile.trip() + 1, consumer.state());
    }
  }
}

Program layer2_program(int stages, int ctas) {
  return with_stages(stages, [=](auto stage_count) {
    return with_ctas(ctas, [](auto cta_count) {
      using Shape = Ring<decltype(stage_count)::value, decltype(cta_count)::value>;
      constexpr int kTileTotal = Shape::kStages * Shape::kStageBytes;
      constexpr int kBarrierTotal = sizeof(typename Shape::Facts::Barriers);
      return Program{async_pipeline_typed<Shape>,
                     {Shape::kSharedBytes, kTileTotal, kBarrierTotal},
                     Shape::kEmptyArrivals};
    });
  });
}

}  // namespace example
