// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What the checkers found in a launch, and how it becomes diagnostics: places with their call chains, equal
// findings merged, and one cause told once. The first error of a launch is its cause; errors after it may be
// nothing but its consequences, so they are named in a note and not told on their own.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "event/event.hpp"
#include "report/diagnostic.hpp"

namespace sluice::check {

/// A place in the program with what happens there.
struct Spot {
  uint32_t origin = 0;
  std::string label;
};

/// Lanes of a warp.
struct Who {
  uint32_t cta = event::kNoIndex, warp = 0, lanes = 0;
};

struct Finding {
  std::string name;
  report::Level level = report::Level::Error;
  std::string headline;
  std::string agent{};  ///< who, in words: "cta 0, warp 3 lane 0"
  std::vector<Spot> spots{};
  std::string state{}, why{}, help{};
  std::vector<std::string> notes{};
  Who who{};  ///< whom a timeline marks; nobody: whose event shows it
};

class Findings {
 public:
  void begin_launch(const event::LaunchDetails& details);
  /// Adds a finding; equal ones (name and places) are counted.
  void add(Finding finding);
  bool has_error() const { return !errors_.empty(); }
  /// `f` is called with each finding that will be told on its own, when it is found.
  void on_finding(std::function<void(const Finding&)> f) { on_finding_ = std::move(f); }
  /// What is to be told about the launch; forgets it.
  std::vector<report::Diagnostic> take();

  /// The variable in shared memory that has this offset; empty if there is none (dynamic shared memory).
  std::string symbol_name(uint32_t offset) const;
  /// The same for people, without the place in it: equal findings on neighbouring bytes are one.
  std::string shared_name(uint32_t offset) const;
  /// "full[1]", "storage+0x18", "the mbarrier at shared offset 0x418".
  std::string barrier_name(uint32_t offset) const;
  const event::Origins* origins() const { return origins_; }

 private:
  struct Counted {
    Finding finding;
    uint64_t times = 1;
  };
  report::Diagnostic diagnose(const Counted& counted) const;
  report::Place place_of(const Spot& spot) const;
  std::string where() const;

  const event::Origins* origins_ = nullptr;
  std::string kernel_;
  std::vector<Counted> errors_, warnings_;
  std::function<void(const Finding&)> on_finding_;
};

/// A function of a readable symbol without what the compiler adds: "cuda::ptx::mbarrier_arrive" for
/// "unsigned long _INTERNAL_5d00_kernel_cu_49d7::cuda::ptx::__4::mbarrier_arrive<void>(unsigned long*)".
std::string bare_function(const std::string& readable);

/// "warp 3 lane 0", "warp 2 lanes 0-31", "warp 2".
std::string lanes_text(uint32_t warp, uint32_t lanes);

}  // namespace sluice::check
