// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What the protocol of a ring demands of a trace, whoever was when where: each use of a stage is armed or
// committed, seen full by every consumer warp, and released; and nobody goes on before the others have let
// him.
#pragma once

#include <algorithm>
#include <string>

#include "sluice/trace/decode.hpp"

namespace trace_tests {

/// A ring as the kernel uses it, in each recorded CTA.
struct RingUse {
  int ring = 0;   ///< its number in the trace
  int tiles = 0;  ///< how many stages are filled
  uint32_t consumer_warps = 0;
  uint32_t producer_warps = 1;
  uint32_t full_arrivals = 1;  ///< that complete a phase
  uint32_t empty_arrivals = 0;
  uint64_t bytes = 0;      ///< announced for each stage
  bool has_tail = false;   ///< the producer waits for the last stages too
  bool may_split = false;  ///< lanes of a warp may act apart, each part telling of its wait
  uint64_t slack = 0;      ///< nanoseconds by which the clocks of two CTAs may differ
};

/// All that happened to one phase of one barrier.
struct PhaseSummary {
  uint32_t waits = 0, arrivals = 0;
  uint64_t bytes = 0;
  uint64_t first_end = UINT64_MAX;  ///< of the waits
  uint64_t last_arrival = 0;
};

inline PhaseSummary summarize(const sluice::trace::Decoded& trace, int ring, uint32_t cta, uint32_t stage,
                              bool is_empty, int32_t phase) {
  using sluice::trace::EventKind;
  PhaseSummary summary;
  for (const auto& event : trace.events) {
    if (event.ring != ring || event.of != cta || event.stage != stage || event.is_empty != is_empty ||
        event.phase != phase)
      continue;
    if (event.kind == EventKind::Wait && event.has_end) {
      ++summary.waits;
      summary.first_end = std::min(summary.first_end, event.end);
    } else if (event.kind == EventKind::Arrive) {
      summary.arrivals += event.count;
      summary.bytes += event.bytes;
      summary.last_arrival = std::max(summary.last_arrival, event.t);
    }
  }
  return summary;
}

inline std::string expect_equal(const char* what, uint64_t seen, uint64_t expected) {
  if (seen == expected) return "";
  return std::string(what) + ": " + std::to_string(seen) + " instead of " + std::to_string(expected);
}

/// Joins what went wrong with where; empty stays empty.
inline std::string at(const std::string& wrong, uint32_t cta, int tile) {
  if (wrong.empty()) return "";
  return "CTA " + std::to_string(cta) + ", tile " + std::to_string(tile) + ": " + wrong;
}

/// One use of one stage.
inline std::string check_tile(const sluice::trace::Decoded& trace, const RingUse& use, uint32_t cta,
                              int tile) {
  const auto stages = static_cast<int>(trace.rings[static_cast<std::size_t>(use.ring)].stages);
  const auto stage = static_cast<uint32_t>(tile % stages);
  const int32_t phase = tile / stages;
  const bool is_acquired_again = tile + stages < use.tiles || use.has_tail;
  const PhaseSummary full = summarize(trace, use.ring, cta, stage, false, phase);
  const PhaseSummary empty = summarize(trace, use.ring, cta, stage, true, phase);
  const uint32_t acquires = is_acquired_again ? use.producer_warps : 0;
  const auto waits = [&](uint32_t seen, uint32_t warps) {
    return use.may_split ? std::min(seen, warps) : seen;
  };
  for (const std::string& wrong : {expect_equal("consumer warps that saw it full",
                                                waits(full.waits, use.consumer_warps), use.consumer_warps),
                                   expect_equal("arrivals at full", full.arrivals, use.full_arrivals),
                                   expect_equal("bytes", full.bytes, use.bytes),
                                   expect_equal("arrivals at empty", empty.arrivals, use.empty_arrivals),
                                   expect_equal("waits for empty", waits(empty.waits, acquires), acquires)}) {
    if (!wrong.empty()) return at(wrong, cta, tile);
  }
  if (full.first_end + use.slack < full.last_arrival) return at("seen full before it was", cta, tile);
  if (acquires != 0 && empty.first_end + use.slack < empty.last_arrival)
    return at("acquired before it was released", cta, tile);
  return "";
}

/// What is wrong with the ring's trace, or nothing.
inline std::string check_protocol(const sluice::trace::Decoded& trace, const RingUse& use) {
  if (use.ring >= static_cast<int>(trace.rings.size())) return "the ring is not in the trace";
  if (trace.left_out != 0) return std::to_string(trace.left_out) + " records are left out";
  for (uint32_t i = 0; i < trace.recorded_ctas; ++i) {
    const uint32_t cta = trace.first_cta + i;
    const PhaseSummary before = summarize(trace, use.ring, cta, 0, true, -1);
    const bool all_began =
        use.may_split ? before.waits >= use.producer_warps : before.waits == use.producer_warps;
    if (use.tiles > 0 && !all_began) return at("no wait on the phase before the first", cta, 0);
    for (int tile = 0; tile < use.tiles; ++tile) {
      if (std::string wrong = check_tile(trace, use, cta, tile); !wrong.empty()) return wrong;
    }
  }
  return "";
}

/// How many events of a kind a trace has, those of one name alone where it is given.
inline uint64_t count_events(const sluice::trace::Decoded& trace, sluice::trace::EventKind kind,
                             const std::string& name = "") {
  return static_cast<uint64_t>(std::count_if(
      trace.events.begin(), trace.events.end(),
      [&](const auto& event) { return event.kind == kind && (name.empty() || event.name == name); }));
}

}  // namespace trace_tests
