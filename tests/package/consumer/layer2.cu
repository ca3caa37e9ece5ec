// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The same kernel with layer 2, in C++20.
#include <sluice/ring.hpp>

namespace {

constexpr int kTileInts = 256;
using Tiles = sluice::Ring<sluice::Stage<sluice::Row<int, kTileInts>>, 2,
                           sluice::CopyEngine<sluice::Warps<0>>, sluice::Consumers<sluice::Warps<1>>>;

__global__ void add_tiles(const int* in, int* out, int count) {
  Tiles tiles(sluice::shared_memory<Tiles::SharedStorage>());
  if (auto producer = tiles.producer()) {
    for (auto slot : producer.fill(count)) slot.load(sluice::from(in + slot.trip() * kTileInts));
  }
  if (auto consumer = tiles.consumer()) {
    int sum = 0;
    for (auto tile : consumer.take(count)) {
      for (int i = threadIdx.x - 32; i < kTileInts; i += 32) sum += tile[i];
    }
    atomicAdd(out, sum);
  }
}

}  // namespace

const void* layer2_kernel() {
  return reinterpret_cast<const void*>(add_tiles);
}
