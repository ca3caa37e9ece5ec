// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The mode that records: what it costs, and a file of what happened.
#include "tracing.hpp"

#include "measure.hpp"
#include "sluice/trace/recording.hpp"

namespace stream {
namespace {

constexpr std::uint32_t kFileCtas = 2;
constexpr std::uint32_t kRingWarps = kConsumerWarps + 1;

struct TracedPeer {
  const char* name;
  const char* traced_name;
  cudaError_t (*launch)(const Job& job, int ctas, Shape shape);
  cudaError_t (*launch_traced)(const TracedJob& job, int ctas, Shape shape);
};

constexpr TracedPeer kTracedPeers[] = {
    {"layer1", "layer1-traced", launch_layer1_ring, launch_traced_layer1_ring},
    {"layer2", "layer2-traced", launch_layer2_ring, launch_traced_layer2_ring},
};

std::vector<TracedPeer> chosen(const std::string& name) {
  std::vector<TracedPeer> peers;
  for (const TracedPeer& peer : kTracedPeers) {
    if (name == "all" || name == peer.name) peers.push_back(peer);
  }
  return peers;
}

void check_recording(const sluice::trace::RecordingError& error) {
  if (error) example::fail(kProgram, "%s", error.text);
}

/// Each ring against its traced twin.
int measure(const TracingPlan& plan, const Data& data) {
  // A producer makes the most records: it waits with two, arms with one, and all waits again at its end.
  sluice::trace::Extent extent;
  extent.ctas = static_cast<std::uint32_t>(plan.ctas);
  extent.warps = kRingWarps;
  extent.lanes_of_warp = 2;
  extent.records = static_cast<std::uint32_t>(plan.tiles / plan.ctas + 1) * 3 + 64;
  sluice::trace::Recording recording;
  check_recording(recording.allocate(extent));

  std::vector<Contestant> contestants;
  for (const TracedPeer& peer : chosen(plan.peer)) {
    contestants.push_back({peer.name, plan.ctas, [&plan, peer](const Job& job, int ctas) {
                             return peer.launch(job, ctas, plan.shape);
                           }});
    contestants.push_back({peer.traced_name, plan.ctas,
                           [&plan, &recording, peer](const Job& job, int ctas) {
                             return peer.launch_traced({job, recording.buffer()}, ctas, plan.shape);
                           },
                           [&recording] { check_recording(recording.clear()); }});
  }
  take_turns(contestants, data, static_cast<std::uint32_t>(plan.tiles), static_cast<std::size_t>(plan.ctas),
             plan.rounds);
  const std::uint64_t bytes = plan.tiles * static_cast<std::uint64_t>(plan.shape.tile_kib) * kBytesPerKib;
  const int wrong = print_rates(contestants, bytes);
  for (std::size_t i = 0; i < contestants.size(); i += 2) {
    std::printf("recording costs %s %.2f %% of its time\n", contestants[i].name,
                100 * (contestants[i + 1].median() / contestants[i].median() - 1));
  }
  std::uint64_t made = 0;
  std::uint64_t kept = 0;
  check_recording(recording.count(&made, &kept));
  std::printf("a launch makes %llu records, %llu of them had room\n", static_cast<unsigned long long>(made),
              static_cast<unsigned long long>(kept));
  return wrong;
}

/// One launch of each traced ring, for the file.
int record(const TracingPlan& plan, const Data& data) {
  sluice::trace::Extent extent;
  extent.ctas = kFileCtas;
  extent.warps = kRingWarps;
  extent.records = static_cast<std::uint32_t>(plan.records);
  sluice::trace::Recording recording;
  check_recording(recording.allocate(extent));
  const example::DeviceArray<Sum> sums(kProgram, static_cast<std::size_t>(plan.ctas));
  int wrong = 0;
  for (const TracedPeer& peer : chosen(plan.peer)) {
    const Job job{data.pieces(), static_cast<std::uint32_t>(plan.tiles), sums.data()};
    check(peer.launch_traced({job, recording.buffer()}, plan.ctas, plan.shape), peer.traced_name);
    sluice::trace::Launched launched;
    launched.kernel = std::string("stream ") + peer.name;
    launched.grid[0] = static_cast<std::uint32_t>(plan.ctas);
    launched.cta[0] = 32 * kRingWarps;
    check_recording(recording.read(launched));
    Sum total = 0;
    for (const Sum sum : sums.read()) total += sum;
    wrong += total != data.sum();
  }
  check_recording(recording.write(plan.file, plan.command));
  return wrong;
}

}  // namespace

void require_traced(const std::string& peer) {
  if (!chosen(peer).empty()) return;
  example::fail(kProgram, "--trace records layer1, layer2 or all, not '%s'", peer.c_str());
}

int run_tracing(const TracingPlan& plan) {
  const Data data(plan.tiles * static_cast<std::uint64_t>(plan.shape.tile_kib) * kBytesPerKib);
  int wrong = plan.rounds > 0 ? measure(plan, data) : 0;
  wrong += record(plan, data);
  std::printf("%s (%d errors)\n", wrong == 0 ? "PASS" : "FAIL", wrong);
  return wrong;
}

}  // namespace stream
