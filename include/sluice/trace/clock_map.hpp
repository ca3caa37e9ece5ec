// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// From the clocks of the SMs to the GPU's timer: every lane that recorded has read both when it began and
// when it ended. On one SM all share one clock, so their order is exact; between SMs it is as good as the
// timer's step. Host only, the standard library alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

#include "sluice/trace/record.hpp"

namespace sluice::trace {

/// Gathers moments, then turns clocks into times.
class ClockMap {
 public:
  void add(uint32_t sm, const Moment& moment) {
    const auto found = spans_.find(sm);
    if (found == spans_.end()) {
      spans_[sm] = {moment, moment};
      return;
    }
    Span& span = found->second;
    if (moment.clock < span.first.clock) span.first = moment;
    if (moment.clock > span.last.clock) span.last = moment;
  }

  /// After the last add. `nominal` cycles per nanosecond count where no two moments are far enough apart.
  void settle(double nominal) {
    rate_ = nominal;
    uint64_t longest = kShortestSpan;
    for (const auto& [sm, span] : spans_) {
      if (span.time() < longest) continue;
      longest = span.time();
      rate_ = span.rate();
      is_measured_ = true;
    }
  }

  /// Does the rate come from the run itself?
  bool is_measured() const { return is_measured_; }

  /// The time, in nanoseconds of the timer, at `clock` of an SM that has a moment.
  uint64_t time(uint32_t sm, uint64_t clock) const {
    const Span& span = spans_.at(sm);
    const double rate = span.time() >= kShortestSpan ? span.rate() : rate_;
    const double passed = static_cast<double>(static_cast<int64_t>(clock - span.first.clock)) / rate;
    return span.first.time + static_cast<uint64_t>(static_cast<int64_t>(passed + (passed < 0 ? -0.5 : 0.5)));
  }

 private:
  static constexpr uint64_t kShortestSpan = 2000;  ///< nanoseconds in which the timer's step is little

  struct Span {
    Moment first, last;
    uint64_t time() const { return last.time > first.time ? last.time - first.time : 0; }
    double rate() const {
      return static_cast<double>(last.clock - first.clock) / static_cast<double>(time());
    }
  };

  std::map<uint32_t, Span> spans_;
  double rate_ = 1;
  bool is_measured_ = false;
};

}  // namespace sluice::trace
