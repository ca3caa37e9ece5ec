// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Vector clocks. An agent is a warp or a kind of asynchronous work with its own time; agents have 32 lanes,
// so that a clock can say how far it knows each lane of a warp (lanes that run together share most values).
// An access is stamped with agent, lanes and time, and a clock covers it when it knows those lanes up to that
// time.
//
// Source: vector clocks with one component per warp, as FastTrack (Flanagan, Freund: "FastTrack: efficient
// and precise dynamic race detection") has one per thread. Differences: lanes of one warp are told apart
// inside the component; asynchronous copies are not agents one by one, but share the agent of what they are
// waited for with (a barrier's copies, a lane's bulk groups, a warpgroup's products), whose time is the
// ordinal of the phase, group or product. Knowing one phase means knowing all phases before it, so nothing
// has to be recycled.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace sluice::check {

using AgentId = uint32_t;
using Time = uint32_t;

constexpr uint32_t kLanes = 32;
constexpr uint32_t kAllLanes = 0xffffffffu;

/// How far 32 lanes are known. Most have one value; some lanes may be known further; `each` holds what fits
/// neither form.
class LaneTimes {
 public:
  Time of(uint32_t lane) const;
  bool covers(uint32_t lanes, Time time) const {
    if (time <= all_) return true;
    if (each_ == nullptr) return time <= some_ && (lanes & ~further_) == 0;
    return covers_each(lanes, time);
  }
  /// Whether any of the lanes is known up to `time`.
  bool covers_any(uint32_t lanes, Time time) const;
  void raise(uint32_t lanes, Time time);
  void join(const LaneTimes& other);

 private:
  Time high() const { return each_ != nullptr || further_ != 0 ? some_ : all_; }
  bool covers_each(uint32_t lanes, Time time) const;
  void set(const std::array<Time, kLanes>& times);
  std::array<Time, kLanes> spread() const;

  Time all_ = 0;          ///< every lane is known at least this far
  Time some_ = 0;         ///< lanes of `further_` are known this far; with `each` the furthest of all
  uint32_t further_ = 0;  ///< some_ > all_ if not empty
  std::shared_ptr<const std::array<Time, kLanes>> each_;
};

/// Knowledge about all agents: sorted by agent, those not listed are not known at all.
class Clock {
 public:
  bool covers(AgentId agent, uint32_t lanes, Time time) const {
    const LaneTimes* const times = find(agent);
    return times != nullptr && times->covers(lanes, time);
  }
  bool covers_any(AgentId agent, uint32_t lanes, Time time) const {
    const LaneTimes* const times = find(agent);
    return times != nullptr && times->covers_any(lanes, time);
  }
  bool knows(AgentId agent) const { return find(agent) != nullptr; }
  void raise(AgentId agent, uint32_t lanes, Time time);
  void join(const Clock& other);
  bool empty() const { return entries_.empty(); }

 private:
  struct Entry {
    AgentId agent;
    LaneTimes times;
  };
  const LaneTimes* find(AgentId agent) const;
  std::vector<Entry> entries_;
};

}  // namespace sluice::check
