// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What the parts of the program share: the job, and the peers that do it, each in a way of its own. The data
// is an array of 32-bit whole numbers, cut into tiles; tile t belongs to CTA t % ctas, and each CTA writes
// the sum of its tiles. Whole numbers, so that the order of additions does not matter and all peers must
// agree to the last bit.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace stream {

/// A piece of 16 bytes: four numbers, the unit of all loads.
using Piece = int4;
using Sum = long long;

/// Threads that add: eight warps. The rings have one more warp, the producer.
constexpr int kConsumerThreads = 256;
constexpr int kConsumerWarps = kConsumerThreads / 32;
constexpr int kBytesPerKib = 1024;

/// Largest absolute value in the data: four of them add without overflow in 32 bits.
constexpr int kMaxValue = (1 << 24) - 1;

/// The job as a kernel sees it. `ctas` is the grid.
struct Job {
  const Piece* data;
  std::uint32_t tiles;
  Sum* cta_sums;
};

/// How a ring is cut: tiles of `tile_kib` KiB, `stages` of them in shared memory.
struct Shape {
  int stages;
  int tile_kib;
};

/// The shapes that the program is compiled for.
constexpr int kStageChoices[] = {2, 3, 4, 6, 8, 12};
constexpr int kTileKibChoices[] = {8, 16, 32};

/// Shared memory of a ring: its tiles, and room to align them and for two barriers per stage.
constexpr std::size_t ring_shared_bytes(Shape shape) {
  return static_cast<std::size_t>(shape.stages) * shape.tile_kib * kBytesPerKib + 512;
}

/// One way to do the job.
struct Peer {
  const char* name;
  const char* what;
  /// Launches the kernel on the default stream. Each error of the launch is returned.
  cudaError_t (*launch)(const Job& job, int ctas, Shape shape);
};

cudaError_t launch_plain_loads(const Job& job, int ctas, Shape shape);
cudaError_t launch_cp_async_ring(const Job& job, int ctas, Shape shape);
cudaError_t launch_layer1_ring(const Job& job, int ctas, Shape shape);
cudaError_t launch_layer2_ring(const Job& job, int ctas, Shape shape);
cudaError_t launch_cutlass_ring(const Job& job, int ctas, Shape shape);

/// Fills `pieces` pieces with numbers and adds them all into `*sum` (both in device memory).
cudaError_t launch_fill(Piece* data, std::uint64_t pieces, unsigned long long* sum);

}  // namespace stream
