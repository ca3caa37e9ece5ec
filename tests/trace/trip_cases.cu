// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Warps whose waits and arrivals are trips through a ring like each other, and warps whose are not: other
// stages in between, another lane that hands on, times that a trip cannot tell. What was recorded must be the
// same as if each had been written alone.
#include "protocol.hpp"
#include "record_kernel.hpp"
#include "sluice/pipeline.hpp"

namespace trace_tests {
namespace {

using sluice::trace::Decoded;
using sluice::trace::EventKind;
using sluice::trace::Extent;

constexpr int kTiles = 11;

/// How the consumer, warp 1, goes through the two rings that warp 0 fills.
enum class Way {
  InTurn,     ///< one stage of each in turn
  Crossed,    ///< waits for one of each before it hands on one of each
  OneBehind,  ///< hands a stage on when it has waited for the next
  OneLane,    ///< lane 5 hands on for all
  HalfWarps,  ///< the two halves of the warp hand on one after the other
  LongHold,   ///< keeps a stage for longer than a trip can tell
  StateAnew,  ///< with a state made anew for each stage
  LapsApart,  ///< lane 0 is a stage ahead of the others, with whom it acts at the same time
};

using Pipeline = sluice::PipelineAsync<3, sluice::Traced>;
using State = Pipeline::PipelineState;

__device__ void spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

__device__ Pipeline::Params params_of(Way way) {
  Pipeline::Params params;
  params.role = threadIdx.x < 32 ? Pipeline::ThreadCategory::Producer : Pipeline::ThreadCategory::Consumer;
  params.producer_arv_count = 32;
  params.consumer_arv_count = way == Way::OneLane ? 1 : 32;
  return params;
}

__device__ void produce(Pipeline& first, Pipeline& second) {
  auto state = sluice::make_producer_start_state<Pipeline>();
  for (int i = 0; i < kTiles; ++i, ++state) {
    first.producer_acquire(state);
    first.producer_commit(state);
    second.producer_acquire(state);
    second.producer_commit(state);
  }
}

__device__ void consume_apart(Pipeline& pipeline, const State& state, Way way) {
  pipeline.consumer_wait(state);
  if (way == Way::LongHold && state.count() % 4 == 3) spin(1 << 20);
  __syncwarp();
  if (way == Way::OneLane) {
    if (threadIdx.x % 32 == 5) pipeline.consumer_release(state);
  } else if (way == Way::HalfWarps) {
    for (unsigned half = 0; half < 2; ++half) {
      if (threadIdx.x / 16 % 2 == half) pipeline.consumer_release(state);
      __syncwarp();
    }
  } else {
    pipeline.consumer_release(state);
  }
  __syncwarp();
}

__device__ void consume(Pipeline& first, Pipeline& second, Way way) {
  State state;
  for (int i = 0; i < kTiles; ++i) {
    if (way == Way::StateAnew)
      state = State(i % 3, static_cast<uint32_t>(i / 3 % 2), static_cast<uint32_t>(i));
    if (way == Way::Crossed) {
      first.consumer_wait(state);
      second.consumer_wait(state);
      first.consumer_release(state);
      second.consumer_release(state);
    } else if (way == Way::OneBehind) {
      first.consumer_wait(state);
      if (i > 0) {
        State before(static_cast<int>((state.count() - 1) % 3), (state.count() - 1) / 3 % 2,
                     state.count() - 1);
        first.consumer_release(before);
      }
      if (i == kTiles - 1) first.consumer_release(state);
      consume_apart(second, state, way);
    } else {
      consume_apart(first, state, way);
      consume_apart(second, state, way);
    }
    ++state;
  }
}

__device__ void consume_in_laps(Pipeline& first, Pipeline& second) {
  State state;
  const auto step = [&] {
    first.consumer_wait(state);
    first.consumer_release(state);
    second.consumer_wait(state);
    second.consumer_release(state);
    ++state;
  };
  if (threadIdx.x % 32 == 0) step();
#pragma unroll 1
  for (int i = 0; i < kTiles; ++i) {
    __syncwarp();
    if (state.count() < kTiles) step();
  }
}

__global__ void two_rings(Way way, sluice::trace::Buffer buffer) {
  __shared__ Pipeline::SharedStorage storage[2];
  Pipeline first(storage[0], params_of(way));
  Pipeline second(storage[1], params_of(way));
  sluice::trace::Recorder recorder(buffer);
  first.record_in(recorder);
  second.record_in(recorder);
  __syncthreads();
  if (threadIdx.x < 32) {
    produce(first, second);
  } else if (way == Way::LapsApart) {
    consume_in_laps(first, second);
  } else {
    consume(first, second, way);
  }
}

std::string run(Way way) {
  sluice::LaunchShape shape;
  shape.cta = dim3(64);
  Extent extent;
  extent.warps = 2;
  extent.lanes_of_warp = 8;
  return record(
      two_rings, shape, extent,
      [way](const Decoded& trace) -> std::string {
        if (trace.rings.size() != 2) return "not two rings";
        for (int ring = 0; ring < 2; ++ring) {
          RingUse use;
          use.ring = ring;
          use.tiles = kTiles;
          use.consumer_warps = 1;
          use.full_arrivals = 32;
          // Lanes come apart where they do different things, and in waits of many try_waits.
          use.may_split =
              way == Way::OneLane || way == Way::HalfWarps || way == Way::LongHold || way == Way::LapsApart;
          use.empty_arrivals = way == Way::OneLane ? 1 : 32;
          if (std::string wrong = check_protocol(trace, use); !wrong.empty())
            return "ring " + std::to_string(ring) + ": " + wrong;
        }
        return "";
      },
      way);
}

}  // namespace

void add_trip_cases(std::vector<Case>& cases) {
  cases.push_back({"rings_in_turn", [] { return run(Way::InTurn); }});
  cases.push_back({"rings_crossed", [] { return run(Way::Crossed); }});
  cases.push_back({"one_behind", [] { return run(Way::OneBehind); }});
  cases.push_back({"one_lane", [] { return run(Way::OneLane); }});
  cases.push_back({"half_warps", [] { return run(Way::HalfWarps); }});
  cases.push_back({"long_hold", [] { return run(Way::LongHold); }});
  cases.push_back({"laps_apart", [] { return run(Way::LapsApart); }});
  cases.push_back({"state_anew", [] { return run(Way::StateAnew); }});
}

}  // namespace trace_tests
