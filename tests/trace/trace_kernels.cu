// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels that record themselves, on a GPU or on the engine: what they recorded must be what the protocol
// demands, and what had no room must be counted.
#include <cuda_runtime.h>

#include <cstdio>
#include <functional>
#include <vector>

#include "protocol.hpp"
#include "record_kernel.hpp"
#include "sluice/arch/cp_async_bulk.hpp"
#include "sluice/pipeline.hpp"
#include "sluice/trace.hpp"

namespace trace_tests {
namespace {

using sluice::trace::Decoded;
using sluice::trace::EventKind;
using sluice::trace::Extent;
using sluice::trace::Recorder;

constexpr int kTileInts = 256;
constexpr uint32_t kTileBytes = kTileInts * sizeof(int);
constexpr uint64_t kBetweenCtas = 2000;  // the timer of an older driver steps a microsecond at a time

// --- layer 1

template <int kStages, int kCtas>
__global__ void layer1(const int* in, int tiles, sluice::trace::Buffer buffer) {
  using Pipeline = sluice::PipelineTmaAsync<kStages, sluice::Traced>;
  __shared__ alignas(128) int tile[kStages][kTileInts];
  __shared__ typename Pipeline::SharedStorage storage;
  const bool is_producer = threadIdx.x >= 128;
  typename Pipeline::Params params;
  params.transaction_bytes = kTileBytes;
  params.role = is_producer ? Pipeline::ThreadCategory::Producer : Pipeline::ThreadCategory::Consumer;
  params.is_leader = threadIdx.x == 128;
  params.num_consumers = 128;
  Pipeline pipeline(storage, params, sluice::ClusterShape<kCtas, 1, 1>{});
  Recorder recorder(buffer);
  pipeline.record_in(recorder);
  sluice::pipeline_init_arrive_relaxed(kCtas);
  sluice::pipeline_init_wait(kCtas);
  if (is_producer) {
    if (threadIdx.x != 128) return;
    const auto role = recorder.role("producer");
    auto state = sluice::make_producer_start_state<Pipeline>();
    for (int i = 0; i < tiles; ++i, ++state) {
      // Half of the stages are asked for ahead.
      auto token = pipeline.producer_try_acquire(state, i % 2 == 0 && i < kStages);
      pipeline.producer_acquire(state, token);
      const uint32_t rank = kCtas == 1 ? 0 : sluice::ptx::cluster_ctarank();
      constexpr uint32_t kShare = kTileBytes / kCtas;
      auto* const to = reinterpret_cast<unsigned char*>(tile[state.index()]) + rank * kShare;
      const auto* const from = reinterpret_cast<const unsigned char*>(in) + rank * kShare;
      if constexpr (kCtas == 1) {
        sluice::ptx::cp_async_bulk(to, from, kShare, pipeline.producer_get_barrier(state));
      } else {
        sluice::ptx::cp_async_bulk_multicast(to, from, kShare, pipeline.producer_get_barrier(state),
                                             static_cast<uint16_t>((1 << kCtas) - 1));
      }
    }
    pipeline.producer_tail(state);
    return;
  }
  const auto role = recorder.role("consumer");
  typename Pipeline::PipelineState state;
  for (int i = 0; i < tiles; ++i, ++state) {
    const auto token = pipeline.consumer_try_wait(state);
    pipeline.consumer_wait(state, token);
    // In a cluster one thread signals each CTA for all of its warpgroup.
    if constexpr (kCtas > 1) sluice::NamedBarrier::sync(128, 0);
    pipeline.consumer_release(state);
  }
}

RingUse layer1_use(int tiles) {
  RingUse use;
  use.tiles = tiles;
  use.consumer_warps = 4;
  use.empty_arrivals = 128;
  use.bytes = kTileBytes;
  use.has_tail = true;
  return use;
}

std::string several_ctas(const int* in) {
  sluice::LaunchShape shape;
  shape.grid = dim3(3, 2);
  shape.cta = dim3(160);
  Extent extent;
  extent.first_cta = 2;
  extent.ctas = 3;
  extent.warps = 5;
  return record(
      layer1<3, 1>, shape, extent,
      [](const Decoded& trace) -> std::string {
        for (const auto& event : trace.events) {
          if (event.cta < 2 || event.cta > 4) return "an event of CTA " + std::to_string(event.cta);
        }
        if (count_events(trace, EventKind::Role, "producer") != 3) return "not three producers";
        if (count_events(trace, EventKind::Role, "consumer") != 12) return "not twelve consumers";
        return check_protocol(trace, layer1_use(10));
      },
      in, 10);
}

std::string last_ctas(const int* in) {
  sluice::LaunchShape shape;
  shape.grid = dim3(2);
  shape.cta = dim3(160);
  Extent extent;
  extent.first_cta = 1;
  extent.ctas = 7;
  extent.warps = 5;
  return record(
      layer1<3, 1>, shape, extent,
      [](const Decoded& trace) -> std::string {
        if (trace.recorded_ctas != 1) return "more CTAs than there are";
        return check_protocol(trace, layer1_use(4));
      },
      in, 4);
}

template <int kCtas>
std::string cluster(const int* in) {
  sluice::LaunchShape shape;
  shape.grid = dim3(2 * kCtas);
  shape.cta = dim3(160);
  shape.cluster = dim3(kCtas);
  Extent extent;
  extent.first_cta = kCtas;
  extent.ctas = kCtas;
  extent.warps = 5;
  return record(
      layer1<2, kCtas>, shape, extent,
      [](const Decoded& trace) {
        RingUse use = layer1_use(7);
        use.empty_arrivals = kCtas;
        use.slack = kBetweenCtas;
        return check_protocol(trace, use);
      },
      in, 7);
}

std::string full_buffer(const int* in) {
  sluice::LaunchShape shape;
  shape.cta = dim3(160);
  Extent extent;
  extent.warps = 5;
  extent.records = 6;  // the ring, the role, what the trips are, and six of them
  return record(
      layer1<3, 1>, shape, extent,
      [](const Decoded& trace) -> std::string {
        if (trace.left_out < 5 * 10) return "too little is said to be left out";
        if (trace.events.empty() || trace.events.size() > 5 * (1 + 2 * 6)) return "not what had room";
        for (const auto& event : trace.events) {
          if (event.kind == EventKind::Wait && !event.has_end) return "a wait without an end";
          if (event.phase > 2) return "not the first records";
        }
        return "";
      },
      in, 30);
}

std::string too_few_slices(const int* in) {
  sluice::LaunchShape shape;
  shape.cta = dim3(160);
  Extent extent;
  extent.warps = 1;
  extent.lanes_of_warp = 2;
  return record(
      layer1<3, 1>, shape, extent,
      [](const Decoded& trace) -> std::string {
        std::vector<bool> warps(5);
        for (const auto& event : trace.events) warps[event.warp] = true;
        if (std::count(warps.begin(), warps.end(), true) != 2) return "not two warps";
        return trace.left_out > 0 ? "" : "nothing is said to be left out";
      },
      in, 8);
}

std::string nothing_asked(const int* in) {
  sluice::LaunchShape shape;
  shape.cta = dim3(160);
  return ring_kernels::run_kernel(layer1<3, 1>, shape, in, 8, sluice::trace::Buffer{});
}

// --- layer 2

using Tile = sluice::Row<int, kTileInts>;

/// Some outputs of some steps each; the consumer keeps one stage longer.
using Persistent = sluice::Ring<sluice::Stage<Tile, Tile>, 3, sluice::CopyEngine<sluice::Warps<0>>,
                                sluice::Consumers<sluice::Warps<1, 2>>, sluice::Traced>;

__global__ void persistent(const int* in, int* out, int outputs, int steps, sluice::trace::Buffer buffer) {
  Recorder recorder(buffer);
  Persistent ring(sluice::shared_memory<Persistent::SharedStorage>(), recorder);
  if (auto producer = ring.producer()) {
    for (int output = 0; output < outputs; ++output) {
      for (auto slot : producer.fill(steps)) slot.load(sluice::from(in), sluice::from(in));
    }
  }
  if (auto consumer = ring.consumer()) {
    for (int output = 0; output < outputs; ++output) {
      recorder.mark("output");
      int sum = 0;
      for (auto [a, b] : consumer.take(steps, sluice::hold<1>)) sum += a[threadIdx.x] - b[threadIdx.x + 1];
      out[output * 64 + threadIdx.x - 32] = sum;
    }
  }
}

std::string persistent_tiles(const int* in, int* out) {
  sluice::LaunchShape shape;
  shape.cta = dim3(96);
  shape.shared_bytes = Persistent::kSharedBytes;
  Extent extent;
  extent.warps = 3;
  return record(
      persistent, shape, extent,
      [](const Decoded& trace) -> std::string {
        if (count_events(trace, EventKind::Mark, "output") != 2 * 4) return "not eight marks";
        if (count_events(trace, EventKind::Role) != 3) return "not three roles";
        RingUse use;
        use.tiles = 4 * 5;
        use.consumer_warps = 2;
        use.empty_arrivals = 64;
        use.bytes = 2 * kTileBytes;
        return check_protocol(trace, use);
      },
      in, out, 4, 5);
}

using Shared =
    sluice::Ring<sluice::Stage<sluice::Multicast<sluice::Row<int, 2 * kTileInts>, sluice::Along::X>>, 2,
                 sluice::CopyEngine<sluice::Warps<0>, sluice::ClusterShape<2>>,
                 sluice::Consumers<sluice::Warps<1, 3>>, sluice::Traced>;

__global__ void shared_tiles(const int* in, int tiles, sluice::trace::Buffer buffer) {
  Recorder recorder(buffer);
  Shared ring(sluice::shared_memory<Shared::SharedStorage>(), recorder);
  if (auto producer = ring.producer()) {
    for (auto slot : producer.fill(tiles)) slot.load(sluice::from(in));
  }
  if (auto consumer = ring.consumer()) {
    for ([[maybe_unused]] auto tile : consumer.take(tiles)) {
    }
  }
}

std::string multicast_ring(const int* in) {
  sluice::LaunchShape shape;
  shape.grid = dim3(2);
  shape.cluster = dim3(2);
  shape.cta = dim3(128);
  shape.shared_bytes = Shared::kSharedBytes;
  Extent extent;
  extent.ctas = 2;
  return record(
      shared_tiles, shape, extent,
      [](const Decoded& trace) {
        RingUse use;
        use.tiles = 5;
        use.consumer_warps = 3;
        use.empty_arrivals = Shared::kEmptyArrivals;
        use.bytes = 2 * kTileBytes;
        use.has_tail = true;
        use.slack = kBetweenCtas;
        return check_protocol(trace, use);
      },
      in, 5);
}

/// Threads store, two groups take turns, the copy engine stores what they make.
using Stored = sluice::Ring<sluice::Stage<Tile>, 2, sluice::Stores<sluice::Warps<0>>,
                            sluice::TakingTurns<sluice::Warps<1, 2>, 2>, sluice::Traced>;
using Out = sluice::StoreRing<sluice::Stage<Tile>, 2, sluice::Warps<0>, 0, sluice::Traced>;

struct TurnsStorage {
  Stored::SharedStorage stored;
  Out::SharedStorage out;
};

__global__ void take_turns(int* out, int items, sluice::trace::Buffer buffer) {
  Recorder recorder(buffer);
  auto& shared = sluice::shared_memory<TurnsStorage>();
  Out stores(shared.out);
  Stored ring(shared.stored, recorder);
  auto writer = stores.writer(recorder);
  if (auto producer = ring.producer()) {
    for (auto slot : producer.fill(2 * items)) {
      slot[static_cast<int>(threadIdx.x)] = slot.trip();
      auto copy = writer.acquire();
      for (int i = static_cast<int>(threadIdx.x); i < kTileInts; i += 32) copy[i] = slot.trip();
      copy.store(sluice::to(out + static_cast<int>(slot.trip()) * kTileInts));
    }
  }
  if (auto consumer = ring.consumer()) {
    for (int item = 0; item < items; ++item) {
      if (item % 2 != consumer.group()) {
        consumer.skip(2);
        continue;
      }
      for ([[maybe_unused]] auto tile : consumer.take(2)) {
      }
    }
  }
}

std::string turns_and_stores(int* out) {
  constexpr int kItems = 6;
  sluice::LaunchShape shape;
  shape.cta = dim3(96);
  shape.shared_bytes = sizeof(TurnsStorage);
  Extent extent;
  extent.warps = 3;
  return record(
      take_turns, shape, extent,
      [](const Decoded& trace) -> std::string {
        RingUse use;
        use.tiles = 2 * kItems;
        use.consumer_warps = 1;
        use.full_arrivals = 32;
        use.empty_arrivals = 32;
        if (std::string wrong = check_protocol(trace, use); !wrong.empty()) return wrong;
        // The turns: one wait and one arrival each, on barriers that belong to no stage.
        std::vector<int> waits, arrivals;
        for (const auto& event : trace.events) {
          if (event.ring >= 0 || event.barrier == 0) continue;
          (event.kind == EventKind::Wait ? waits : arrivals).push_back(event.phase);
        }
        std::sort(waits.begin(), waits.end());
        std::sort(arrivals.begin(), arrivals.end());
        if (waits != std::vector<int>{-1, 0, 0, 1, 1, 2}) return "wrong phases of the turns' waits";
        if (arrivals != std::vector<int>{0, 0, 1, 1, 2, 2}) return "wrong phases of the turns' ends";
        for (const auto& event : trace.events) {
          if (event.kind == EventKind::Copy && event.bytes != kTileBytes) return "a store of other bytes";
        }
        if (count_events(trace, EventKind::Copy) != 2 * kItems) return "not one store per stage";
        return expect_equal("waits for stores", count_events(trace, EventKind::StoreWait), 2 * kItems + 1);
      },
      out, kItems);
}

// --- without a pipeline

/// Lane 7 of warp 0 signals warp 1, which signals back; two-dimensional CTAs.
__global__ void by_hand(int rounds, sluice::trace::Buffer buffer) {
  __shared__ uint64_t barriers[2];
  uint64_t* const ping = &barriers[0];
  uint64_t* const pong = &barriers[1];
  const unsigned thread = threadIdx.x + blockDim.x * threadIdx.y;
  if (thread == 0) {
    sluice::ptx::mbarrier_init(ping, 1);
    sluice::ptx::mbarrier_init(pong, 32);
    sluice::ptx::fence_mbarrier_init();
  }
  Recorder recorder(buffer);
  __syncthreads();
  if (thread == 0) recorder.mark("lane 0");
  if (thread == 7) {
    recorder.name(ping, "ping");
    recorder.name(pong, "pong[32]");
    const auto role = recorder.role("signaller7");
    for (int i = 0; i < rounds; ++i) {
      recorder.arms(ping, i, 0);
      sluice::ptx::mbarrier_arrive(ping);
      recorder.wait_begins(pong, i);
      sluice::ptx::mbarrier_wait_parity(pong, i & 1);
      recorder.wait_ends(pong, i);
    }
  } else if (thread >= 32) {
    const auto role = recorder.role("answerer");
    for (int i = 0; i < rounds; ++i) {
      sluice::ptx::mbarrier_wait_parity(ping, i & 1);
      recorder.wait_passes(ping, i);
      recorder.arrives(pong, i);
      sluice::ptx::mbarrier_arrive(pong);
    }
  }
}

std::string barriers_by_hand() {
  constexpr int kRounds = 6;
  sluice::LaunchShape shape;
  shape.cta = dim3(16, 4);
  Extent extent;
  extent.warps = 2;
  extent.lanes_of_warp = 8;
  return record(
      by_hand, shape, extent,
      [](const Decoded& trace) -> std::string {
        if (trace.left_out != 0) return "something is left out";
        if (trace.names.size() != 2 || trace.names[0].second != "ping" || trace.names[1].second != "pong[32]")
          return "the barriers are not called ping and pong[32]";
        if (count_events(trace, EventKind::Mark, "lane 0") != 1) return "no mark of lane 0";
        if (count_events(trace, EventKind::Role, "signaller7") != 1) return "no role of lane 7";
        if (count_events(trace, EventKind::Role, "answerer") != 1) return "no role of warp 1";
        const uint32_t ping = trace.names[0].first;
        for (int phase = 0; phase < kRounds; ++phase) {
          uint64_t sent = 0, seen = 0, answered = 0, over = 0;
          uint32_t arrivals[2] = {0, 0};  // lanes that come apart on a GPU are recorded apart
          for (const auto& event : trace.events) {
            if (event.barrier == 0 || event.phase != phase) continue;
            if (event.warp == 0) (event.barrier == ping ? sent : over) = event.end;
            if (event.warp == 1) (event.barrier == ping ? seen : answered) = event.end;
            if (event.kind == EventKind::Arrive) arrivals[event.warp] += event.count;
          }
          if (arrivals[0] != 1 || arrivals[1] != 32) return "a wrong count of arrivals";
          if (sent == 0 || sent > seen || seen > answered || answered > over)
            return "round " + std::to_string(phase) + " is out of order";
        }
        return "";
      },
      kRounds);
}

/// A state that was started with a phase but without its count.
__global__ void state_without_count(sluice::trace::Buffer buffer) {
  using Pipeline = sluice::PipelineAsync<2, sluice::Traced>;
  __shared__ Pipeline::SharedStorage storage;
  Pipeline::Params params;
  params.role = Pipeline::ThreadCategory::ProducerConsumer;
  Pipeline pipeline(storage, params);
  Recorder recorder(buffer);
  pipeline.record_in(recorder);
  __syncthreads();
  const Pipeline::PipelineState start(0, 1, 2);
  pipeline.producer_acquire(start);
}

std::string wrong_state() {
  sluice::LaunchShape shape;
  shape.cta = dim3(32);
  const std::string said =
      record(state_without_count, shape, Extent{}, [](const Decoded&) { return "accepted"; });
  return said.find("start states with their count") != std::string::npos ? "" : "said: " + said;
}

std::string run_all() {
  int* in = nullptr;
  int* out = nullptr;
  if (cudaMalloc(&in, 4 * kTileBytes) != cudaSuccess || cudaMalloc(&out, 16 * kTileBytes) != cudaSuccess)
    return "no memory";
  cudaMemset(in, 0, 4 * kTileBytes);
  std::vector<Case> cases = {
      {"several_ctas", [&] { return several_ctas(in); }},
      {"last_ctas", [&] { return last_ctas(in); }},
      {"cluster_of_2", [&] { return cluster<2>(in); }},
      {"cluster_of_4", [&] { return cluster<4>(in); }},
      {"full_buffer", [&] { return full_buffer(in); }},
      {"too_few_slices", [&] { return too_few_slices(in); }},
      {"nothing_asked", [&] { return nothing_asked(in); }},
      {"persistent_tiles", [&] { return persistent_tiles(in, out); }},
      {"multicast_ring", [&] { return multicast_ring(in); }},
      {"turns_and_stores", [&] { return turns_and_stores(out); }},
      {"barriers_by_hand", barriers_by_hand},
      {"wrong_state", wrong_state},
  };
  add_trip_cases(cases);
  int failed = 0;
  for (const Case& test : cases) {
    const std::string wrong = test.run();
    std::printf("%-18s %s\n", test.name.c_str(), wrong.empty() ? "ok" : wrong.c_str());
    failed += !wrong.empty();
  }
  std::printf("%zu cases, %d failed\n", cases.size(), failed);
  return failed == 0 ? "" : "failed";
}

}  // namespace
}  // namespace trace_tests

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("skipped: no CUDA device");
    return 77;
  }
  return trace_tests::run_all().empty() ? 0 : 1;
}
