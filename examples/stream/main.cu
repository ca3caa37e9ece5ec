// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads gigabytes from global memory and adds them up, in several ways side by side, and prints how many GB/s
// each reaches. The ways take turns within one run (A B C A B C ...), so that clocks and temperature are the
// same for all; the figure is the median. Every launch's sum is checked. See --help.
#include <cstdio>
#include <string>
#include <vector>

#include "../support/command_line.hpp"
#include "data.hpp"
#include "measure.hpp"
#include "tracing.hpp"

namespace stream {
namespace {

// The job of --check.
constexpr std::uint32_t kCheckTiles = 50;
constexpr int kCheckCtas = 4;

const Peer kPeers[] = {
    {"plain", "plain loads of 16 bytes, eight CTAs per SM", launch_plain_loads},
    {"cp-async", "cp.async ring, each thread adds what it copied", launch_cp_async_ring},
    {"layer1", "bulk copies through sluice's PipelineTmaAsync", launch_layer1_ring},
    {"layer2", "bulk copies through sluice's typed ring", launch_layer2_ring},
#ifdef STREAM_HAS_CUTLASS
    {"cutlass", "bulk copies through CUTLASS's PipelineTmaAsync", launch_cutlass_ring},
#endif
};

struct Options {
  int gib = 8;
  Shape shape = {6, 32};
  bool shape_given = false;
  int ctas_per_sm = 1;
  int reps = 100;
  std::string peer = "all";
  bool check = false;
  const char* trace = nullptr;
  int records = 1024;
};

void print_help() {
  std::printf(
      "usage: stream [options]\n\n"
      "Reads global memory and adds it up, in several ways, and prints the rate of each.\n\n"
      "  --gib N           how much is read, 1 to 64 GiB (default 8)\n"
      "  --stages S        tiles of a ring in shared memory: 2, 3, 4, 6, 8 or 12 (default 6)\n"
      "  --tile-kib K      size of a tile: 8, 16 or 32 KiB (default 32)\n"
      "  --ctas-per-sm C   CTAs of a ring per SM, 1 to 8 (default 1)\n"
      "  --reps R          measured rounds, 1 to 1000 (default 100)\n"
      "  --peer NAME       one way alone, or 'all' (default)\n"
      "  --check           a small job of 50 tiles on 4 CTAs, its sums printed and compared with the host's; "
      "the\n"
      "                    output is the same on every machine (default shape: 3 stages of 8 KiB)\n"
      "  --trace FILE      record the rings layer1 and layer2 for `sluice timeline FILE`, and say what "
      "recording\n"
      "                    costs (with --check: only record); the file has two CTAs\n"
      "  --records N       room for N records of a warp in that file, 1 to 1000000 (default 1024)\n"
      "  --help            this text\n\n"
      "Ways:\n");
  for (const Peer& peer : kPeers) std::printf("  %-9s %s\n", peer.name, peer.what);
#ifndef STREAM_HAS_CUTLASS
  std::printf("  (cutlass  is not in this build: CUTLASS's headers were not found)\n");
#endif
  std::printf("\nExit status: 0, 1 for a wrong sum, 2 for bad input, no Hopper GPU or a CUDA error.\n");
}

template <std::size_t Count>
void require_choice(const char* option, int value, const int (&choices)[Count]) {
  std::string list;
  for (const int choice : choices) {
    if (value == choice) return;
    list += (list.empty() ? "" : ", ") + std::to_string(choice);
  }
  example::fail(kProgram, "%s must be one of %s, not %d", option, list.c_str(), value);
}

Options parse(int argc, char** argv) {
  Options options;
  const char* peer = nullptr;
  example::CommandLine line(kProgram, argc, argv);
  while (line.next()) {
    if (line.flag("--help")) {
      print_help();
      std::exit(0);
    } else if (line.flag("--check")) {
      options.check = true;
    } else if (line.number("--stages", 1, 1000, &options.shape.stages) ||
               line.number("--tile-kib", 1, 1000, &options.shape.tile_kib)) {
      options.shape_given = true;
    } else if (line.text("--trace", &options.trace) ||
               line.number("--records", 1, 1000000, &options.records)) {
    } else if (line.text("--peer", &peer)) {
      options.peer = peer;
    } else if (!line.number("--gib", 1, 64, &options.gib) && !line.number("--reps", 1, 1000, &options.reps) &&
               !line.number("--ctas-per-sm", 1, 8, &options.ctas_per_sm)) {
      line.reject();
    }
  }
  if (options.check && !options.shape_given) options.shape = {3, 8};
  require_choice("--stages", options.shape.stages, kStageChoices);
  require_choice("--tile-kib", options.shape.tile_kib, kTileKibChoices);
  return options;
}

std::vector<Peer> chosen_peers(const std::string& name) {
  std::vector<Peer> chosen;
  std::string names;
  for (const Peer& peer : kPeers) {
    if (name == "all" || name == peer.name) chosen.push_back(peer);
    names += std::string(peer.name) + ", ";
  }
  if (chosen.empty())
    example::fail(kProgram, "--peer must be one of %sall, not '%s'", names.c_str(), name.c_str());
  return chosen;
}

// An SM of an H200 has 228 KiB of shared memory; each CTA costs 1 KiB beside what it asks for.
void require_shared_memory(const Options& options) {
  const std::size_t per_cta = ring_shared_bytes(options.shape) + kBytesPerKib;
  const std::size_t available = 228 * kBytesPerKib;
  if (per_cta * options.ctas_per_sm <= available) return;
  example::fail(kProgram,
                "%d stages of %d KiB in %d CTA%s per SM need %zu bytes of shared memory per SM, "
                "which has %zu: use fewer stages, smaller tiles or fewer CTAs",
                options.shape.stages, options.shape.tile_kib, options.ctas_per_sm,
                options.ctas_per_sm == 1 ? "" : "s", per_cta * options.ctas_per_sm, available);
}

/// The check mode: the sum of each CTA, from the host and from each peer.
int run_check(const Options& options) {
  constexpr std::uint32_t kTiles = kCheckTiles;
  constexpr int kCtas = kCheckCtas;
  const std::uint64_t tile_bytes = static_cast<std::uint64_t>(options.shape.tile_kib) * kBytesPerKib;
  const std::uint64_t tile_numbers = tile_bytes / sizeof(int);

  std::vector<Sum> expected(kCtas, 0);
  Sum total = 0;
  for (std::uint64_t place = 0; place < kTiles * tile_numbers; ++place) {
    const int number = normal_number(place);
    expected[place / tile_numbers % kCtas] += number;
    total += number;
  }
  std::printf("stream --check: %u tiles of %d KiB, %d stages, %d CTAs\n", kTiles, options.shape.tile_kib,
              options.shape.stages, kCtas);
  for (int cta = 0; cta < kCtas; ++cta) std::printf("cta %d   sum %lld\n", cta, expected[cta]);
  std::printf("total   sum %lld\n", total);

  const Data data(kTiles * tile_bytes);
  int errors = data.sum() != total;
  std::printf("%-9s %s\n", "data", errors == 0 ? "sum equal" : "WRONG SUM");
  for (const Peer& peer : chosen_peers(options.peer)) {
    const example::DeviceArray<Sum> sums(kProgram, kCtas);
    check(peer.launch({data.pieces(), kTiles, sums.data()}, kCtas, options.shape), peer.name);
    check(cudaDeviceSynchronize(), peer.name);
    const std::vector<Sum> seen = sums.read();
    std::printf("%-9s", peer.name);
    for (int cta = 0; cta < kCtas; ++cta) {
      if (seen[cta] == expected[cta]) continue;
      ++errors;
      std::printf(" cta %d WRONG SUM %lld", cta, seen[cta]);
    }
    std::printf("%s\n", seen == expected ? " sums equal" : "");
  }
  std::printf("%s (%d errors)\n", errors == 0 ? "PASS" : "FAIL", errors);
  return errors == 0 ? 0 : 1;
}

int sm_count() {
  int sms = 0;
  check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), "device attributes");
  return sms;
}

