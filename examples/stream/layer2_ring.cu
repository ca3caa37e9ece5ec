// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The ring with layer 2 of sluice: counts, bytes, phases, start states and the tail follow from the type.
#include <sluice/ring.hpp>

#include "adding.hpp"
#include "shapes.hpp"

namespace stream {
namespace {

constexpr int kThreads = kConsumerThreads + 32;

template <class Shape>
using Tiles = sluice::Ring<sluice::Stage<sluice::Row<Piece, Shape::TilePieces>>, Shape::Stages,
                           sluice::CopyEngine<sluice::Warps<kConsumerWarps>>,
                           sluice::Consumers<sluice::Warps<0, kConsumerWarps>>>;

template <class Shape>
__global__ void __launch_bounds__(kThreads, 1) layer2_ring_kernel(Job job) {
  Tiles<Shape> tiles(sluice::shared_memory<typename Tiles<Shape>::SharedStorage>());
  const int mine = static_cast<int>((job.tiles + gridDim.x - 1 - blockIdx.x) / gridDim.x);

  if (auto producer = tiles.producer()) {
    const Piece* source = job.data + static_cast<std::uint64_t>(blockIdx.x) * Shape::TilePieces;
    const std::uint64_t step = static_cast<std::uint64_t>(gridDim.x) * Shape::TilePieces;
    for (auto slot : producer.fill(mine)) {
      slot.load(sluice::from(source));
      source += step;
    }
  }
  if (auto consumer = tiles.consumer()) {
    const int thread = static_cast<int>(threadIdx.x);
    Sum sum = 0;
    for (auto tile : consumer.take(mine)) sum += add_share<Shape::TilePieces>(tile.data(), thread);
    write_cta_sum(job, sum, thread);
  }
}

}  // namespace

cudaError_t launch_layer2_ring(const Job& job, int ctas, Shape shape) {
  return with_shape(shape, [&](auto static_shape) {
    using Static = decltype(static_shape);
    if constexpr (!Static::fits) {
      return cudaErrorInvalidValue;
    } else {
      return launch(layer2_ring_kernel<Static>, job, ctas, kThreads, Tiles<Static>::kSharedBytes);
    }
  });
}

}  // namespace stream
