// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The job that the pipeline examples share: bring tiles of 128 x 64 half from a matrix into shared memory and
// verify each element there. Here lie the shape of a tile, the values of the matrix, and the log in which the
// device notes what it did. Nothing here synchronises: that is what the programs are about.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace example {

/// A copy moves bits and never computes with them, so a half is kept as its 16 bits.
using HalfBits = std::uint16_t;

constexpr int kTileRows = 128;
constexpr int kTileCols = 64;
constexpr int kTileElements = kTileRows * kTileCols;
constexpr int kTileBytes = kTileElements * static_cast<int>(sizeof(HalfBits));

/// The programs with roles: warp 0 produces, warps 1 to 3 consume.
constexpr int kThreads = 128;
constexpr int kConsumerThreads = 96;

/// What the command lines offer.
constexpr int kMaxStages = 6;
constexpr int kMaxTiles = 4096;

/// The element at (row, col) of the tile that starts at column 64 * `place` of the matrix. Elements of one
/// tile all differ, and two tiles differ in each element, so a stale, early or misplaced tile shows.
__host__ __device__ constexpr HalfBits element_bits(int place, int row, int col) {
  return static_cast<HalfBits>(place * 9029 + row * kTileCols + col);
}

/// Where (row, col) of a tile lies, in elements from its start, after a copy with the 128-byte swizzle: a row
/// of 64 half is 128 bytes, eight pieces of 16 bytes, and row r keeps its piece p at place p ^ (r % 8). The
/// rule goes by address bits, so the tile must start on a multiple of 1024 bytes.
__host__ __device__ constexpr int swizzled_offset(int row, int col) {
  return row * kTileCols + (((col / 8) ^ (row % 8)) * 8 + col % 8);
}

/// Bytes of shared memory: what a kernel asks for, and how much of it are tiles and barriers.
struct SharedSizes {
  int total;
  int tiles;
  int barriers;
};

/// What one agent had as its PipelineState on the way into a tile.
struct StateRecord {
  int stage;
  int phase;
  int count;
};

/// What the device notes per tile and CTA. The host prints it in tile order, so that the output does not
/// depend on which warp was when where.
struct TileRecord {
  StateRecord producer;
  StateRecord consumer;
  unsigned verified;
  unsigned errors;
};

/// The job as the kernel sees it. Each CTA owns `tiles + 1` records: one per tile, and a last one for the
/// states after the loops.
struct TileJob {
  int tiles;
  bool same_tile;
  TileRecord* records;
  int producer_idles = 0;  ///< turns of an empty loop that the producer makes before each tile
  int consumer_idles = 0;  ///< and each consumer after each tile

  /// Which part of the matrix tile number `tile` is.
  __host__ __device__ int place(int tile) const { return same_tile ? 0 : tile; }

#ifdef __CUDACC__
  template <class State>
  __device__ void log_producer(int tile, const State& state) const {
    idle(producer_idles);
    record(tile).producer = {static_cast<int>(state.index()), static_cast<int>(state.phase()),
                             static_cast<int>(state.count())};
  }

  template <class State>
  __device__ void log_consumer(int tile, const State& state) const {
    record(tile).consumer = {static_cast<int>(state.index()), static_cast<int>(state.phase()),
                             static_cast<int>(state.count())};
  }

  __device__ void log_result(int tile, unsigned verified, unsigned errors) const {
    atomicAdd(&record(tile).verified, verified);
    if (errors != 0) atomicAdd(&record(tile).errors, errors);
    idle(consumer_idles);
  }

 private:
  __device__ static void idle(int turns) {
#pragma unroll 1
    for (int i = 0; i < turns; ++i) asm volatile("");
  }

  __device__ TileRecord& record(int tile) const {
    return records[blockIdx.x * (tiles + 1) + tile];
  }
#endif
};

#ifdef __CUDACC__
/// Compare each element of a swizzled tile in shared memory with what the matrix holds at `place`. Every one
/// of `threads` threads calls it with its own `thread` and takes its share; returns how many elements were
/// wrong.
template <int kThreads>
__device__ unsigned count_wrong(const HalfBits* tile, int place, int thread, unsigned* verified) {
  unsigned wrong = 0;
  *verified = 0;
#pragma unroll 1
  for (int i = thread; i < kTileElements; i += kThreads) {
    const int row = i / kTileCols;
    const int col = i % kTileCols;
    wrong += tile[swizzled_offset(row, col)] != element_bits(place, row, col);
    ++*verified;
  }
  return wrong;
}
#endif

}  // namespace example
