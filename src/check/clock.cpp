// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Joins of clocks. The uniform case, one value for all lanes, is the common one.
#include "check/clock.hpp"

#include <algorithm>
#include <bit>

namespace sluice::check {

Time LaneTimes::of(uint32_t lane) const {
  if (each_ != nullptr) return (*each_)[lane];
  return (further_ >> lane & 1) != 0 ? some_ : all_;
}

bool LaneTimes::covers_each(uint32_t lanes, Time time) const {
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    if ((*each_)[static_cast<size_t>(std::countr_zero(m))] < time) return false;
  }
  return true;
}

bool LaneTimes::covers_any(uint32_t lanes, Time time) const {
  if (time <= all_) return true;
  if (each_ == nullptr) return time <= some_ && (lanes & further_) != 0;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    if ((*each_)[static_cast<size_t>(std::countr_zero(m))] >= time) return true;
  }
  return false;
}

std::array<Time, kLanes> LaneTimes::spread() const {
  if (each_ != nullptr) return *each_;
  std::array<Time, kLanes> times;
  for (uint32_t i = 0; i < kLanes; ++i) times[i] = (further_ >> i & 1) != 0 ? some_ : all_;
  return times;
}

void LaneTimes::set(const std::array<Time, kLanes>& times) {
  Time low = times[0], high = times[0];
  for (const Time t : times) {
    low = std::min(low, t);
    high = std::max(high, t);
  }
  uint32_t further = 0, between = 0;
  for (uint32_t i = 0; i < kLanes; ++i) {
    further |= uint32_t{times[i] == high} << i;
    between |= uint32_t{times[i] != high && times[i] != low};
  }
  all_ = low;
  some_ = high;
  further_ = low == high ? 0 : further;
  each_ = between == 0 ? nullptr : std::make_shared<const std::array<Time, kLanes>>(times);
}

void LaneTimes::raise(uint32_t lanes, Time time) {
  if (covers(lanes, time)) return;
  if (each_ == nullptr) {
    if (lanes == kAllLanes && (further_ == 0 || time >= some_)) {
      all_ = time;
      further_ = 0;
      some_ = time;
      return;
    }
    if ((further_ & ~lanes) == 0 && time >= some_) {
      further_ = lanes;
      some_ = time;
      return;
    }
  }
  std::array<Time, kLanes> times = spread();
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    Time& t = times[static_cast<size_t>(std::countr_zero(m))];
    t = std::max(t, time);
  }
  set(times);
}

void LaneTimes::join(const LaneTimes& other) {
  // Mostly one of the two knows all that the other knows.
  if (other.high() <= all_ || (each_ != nullptr && each_ == other.each_)) return;
  if (high() <= other.all_) {
    *this = other;
    return;
  }
  if (each_ == nullptr && other.each_ == nullptr && further_ == other.further_) {
    all_ = std::max(all_, other.all_);
    some_ = std::max(some_, other.some_);
    if (some_ <= all_) further_ = 0;
    return;
  }
  const std::array<Time, kLanes> mine = spread(), theirs = other.spread();
  std::array<Time, kLanes> both;
  Time from_mine = 0, from_theirs = 0;
  for (uint32_t i = 0; i < kLanes; ++i) {
    both[i] = std::max(mine[i], theirs[i]);
    from_mine |= both[i] ^ mine[i];
    from_theirs |= both[i] ^ theirs[i];
  }
  if (from_mine == 0) return;
  if (from_theirs == 0)
    *this = other;
  else
    set(both);
}

const LaneTimes* Clock::find(AgentId agent) const {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), agent,
                                   [](const Entry& entry, AgentId id) { return entry.agent < id; });
  return at != entries_.end() && at->agent == agent ? &at->times : nullptr;
}

void Clock::raise(AgentId agent, uint32_t lanes, Time time) {
  if (time == 0) return;
  auto at = std::lower_bound(entries_.begin(), entries_.end(), agent,
                             [](const Entry& entry, AgentId id) { return entry.agent < id; });
  if (at == entries_.end() || at->agent != agent) at = entries_.insert(at, Entry{agent, {}});
  at->times.raise(lanes, time);
}

void Clock::join(const Clock& other) {
  if (other.entries_.empty()) return;
  if (entries_.empty()) {
    entries_ = other.entries_;
    return;
  }
  // Mostly both know the same agents: then nothing moves.
  size_t missing = 0;
  auto mine = entries_.begin();
  for (const Entry& theirs : other.entries_) {
    while (mine != entries_.end() && mine->agent < theirs.agent) ++mine;
    if (mine != entries_.end() && mine->agent == theirs.agent)
      mine->times.join(theirs.times);
    else
      ++missing;
  }
  if (missing == 0) return;
  std::vector<Entry> merged;
  merged.reserve(entries_.size() + missing);
  mine = entries_.begin();
  for (const Entry& theirs : other.entries_) {
    while (mine != entries_.end() && mine->agent < theirs.agent) merged.push_back(std::move(*mine++));
    if (mine != entries_.end() && mine->agent == theirs.agent)
      merged.push_back(std::move(*mine++));
    else
      merged.push_back(theirs);
  }
  while (mine != entries_.end()) merged.push_back(std::move(*mine++));
  entries_ = std::move(merged);
}

}  // namespace sluice::check
