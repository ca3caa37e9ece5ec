// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What the bodies of all libraries share: tile sizes, the work of a consumer, and the copies.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "sluice/arch/cluster.hpp"
#include "sluice/arch/cp_async_bulk.hpp"
#include "sluice/arch/cp_async_bulk_tensor.hpp"
#include "sluice/arch/elect.hpp"
#include "sluice/arch/wgmma.hpp"

namespace sass_bench {

constexpr int kWarpgroup = 128;
constexpr std::uint32_t kProducerWarp = 0;

/// A tile of the bodies that copy plain bytes: 8 KiB.
constexpr int kCopyPieces = 512;

/// Tiles of the bodies with wgmma, in elements of 16 bits: A is 64 x 64, B 8 x 64, rows of 128 bytes.
constexpr int kTileM = 64;
constexpr int kTileN = 8;
constexpr int kTileK = 64;
constexpr int kTileA = kTileM * kTileK;
constexpr int kTileB = kTileN * kTileK;

/// Whether this thread is in one of the consumer warpgroups, which follow the producer's.
template <int Groups>
__device__ __forceinline__ bool is_consumer() {
  const unsigned group = threadIdx.x / kWarpgroup;
  return group >= 1 && group <= Groups;
}

__device__ __forceinline__ void copy_out(int4* out, const int4* tile, int thread) {
#pragma unroll
  for (int i = 0; i < kCopyPieces; i += kWarpgroup) out[i + thread] = tile[i + thread];
}

__device__ __forceinline__ void add_share(int4& sum, const int4* tile, int thread) {
#pragma unroll
  for (int i = 0; i < kCopyPieces; i += kWarpgroup) {
    const int4 piece = tile[i + thread];
    sum = {sum.x + piece.x, sum.y + piece.y, sum.z + piece.z, sum.w + piece.w};
  }
}

__device__ __forceinline__ void copy_tensor(void* target, const CUtensorMap& map,
                                            const std::uint64_t* barrier, int x, int y) {
  sluice::ptx::cp_async_bulk_tensor(target, &map, barrier, sluice::ptx::Coordinates{x, y});
}

__device__ __forceinline__ void copy_tensor_multicast(void* target, const CUtensorMap& map,
                                                      const std::uint64_t* barrier, int x, int y,
                                                      std::uint16_t ctas) {
  sluice::ptx::cp_async_bulk_tensor_multicast(target, &map, barrier, sluice::ptx::Coordinates{x, y}, ctas);
}

/// What a thread of a warpgroup holds of a 64 x 8 product.
struct Accumulator {
  float value[4] = {};

  __device__ void store(float4* out) const {
    out[blockIdx.x * blockDim.x + threadIdx.x] = {value[0], value[1], value[2], value[3]};
  }
};

/// The descriptor of a K-major operand with rows of 128 bytes and the 128-byte swizzle (PTX ISA, "Matrix
/// descriptor").
__device__ __forceinline__ std::uint64_t operand_descriptor(const std::uint16_t* tile) {
  constexpr std::uint64_t kStride = 1024 >> 4;  // from eight rows to the next eight
  constexpr std::uint64_t kSwizzle128 = 1;
  return (sluice::ptx::shared_address(tile) & 0x3ffff) >> 4 | 1ull << 16 | kStride << 32 | kSwizzle128 << 62;
}

/// Issues sum += A * B for one stage, as one group.
__device__ __forceinline__ void multiply(Accumulator& sum, const std::uint16_t* a, const std::uint16_t* b) {
  for (float& value : sum.value) sluice::ptx::wgmma_hold(value);
  sluice::ptx::wgmma_fence();
  const std::uint64_t row_a = operand_descriptor(a);
  const std::uint64_t row_b = operand_descriptor(b);
#pragma unroll
  for (int k = 0; k < kTileK / 16; ++k) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
        : "+f"(sum.value[0]), "+f"(sum.value[1]), "+f"(sum.value[2]), "+f"(sum.value[3])
        : "l"(row_a + 2 * k), "l"(row_b + 2 * k));
  }
  sluice::ptx::wgmma_commit_group();
  for (float& value : sum.value) sluice::ptx::wgmma_hold(value);
}

}  // namespace sass_bench
