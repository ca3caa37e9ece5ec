// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic that all peers share, so that they differ in how the data comes and in nothing else.
#pragma once

#include "stream.hpp"

namespace stream {

/// The sum of one piece. Values are small enough that it fits 32 bits.
__device__ __forceinline__ int add(const Piece& piece) {
  return (piece.x + piece.y) + (piece.z + piece.w);
}

/// The share of consumer `thread` (0 to kConsumerThreads - 1) of a tile in shared memory.
template <int TilePieces>
__device__ __forceinline__ Sum add_share(const Piece* tile, int thread) {
  static_assert(TilePieces % kConsumerThreads == 0, "each thread takes the same number of pieces");
  Sum sum = 0;
#pragma unroll
  for (int i = 0; i < TilePieces; i += kConsumerThreads) sum += add(tile[i + thread]);
  return sum;
}

/// Adds up what the consumer threads of the CTA have and writes it. All consumer threads and no other thread
/// call it; it uses hardware barrier 1.
__device__ __forceinline__ void write_cta_sum(const Job& job, Sum sum, int thread) {
  __shared__ Sum warp_sums[kConsumerWarps];
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
  if (thread % 32 == 0) warp_sums[thread / 32] = sum;
  asm volatile("bar.sync 1, %0;" ::"n"(kConsumerThreads) : "memory");
  if (thread != 0) return;
  Sum total = 0;
  for (const Sum part : warp_sums) total += part;
  job.cta_sums[blockIdx.x] = total;
}

}  // namespace stream
