// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What the programs with full and empty barriers print. Everything comes from the options and from the
// records that the device made, in tile order, so that the text is the same on every machine and for every
// order in which the warps ran.
#pragma once

#include <cstdio>

#include "tile_job.hpp"

namespace example {

/// What was asked for, as far as the report speaks of it.
struct Scene {
  const char* program;
  const char* library;
  const char* mistake;  // null when there is none
  int stages;
  int tiles;
  int ctas;
  bool same_tile;
  int empty_arrivals;
};

inline const char* plural(int n) {
  return n == 1 ? "" : "s";
}

inline void print_configuration(const Scene& scene, const SharedSizes& sizes) {
  const int last = scene.stages - 1;
  std::printf("%s: a ring of %d stage%s between the copy engine and three warps\n\n", scene.program,
              scene.stages, plural(scene.stages));
  std::printf("Configuration\n");
  std::printf("  library        %s\n", scene.library);
  if (scene.mistake != nullptr) std::printf("  mistake        %s\n", scene.mistake);
  if (scene.ctas == 1) {
    std::printf("  threads        1 CTA of %d threads\n", kThreads);
  } else {
    std::printf("  threads        1 cluster of %d CTAs, %d threads each\n", scene.ctas, kThreads);
  }
  std::printf("  producer       warp 0: one lane starts the copies (TMA)\n");
  std::printf("  consumers      warps 1-3: %d threads verify each element\n", kConsumerThreads);
  std::printf("  tiles          %d of %d x %d half, %d bytes each, K-major, 128-byte swizzle\n", scene.tiles,
              kTileRows, kTileCols, kTileBytes);
  std::printf("  source         %s\n", scene.same_tile ? "the same tile of the matrix again and again"
                                                       : "each tile is another part of the matrix");
  if (scene.ctas > 1) {
    std::printf("  multicast      each CTA loads %d rows of a tile into all %d CTAs\n",
                kTileRows / scene.ctas, scene.ctas);
  }
  std::printf("  shared memory  %d bytes: tiles %d, barriers %d, rounded up by %d\n", sizes.total,
              sizes.tiles, sizes.barriers, sizes.total - sizes.tiles - sizes.barriers);
  std::printf("  full[0..%d]     1 arrival (the producer) and %d bytes\n", last, kTileBytes);
  if (scene.ctas == 1) {
    std::printf("  empty[0..%d]    %d arrivals (each consumer thread)\n", last, scene.empty_arrivals);
  } else {
    std::printf("  empty[0..%d]    %d arrivals (%d from each CTA)\n", last, scene.empty_arrivals,
                scene.empty_arrivals / scene.ctas);
  }
  std::printf("\n");
}

inline void print_transition(const StateRecord& from, const StateRecord& to, const char* end) {
  const bool flips = from.phase != to.phase;
  std::printf("(%d, %d) -> (%d, %d)%s%s", from.stage, from.phase, to.stage, to.phase, flips ? "  flip" : "",
              *end == '\n' || flips ? end : "          ");
}

/// Both PipelineStates on their way through the tiles, as (stage, phase). `records` are those of one CTA.
inline void print_transitions(const TileRecord* records, int tiles) {
  std::printf("PipelineState, as (stage, phase), before and after each tile\n");
  std::printf("  tile   producer                  consumer\n");
  for (int tile = 0; tile < tiles; ++tile) {
    std::printf("  %4d   ", tile);
    print_transition(records[tile].producer, records[tile + 1].producer, "    ");
    print_transition(records[tile].consumer, records[tile + 1].consumer, "\n");
  }
  if (tiles == 0) std::printf("  no tile, so both states stay where they start\n");
  std::printf("\n");
}

inline void print_start_states(const TileRecord* records) {
  const StateRecord& producer = records[0].producer;
  const StateRecord& consumer = records[0].consumer;
  std::printf(
      "Start states\n"
      "  consumer  stage %d, phase %d: it waits for the end of phase 0 of full[0], and that comes when the\n"
      "            first tile has landed. A fresh barrier is in phase 0, so the wait blocks until then.\n",
      consumer.stage, consumer.phase);
  std::printf(
      "  producer  stage %d, phase %d: it waits for the end of phase 1 of empty[0]. The phase before phase "
      "0\n"
      "            has parity 1 and counts as over, so on a fresh barrier the wait passes at once: all\n"
      "            stages start free, and the first lap needs no release.\n\n",
      producer.stage, producer.phase);
}

/// What both sides do for one tile.
inline void print_tile(const Scene& scene, const TileRecord* records, int tile) {
  const StateRecord& write = records[tile].producer;
  const StateRecord& read = records[tile].consumer;
  std::printf("  tile %d\n", tile);
  if (write.count < scene.stages) {
    std::printf("    producer  acquire  empty[%d] phase %d: passes at once, the stage has never been used\n",
                write.stage, write.phase);
  } else {
    std::printf("    producer  acquire  empty[%d] phase %d: passes when tile %d has been released\n",
                write.stage, write.phase, tile - scene.stages);
  }
  std::printf("              arm      full[%d]: arrives once and expects %d bytes\n", write.stage,
              kTileBytes);
  if (scene.ctas == 1) {
    std::printf("              copy     tile %d into stage %d, bytes count on full[%d]\n", tile, write.stage,
                write.stage);
  } else {
    std::printf(
        "              copy     its rows of tile %d into stage %d of each CTA, bytes count on full[%d] "
        "there\n",
        tile, write.stage, write.stage);
  }
  std::printf("              advance  to stage %d, phase %d\n", records[tile + 1].producer.stage,
              records[tile + 1].producer.phase);
  std::printf("    consumer  wait     full[%d] phase %d: passes when all bytes of tile %d have landed\n",
              read.stage, read.phase, tile);
  std::printf("              verify   %u elements, %u wrong\n", records[tile].verified, records[tile].errors);
  std::printf("              release  empty[%d]: %d arrivals end its phase %d\n", read.stage,
              scene.empty_arrivals, read.phase);
  std::printf("              advance  to stage %d, phase %d\n", records[tile + 1].consumer.stage,
              records[tile + 1].consumer.phase);
}

inline void print_first_tiles(const Scene& scene, const TileRecord* records) {
  const int shown = scene.tiles < 4 ? scene.tiles : 4;
  if (shown == 0) return;
  std::printf("The first %d tile%s\n", shown, plural(shown));
  for (int tile = 0; tile < shown; ++tile) print_tile(scene, records, tile);
  std::printf("\n");
}

inline void print_flow() {
  std::printf("One stage between producer and consumers\n");
  std::printf(
      "  producer                                              consumers\n"
      "  producer_acquire: wait empty, phase p^1                    |\n"
      "       |                                                     |\n"
      "  arm full: arrive, expect bytes                        consumer_wait: wait full, phase p\n"
      "       |                                                     .\n"
      "  start the copy ------> copy engine ------> stage           .\n"
      "       |                      |                              .\n"
      "  ++state                     +-- bytes ----> full --------> passes: read the tile\n"
      "       |                                                     |\n"
      "       .                     empty <------------------- consumer_release: arrive\n"
      "       .                       |                             |\n"
      "  next lap: passes <-----------+                        ++state\n");
}

/// The last word: how many elements are not what they should be.
inline void print_verdict(long errors) {
  std::printf("%s (%ld errors)\n", errors == 0 ? "PASS" : "FAIL", errors);
}

}  // namespace example
