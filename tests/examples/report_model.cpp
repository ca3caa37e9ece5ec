// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What the pipeline examples must print, computed without a GPU and without the library: stage and phase of a
// state after n steps are n % stages and n / stages % 2 (plus 1 for the producer), and each element is right.
// The expected outputs in expected/ come from here, and a run on a GPU or on the CPU engine must reproduce
// them.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "cp_async_report.hpp"
#include "ring_report.hpp"

int main(int argc, char** argv) {
  using namespace example;
  if (argc != 7) {
    std::fprintf(stderr,
                 "usage: report_model PROGRAM layer1|layer2|cute|cp_async STAGES TILES CTAS SAME_TILE\n");
    return 2;
  }
  const bool is_layer2 = std::strcmp(argv[2], "layer2") == 0;
  const char* library = is_layer2 ? "layer 2, a typed ring"
                        : std::strcmp(argv[2], "cute") == 0
                            ? "CuTe, and PipelineTmaAsync under CUTLASS's name"
                            : "layer 1, PipelineTmaAsync";
  const int stages = std::atoi(argv[3]);
  const int tiles = std::atoi(argv[4]);
  const int ctas = std::atoi(argv[5]);

  if (std::strcmp(argv[2], "cp_async") == 0) {
    const CpAsyncScene scene{stages, tiles, std::atoi(argv[6]) != 0};
    print_cp_async_configuration(scene);
    print_cp_async_tiles(scene);
    std::printf("PASS (0 errors)\n");
    return 0;
  }

  // In a cluster, layer 1 releases once per CTA, layer 2 once per consumer warp and CTA.
  const int empty_arrivals = ctas == 1 ? 96 : is_layer2 ? 3 * ctas : ctas;
  const Scene scene{argv[1], library, nullptr, stages, tiles, ctas, std::atoi(argv[6]) != 0, empty_arrivals};
  const int tile_bytes = stages * 128 * 64 * 2;
  const int barrier_bytes = stages * 2 * 8;
  print_configuration(scene, {(tile_bytes + barrier_bytes + 127) / 128 * 128, tile_bytes, barrier_bytes});

  std::vector<TileRecord> records(tiles + 1);
  for (int n = 0; n <= tiles; ++n) {
    records[n] = {{n % stages, 1 - n / stages % 2, n}, {n % stages, n / stages % 2, n}, 128 * 64, 0};
  }
  print_transitions(records.data(), tiles);
  print_start_states(records.data());
  print_first_tiles(scene, records.data());
  print_verdict(0);
  if (std::strcmp(argv[1], "async_pipeline") == 0) {
    std::printf("\n");
    print_flow();
  }
}
