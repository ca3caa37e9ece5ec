// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What cp_async_pipeline prints. There is no state to record: what a thread does for a tile follows from the
// tile's number, and all threads do the same.
#pragma once

#include <cstdio>

#include "tile_job.hpp"

namespace example {

/// What was asked for.
struct CpAsyncScene {
  int stages = 3;
  int tiles = 8;
  bool same_tile = false;
};

inline void print_cp_async_configuration(const CpAsyncScene& scene) {
  const int ahead = scene.stages - 1;
  std::printf("cp_async_pipeline: a ring of %d stage%s filled and read by the same threads\n\n", scene.stages,
              scene.stages == 1 ? "" : "s");
  std::printf("Configuration\n");
  std::printf("  threads        1 CTA of %d threads, all of them copy and all of them verify\n", kThreads);
  std::printf("  tiles          %d of %d x %d half, %d bytes each, K-major, 128-byte swizzle\n", scene.tiles,
              kTileRows, kTileCols, kTileBytes);
  std::printf("  source         %s\n", scene.same_tile ? "the same tile of the matrix again and again"
                                                       : "each tile is another part of the matrix");
  std::printf("  shared memory  %d bytes: tiles %d, barriers 0\n", scene.stages * kTileBytes,
              scene.stages * kTileBytes);
  std::printf("  a tile         %d copies of 16 bytes, %d by each thread, in one group\n", kTileBytes / 16,
              kTileBytes / 16 / kThreads);
  std::printf("  ahead          %d tile%s on their way while one is read\n\n", ahead, ahead == 1 ? "" : "s");
}

inline void print_cp_async_tiles(const CpAsyncScene& scene) {
  const int shown = scene.tiles < 4 ? scene.tiles : 4;
  const int ahead = scene.stages - 1;
  const int groups_left = ahead == 0 ? 0 : ahead - 1;
  if (shown == 0) return;
  std::printf("The first %d tile%s, the same for every thread\n", shown, shown == 1 ? "" : "s");
  if (ahead > 0) std::printf("  before  copy tiles 0 to %d, one group each\n", ahead - 1);
  for (int tile = 0; tile < shown; ++tile) {
    const int next = tile + ahead;
    std::printf("  tile %d\n", tile);
    if (ahead == 0) std::printf("    copy    tile %d into stage 0, after a CTA barrier\n", tile);
    std::printf(
        "    wait    until at most %d of its groups are on their way: its part of tile %d has landed\n",
        groups_left, tile);
    std::printf("    barrier all parts of tile %d have landed%s\n", tile,
                tile > 0 ? ", and the tile before has been read by all" : "");
    if (ahead > 0 && next < scene.tiles) {
      std::printf("    copy    tile %d into stage %d\n", next, next % scene.stages);
    } else if (ahead > 0) {
      std::printf("    copy    none left, an empty group\n");
    }
    std::printf("    verify  stage %d\n", tile % scene.stages);
  }
  std::printf("\n");
}

}  // namespace example
