// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Ampere's ring: every thread copies pieces with cp.async, in one group per tile, and adds the pieces that it
// copied itself, so that waiting for its own groups is all the synchronisation there is. A group is committed
// for each stage even past the end, so that the number of groups in flight stays the same.
#include "adding.hpp"
#include "shapes.hpp"
#include "sluice/arch/cp_async.hpp"

namespace stream {
namespace {

template <class Shape>
__global__ void __launch_bounds__(kConsumerThreads) cp_async_ring_kernel(Job job) {
  extern __shared__ __align__(128) Piece tiles[];
  const int thread = static_cast<int>(threadIdx.x);

  const auto copy = [&](std::uint32_t tile, int stage) {
    if (tile < job.tiles) {
      const Piece* source = job.data + static_cast<std::uint64_t>(tile) * Shape::TilePieces + thread;
      Piece* target = tiles + stage * Shape::TilePieces + thread;
#pragma unroll
      for (int i = 0; i < Shape::TilePieces; i += kConsumerThreads)
        sluice::ptx::cp_async<16>(target + i, source + i);
    }
    sluice::ptx::cp_async_commit_group();
  };

  // Fill all stages but one.
  std::uint32_t next = blockIdx.x;
  for (int stage = 0; stage < Shape::Stages - 1; ++stage, next += gridDim.x) copy(next, stage);

  // Wait for the oldest tile, start the copy that takes the place of the one before it, add.
  Sum sum = 0;
  int stage = 0;
  for (std::uint32_t tile = blockIdx.x; tile < job.tiles; tile += gridDim.x, next += gridDim.x) {
    sluice::ptx::cp_async_wait_group<Shape::Stages - 2>();
    copy(next, stage == 0 ? Shape::Stages - 1 : stage - 1);
    sum += add_share<Shape::TilePieces>(tiles + stage * Shape::TilePieces, thread);
    stage = stage + 1 == Shape::Stages ? 0 : stage + 1;
  }
  sluice::ptx::cp_async_wait_all();
  write_cta_sum(job, sum, thread);
}

}  // namespace

cudaError_t launch_cp_async_ring(const Job& job, int ctas, Shape shape) {
  return with_shape(shape, [&](auto static_shape) {
    using Static = decltype(static_shape);
    if constexpr (!Static::fits) {
      return cudaErrorInvalidValue;
    } else {
      return launch(cp_async_ring_kernel<Static>, job, ctas, kConsumerThreads, Static::SharedBytes);
    }
  });
}

}  // namespace stream
