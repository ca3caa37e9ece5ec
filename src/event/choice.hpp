// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The choice vocabulary: every nondeterministic decision of the machine is a question to a Chooser, which
// receives the enabled steps with their footprints. Which warp runs next, when a copy lands, whether a
// try-wait gives up, which CTA starts: one interface, so that run, explore and replay are the same machine
// with other choosers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice::event {

enum class StepKind : uint8_t {
  RunWarp,     ///< continue the warp `agent`
  LandCopy,    ///< perform the asynchronous operation `agent`
  StartCta,    ///< make the CTA `agent` resident
  GiveUpWait,  ///< let a time-limited wait of warp `agent` return false
};

/// Bytes that a pending step may touch. Steps with disjoint footprints commute.
struct Footprint {
  uint64_t first = 0;
  uint64_t bytes = 0;
  bool writes = false;
};

struct PendingStep {
  StepKind kind{};
  uint64_t agent = 0;
  std::span<const Footprint> footprint;
};

/// Decides. `choose` receives at least one step and returns the index of the one to take.
class Chooser {
 public:
  virtual ~Chooser() = default;
  virtual size_t choose(std::span<const PendingStep> enabled) = 0;
};

}  // namespace sluice::event
