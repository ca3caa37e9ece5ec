// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The bodies of bodies.hpp on typed rings, written as a user of layer 2 writes them.
#include <sluice/ring.hpp>

#include "pieces.hpp"

namespace sass_bench {

using Producer = sluice::CopyEngine<sluice::Warps<0>>;
using OneGroup = sluice::Consumers<sluice::Warpgroups<1>>;
using TwoGroups = sluice::Consumers<sluice::Warpgroups<1, 2>>;

using Bytes = sluice::Row<int4, kCopyPieces>;
using A = sluice::Tile<std::uint16_t, kTileM, kTileK, sluice::Swizzle::B128>;
using A2 = sluice::Tile<std::uint16_t, 2 * kTileM, kTileK, sluice::Swizzle::B128>;
using B = sluice::Tile<std::uint16_t, kTileN, kTileK, sluice::Swizzle::B128>;
using SharedB = sluice::Tile<std::uint16_t, 2 * kTileN, kTileK, sluice::Swizzle::B128>;

__global__ void __launch_bounds__(2 * kWarpgroup) copy_ring(const int4* in, int4* out, int tiles) {
  using Ring = sluice::Ring<sluice::Stage<Bytes>, 4, Producer, OneGroup>;
  Ring ring(sluice::shared_memory<Ring::SharedStorage>());
  if (auto producer = ring.producer()) {
#pragma unroll 1
    for (auto slot : producer.fill(tiles)) slot.load(sluice::from(in + slot.trip() * kCopyPieces));
  }
  if (auto consumer = ring.consumer()) {
    const int thread = threadIdx.x - kWarpgroup;
#pragma unroll 1
    for (auto tile : consumer.take(tiles)) copy_out(out + tile.trip() * kCopyPieces, tile.data(), thread);
  }
}

__global__ void __launch_bounds__(2 * kWarpgroup) protocol_only(const int4* in, int tiles) {
  using Ring = sluice::Ring<sluice::Stage<Bytes>, 3, Producer, OneGroup>;
  Ring ring(sluice::shared_memory<Ring::SharedStorage>());
  if (auto producer = ring.producer()) {
#pragma unroll 1
    for (auto slot : producer.fill(tiles)) slot.load(sluice::from(in));
  }
  if (auto consumer = ring.consumer()) {
#pragma unroll 1
    for ([[maybe_unused]] auto tile : consumer.take(tiles)) {
    }
  }
}

__global__ void __launch_bounds__(2 * kWarpgroup)
    two_operands(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
                 float4* out, int tiles) {
  using Ring = sluice::Ring<sluice::Stage<A, B>, 4, Producer, OneGroup>;
  Ring ring(sluice::shared_memory<Ring::SharedStorage>());
  if (auto producer = ring.producer()) {
#pragma unroll 1
    for (auto slot : producer.fill(tiles)) {
      slot.load(sluice::from(map_a, slot.trip() * kTileK, 0), sluice::from(map_b, slot.trip() * kTileK, 0));
    }
  }
  if (auto consumer = ring.consumer()) {
    Accumulator sum;
#pragma unroll 1
    for (auto stage : consumer.take(tiles)) {
      multiply(sum, stage.template get<0>().data(), stage.template get<1>().data());
      sluice::ptx::wgmma_wait_group<0>();
    }
    sum.store(out);
  }
}

__global__ void __launch_bounds__(3 * kWarpgroup)
    held_release(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
                 float4* out, int tiles) {
  using Ring = sluice::Ring<sluice::Stage<A2, B>, 4, Producer, TwoGroups>;
  Ring ring(sluice::shared_memory<Ring::SharedStorage>());
  if (auto producer = ring.producer()) {
#pragma unroll 1
    for (auto slot : producer.fill(tiles)) {
      slot.load(sluice::from(map_a, slot.trip() * kTileK, 0), sluice::from(map_b, slot.trip() * kTileK, 0));
    }
  }
  if (auto consumer = ring.consumer()) {
    const int half = threadIdx.x / kWarpgroup - 1;
    Accumulator sum;
#pragma unroll 1
    for (auto stage : consumer.take(tiles, sluice::hold<1>)) {
      multiply(sum, stage.template get<0>().data() + half * kTileA, stage.template get<1>().data());
      sluice::ptx::wgmma_wait_group<1>();
    }
    sluice::ptx::wgmma_wait_group<0>();
    consumer.release_held();
    sum.store(out);
  }
}

// A typed ring has no tokens, since its waits ask at once anyway: both persistent kernels are this one.
__device__ __forceinline__ void persistent_body(const int4* in, int4* out, int outputs, int steps) {
  using Ring = sluice::Ring<sluice::Stage<Bytes>, 4, Producer, OneGroup>;
  Ring ring(sluice::shared_memory<Ring::SharedStorage>());
  if (auto producer = ring.producer()) {
#pragma unroll 1
    for (int output = blockIdx.x; output < outputs; output += gridDim.x) {
#pragma unroll 1
      for (auto slot : producer.fill(steps)) {
        slot.load(sluice::from(in + (output * steps + slot.trip()) * kCopyPieces));
      }
    }
  }
  if (auto consumer = ring.consumer()) {
    const int thread = threadIdx.x - kWarpgroup;
#pragma unroll 1
    for (int output = blockIdx.x; output < outputs; output += gridDim.x) {
      int4 sum = {};
#pragma unroll 1
      for (auto tile : consumer.take(steps)) add_share(sum, tile.data(), thread);
      out[output * kWarpgroup + thread] = sum;
    }
  }
}

__global__ void __launch_bounds__(2 * kWarpgroup)
    persistent(const int4* in, int4* out, int outputs, int steps) {
  persistent_body(in, out, outputs, steps);
}

__global__ void __launch_bounds__(2 * kWarpgroup)
    persistent_tokens(const int4* in, int4* out, int outputs, int steps) {
  persistent_body(in, out, outputs, steps);
}

__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(2 * kWarpgroup)
    multicast(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
              float4* out, int tiles) {
  using Ring = sluice::Ring<sluice::Stage<A, sluice::Multicast<SharedB, sluice::Along::X>>, 4,
                            sluice::CopyEngine<sluice::Warps<0>, sluice::ClusterShape<2>>, OneGroup>;
  Ring ring(sluice::shared_memory<Ring::SharedStorage>());
  if (auto producer = ring.producer()) {
    const int row = static_cast<int>(blockIdx.x) * kTileM;
#pragma unroll 1
    for (auto slot : producer.fill(tiles)) {
      slot.load(sluice::from(map_a, slot.trip() * kTileK, row), sluice::from(map_b, slot.trip() * kTileK, 0));
    }
  }
  if (auto consumer = ring.consumer()) {
    Accumulator sum;
#pragma unroll 1
    for (auto stage : consumer.take(tiles)) {
      multiply(sum, stage.template get<0>().data(), stage.template get<1>().data());
      sluice::ptx::wgmma_wait_group<0>();
    }
    sum.store(out);
  }
}

}  // namespace sass_bench
