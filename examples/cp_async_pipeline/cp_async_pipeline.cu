// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// cp_async_pipeline: the job of async_pipeline the way it is done from Ampere on, with cp.async. All 128
// threads copy 16 bytes at a time and all of them verify. A thread waits for its own copies by counting
// groups; a CTA barrier then says that everybody's have landed, and that everybody is done with the tile
// before. There are no barriers in memory, no phases and no roles. Exit status: 0 all elements right, 1 some
// wrong, 2 bad input, no GPU or a CUDA error.
#include <cstdio>
#include <vector>

#include "command_line.hpp"
#include "cp_async_report.hpp"
#include "device.hpp"
#include "dispatch.hpp"
#include "sluice/arch/cp_async.hpp"
#include "sluice/host/launch.hpp"
#include "tile_data.hpp"

namespace {

using namespace example;

constexpr const char* kProgram = "cp_async_pipeline";
constexpr int kPieceElements = 8;  // what one cp.async moves: 16 bytes

template <int kStages>
struct Shared {
  alignas(1024) HalfBits tiles[kStages][kTileElements];
};

/// This thread's part of a tile, 8 pieces of 16 bytes, on their way into a stage. The thread does what the
/// copy engine does for TMA: it computes both addresses and the swizzle.
__device__ void copy_share(HalfBits* stage, const HalfBits* matrix, int columns, int place) {
  constexpr int kPiecesPerRow = kTileCols / kPieceElements;
  for (int piece = threadIdx.x; piece < kTileElements / kPieceElements; piece += kThreads) {
    const int row = piece / kPiecesPerRow;
    const int col = piece % kPiecesPerRow * kPieceElements;
    sluice::ptx::cp_async<16>(stage + swizzled_offset(row, col),
                              matrix + row * columns + place * kTileCols + col);
  }
}

template <int kStages>
__global__ void __launch_bounds__(kThreads)
    cp_async_pipeline(const HalfBits* matrix, int columns, const TileJob job) {
  extern __shared__ __align__(1024) unsigned char shared_bytes[];
  auto& shared = *reinterpret_cast<Shared<kStages>*>(shared_bytes);

  // Keep this many tiles on their way while one is read. With one stage there is nowhere to put a second.
  constexpr int kAhead = kStages - 1;

  // Fill all stages but one. Every step closes a group, also where no tile is left: waiting goes by number of
  // groups.
  for (int tile = 0; tile < kAhead; ++tile) {
    if (tile < job.tiles) copy_share(shared.tiles[tile], matrix, columns, job.place(tile));
    sluice::ptx::cp_async_commit_group();
  }

  for (int tile = 0; tile < job.tiles; ++tile) {
    // With a single stage the copy starts only now, after everybody has read the tile before.
    if constexpr (kAhead == 0) {
      __syncthreads();
      copy_share(shared.tiles[0], matrix, columns, job.place(tile));
      sluice::ptx::cp_async_commit_group();
    }

    // Wait until this thread's copies of the tile have landed, then until everybody's have. The same barrier
    // says that everybody has read the tile before, so its stage is free.
    sluice::ptx::cp_async_wait_group<(kAhead == 0 ? 0 : kAhead - 1)>();
    __syncthreads();

    // Start the copy into the stage that has just become free.
    if constexpr (kAhead > 0) {
      const int next = tile + kAhead;
      if (next < job.tiles) copy_share(shared.tiles[next % kStages], matrix, columns, job.place(next));
      sluice::ptx::cp_async_commit_group();
    }

    // Verify the tile.
    unsigned verified = 0;
    const unsigned wrong =
        count_wrong<kThreads>(shared.tiles[tile % kStages], job.place(tile), threadIdx.x, &verified);
    job.log_result(tile, verified, wrong);
  }
}

void print_help() {
  std::printf(
      "usage: cp_async_pipeline [options]\n"
      "Moves tiles through a ring of stages with cp.async, all threads copying, and verifies each "
      "element.\n\n"
      "  --stages N    stages of the ring, 1 to %d (3)\n"
      "  --tiles N     tiles to move, 0 to %d (8)\n"
      "  --same-tile   load one tile of the matrix again and again\n"
      "  --quiet       print the verdict alone\n"
      "  --help        this text\n\n"
      "exit status: 0 all elements right, 1 some wrong, 2 bad input, no GPU or a CUDA error\n",
      kMaxStages, kMaxTiles);
}

struct Options {
  CpAsyncScene scene;
  bool quiet = false;
};

Options read_options(int argc, char** argv) {
  Options options;
  CommandLine line(kProgram, argc, argv);
  while (line.next()) {
    if (line.flag("--help")) {
      print_help();
      std::exit(0);
    } else if (line.number("--stages", 1, kMaxStages, &options.scene.stages) ||
               line.number("--tiles", 0, kMaxTiles, &options.scene.tiles)) {
    } else if (line.flag("--same-tile")) {
      options.scene.same_tile = true;
    } else if (line.flag("--quiet")) {
      options.quiet = true;
    } else {
      line.reject();
    }
  }
  return options;
}

sluice::LaunchError start(int stages, const HalfBits* matrix, int columns, const TileJob& job) {
  return with_stages(stages, [&](auto constant) {
    sluice::LaunchShape shape;
    shape.cta = dim3(kThreads);
    shape.shared_bytes = sizeof(Shared<constant>);
    return sluice::launch(cp_async_pipeline<constant>, shape, matrix, columns, job);
  });
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  require_device(kProgram, 9, false);
  if (!options.quiet) print_cp_async_configuration(options.scene);
  std::fflush(stdout);

  // Lay out the matrix and the records, run the kernel.
  const int places = options.scene.same_tile || options.scene.tiles == 0 ? 1 : options.scene.tiles;
  const DeviceArray<HalfBits> matrix(kProgram, make_matrix(places));
  const DeviceArray<TileRecord> records(kProgram, static_cast<std::size_t>(options.scene.tiles) + 1);
  const TileJob job{options.scene.tiles, options.scene.same_tile, records.data()};
  if (const sluice::LaunchError error = start(options.scene.stages, matrix.data(), places * kTileCols, job)) {
    fail(kProgram, "launch: %s", error.text);
  }
  check(kProgram, cudaDeviceSynchronize(), "kernel");

  // Tell what it did.
  const long errors = count_errors(records.read(), options.scene.tiles, 1);
  if (!options.quiet) print_cp_async_tiles(options.scene);
  std::printf("%s (%ld errors)\n", errors == 0 ? "PASS" : "FAIL", errors);
  return errors == 0 ? 0 : 1;
}