std::uint64_t tiles_of(const Options& options) {
  return options.gib * kBytesPerGib / (options.shape.tile_kib * kBytesPerKib);
}

/// The measuring mode.
int run_measure(const Options& options) {
  const int sms = sm_count();
  const std::uint64_t bytes = options.gib * kBytesPerGib;
  const Data data(bytes);

  std::vector<Contestant> contestants;
  for (const Peer& peer : chosen_peers(options.peer)) {
    const bool is_ring = peer.launch != launch_plain_loads;
    contestants.push_back(
        {peer.name, sms * (is_ring ? options.ctas_per_sm : 8),
         [&options, peer](const Job& job, int ctas) { return peer.launch(job, ctas, options.shape); }});
  }
  take_turns(contestants, data, static_cast<std::uint32_t>(tiles_of(options)),
             static_cast<std::size_t>(sms) * 8, options.reps);

  std::printf("%d GiB, tiles of %d KiB, rings of %d stages, %d x %d CTAs, %d rounds\n", options.gib,
              options.shape.tile_kib, options.shape.stages, sms, options.ctas_per_sm, options.reps);
  const int wrong = print_rates(contestants, bytes);
  std::printf("%s (%d errors)\n", wrong == 0 ? "PASS" : "FAIL", wrong);
  return wrong == 0 ? 0 : 1;
}

/// The mode that records, on the job of either mode.
int run_trace(const Options& options, const std::vector<std::string>& command) {
  TracingPlan plan{options.trace, options.peer, options.records, command, options.shape, 0, 0, 0};
  plan.ctas = options.check ? kCheckCtas : sm_count() * options.ctas_per_sm;
  plan.tiles = options.check ? kCheckTiles : tiles_of(options);
  plan.rounds = options.check ? 0 : options.reps;
  return run_tracing(plan) == 0 ? 0 : 1;
}

}  // namespace
}  // namespace stream

int main(int argc, char** argv) {
  const stream::Options options = stream::parse(argc, argv);
  stream::chosen_peers(options.peer);
  if (options.trace != nullptr) stream::require_traced(options.peer);
  stream::require_shared_memory(options);
  example::require_device(stream::kProgram, 9, false);
  if (options.trace != nullptr) return stream::run_trace(options, {argv, argv + argc});
  return options.check ? stream::run_check(options) : stream::run_measure(options);
}
