// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// async_pipeline: one CTA moves tiles from a matrix into shared memory through a ring of stages. Warp 0
// starts the copies, warps 1 to 3 verify each element. The kernel that teaches this is in layer1.cuh, and the
// same on typed rings in layer2.cuh; here are the command line, the data and the order of things. Exit
// status: 0 all elements right, 1 some wrong, 2 bad input, no GPU or a CUDA error.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "device.hpp"
#include "program.hpp"
#include "ring_report.hpp"
#include "sluice/host/launch.hpp"
#include "sluice/host/tensor_map.hpp"
#include "tile_data.hpp"
#include "traced.hpp"

namespace {

using namespace example;

constexpr const char* kProgram = "async_pipeline";

/// Longer than a tile takes otherwise.
constexpr int kIdleTurns = 4000;

/// What the command line asked for.
struct Options {
  int stages = 3;
  int tiles = 8;
  int ctas = 1;
  bool same_tile = false;
  bool typed = false;
  bool quiet = false;
  const char* slow = nullptr;
  const Mistake* mistake = nullptr;
  const char* trace = nullptr;
};

void print_help() {
  std::printf(
      "usage: async_pipeline [options]\n"
      "Moves tiles through a ring of stages with the tensor copy engine and verifies each element.\n\n"
      "  --stages N        stages of the ring, 1 to %d (3)\n"
      "  --tiles N         tiles to move, 0 to %d (8)\n"
      "  --cluster N       CTAs of the cluster, 1, 2 or 4, that share each tile by multicast (1)\n"
      "  --same-tile       load one tile of the matrix again and again\n"
      "  --typed           the kernel on layer 2, typed rings\n"
      "  --slow ROLE       producer or consumer: it idles at each tile, so that the other waits\n"
      "  --mistake NAME    a kernel with one mistake in it\n"
      "  --list-mistakes   their names and meanings\n"
      "  --trace FILE      record what the barriers do, for `sluice timeline FILE`\n"
      "  --quiet           print the verdict alone\n"
      "  --help            this text\n\n"
      "exit status: 0 all elements right, 1 some wrong, 2 bad input, no GPU or a CUDA error\n",
      kMaxStages, kMaxTiles);
}

void list_mistakes() {
  for (int i = 0; i < kMistakeCount; ++i) std::printf("%-20s %s\n", kMistakes[i].name, kMistakes[i].meaning);
}

const Mistake* find_mistake(const char* name) {
  for (int i = 0; i < kMistakeCount; ++i) {
    if (std::strcmp(kMistakes[i].name, name) == 0) return &kMistakes[i];
  }
  fail(kProgram, "unknown mistake '%s' (try --list-mistakes)", name);
}

/// A mistake is one kernel, built for one number of stages and CTAs.
void settle_mistake(Options* options, bool stages_given, bool cluster_given) {
  const Mistake& mistake = *options->mistake;
  if (options->trace != nullptr)
    fail(kProgram, "--trace records the right kernel and cannot be given with --mistake");
  if (options->typed)
    fail(kProgram, "--mistake edits the kernel on layer 1 and cannot be given with --typed");
  if (stages_given && options->stages != kMistakeStages) {
    fail(kProgram, "mistake '%s' is built for --stages %d", mistake.name, kMistakeStages);
  }
  if (cluster_given && options->ctas != mistake.ctas) {
    fail(kProgram, "mistake '%s' is built for --cluster %d", mistake.name, mistake.ctas);
  }
  options->ctas = mistake.ctas;
}

Options read_options(int argc, char** argv) {
  Options options;
  bool stages_given = false;
  bool cluster_given = false;
  const char* mistake = nullptr;
  CommandLine line(kProgram, argc, argv);
  while (line.next()) {
    if (line.flag("--help")) {
      print_help();
      std::exit(0);
    } else if (line.flag("--list-mistakes")) {
      list_mistakes();
      std::exit(0);
    } else if (line.number("--stages", 1, kMaxStages, &options.stages)) {
      stages_given = true;
    } else if (line.number("--tiles", 0, kMaxTiles, &options.tiles)) {
    } else if (line.number("--cluster", 1, 4, &options.ctas)) {
      if (options.ctas == 3) fail(kProgram, "--cluster must be 1, 2 or 4, not '3'");
      cluster_given = true;
    } else if (line.text("--mistake", &mistake)) {
      options.mistake = find_mistake(mistake);
    } else if (line.text("--slow", &options.slow)) {
      if (std::strcmp(options.slow, "producer") != 0 && std::strcmp(options.slow, "consumer") != 0)
        fail(kProgram, "--slow must be producer or consumer, not '%s'", options.slow);
    } else if (line.text("--trace", &options.trace)) {
    } else if (line.flag("--same-tile")) {
      options.same_tile = true;
    } else if (line.flag("--typed")) {
      options.typed = true;
    } else if (line.flag("--quiet")) {
      options.quiet = true;
    } else {
      line.reject();
    }
  }
  if (options.mistake != nullptr) settle_mistake(&options, stages_given, cluster_given);
  return options;
}

Program choose(const Options& options) {
  if (options.mistake != nullptr) return options.mistake->program;
  if (options.typed) return layer2_program(options.stages, options.ctas);
  if (options.ctas == 2) return layer1_cluster2_program(options.stages);
  return options.ctas == 4 ? layer1_cluster4_program(options.stages) : layer1_program(options.stages);
}

/// Describe the matrix to the copy engine: boxes of `rows` rows of one tile, put down with the 128-byte
/// swizzle.
CUtensorMap make_tile_map(HalfBits* matrix, int places, int rows) {
  const auto columns = static_cast<std::uint64_t>(places) * kTileCols;
  const auto map = sluice::tensor_map(matrix)
                       .element(CU_TENSOR_MAP_DATA_TYPE_FLOAT16)
                       .shape({columns, kTileRows})
                       .box({kTileCols, static_cast<std::uint32_t>(rows)})
                       .swizzle(sluice::Swizzle::B128)
                       .encode();
  if (!map) fail(kProgram, "tensor map: %s", map.message());
  return *map;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  require_device(kProgram, 9, false);
  const Program program = choose(options);
  const Scene scene{kProgram,
                    options.typed ? "layer 2, a typed ring" : "layer 1, PipelineTmaAsync",
                    options.mistake != nullptr ? options.mistake->name : nullptr,
                    options.stages,
                    options.tiles,
                    options.ctas,
                    options.same_tile,
                    program.empty_arrivals};
  if (!options.quiet) print_configuration(scene, program.shared);
  if (!options.quiet && options.mistake != nullptr) {
    std::printf("Mistake: %s\n%s\n", options.mistake->meaning, options.mistake->edit);
  }
  std::fflush(stdout);

  // Lay out the matrix and one set of records per CTA.
  const int places = options.same_tile || options.tiles == 0 ? 1 : options.tiles;
  const DeviceArray<HalfBits> matrix(kProgram, make_matrix(places));
  const std::size_t record_count = static_cast<std::size_t>(options.ctas) * (options.tiles + 1);
  const DeviceArray<TileRecord> records(kProgram, record_count);

  // Run the kernel.
  const CUtensorMap map = make_tile_map(matrix.data(), places, kTileRows / options.ctas);
  TileJob job{options.tiles, options.same_tile, records.data()};
  if (options.slow != nullptr) (*options.slow == 'p' ? job.producer_idles : job.consumer_idles) = kIdleTurns;
  sluice::LaunchShape shape;
  shape.grid = dim3(options.ctas);
  shape.cluster = dim3(options.ctas);
  shape.cta = dim3(kThreads);
  shape.shared_bytes = program.shared.total;
  if (options.trace != nullptr) {
    run_traced(
        {kProgram, options.typed, options.stages, options.tiles, options.ctas, options.trace, argc, argv},
        map, job);
  } else {
    const sluice::LaunchError error = sluice::launch(program.kernel, shape, map, job);
    if (error) fail(kProgram, "launch: %s", error.text);
  }
  check(kProgram, cudaDeviceSynchronize(), "kernel");

  // Tell what it did.
  const std::vector<TileRecord> seen = records.read();
  const long errors = count_errors(seen, options.tiles, options.ctas);
  if (!options.quiet) {
    print_transitions(seen.data(), options.tiles);
    if (options.mistake == nullptr) {
      print_start_states(seen.data());
      print_first_tiles(scene, seen.data());
    }
  }
  print_verdict(errors);
  if (!options.quiet && options.mistake == nullptr) {
    std::printf("\n");
    print_flow();
  }
  return errors == 0 ? 0 : 1;
}
