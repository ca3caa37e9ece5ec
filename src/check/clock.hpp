// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Vector clocks. A clock says up to which time it knows each lane of each agent; an access is stamped with
// agent, lanes and time, and a clock covers it when it knows those lanes up to that time.
//
// Source: vector clocks with one component per warp, as FastTrack (Flanagan, Freund: "FastTrack: efficient
// and precise dynamic race detection") has one per thread. Differences: lanes of one warp are told apart
// where they have to be (agents.hpp); asynchronous copies are not agents one by one, but share the agent of
// what they are waited for with, whose time is the ordinal of the phase, group or product. Knowing one phase
// means knowing all phases before it, so nothing has to be recycled.
//
// Clocks that know the same share their memory, and one that changes copies it first. So a copy of a clock
// costs nothing, and a join of two that have met is a comparison of pointers. An array also remembers what it
// was lately made from, by number: a clock that has come from another one, by way of a barrier or two, is
// known to cover it without looking at the times.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "check/agents.hpp"

namespace sluice::check {

/// The times of one domain's columns: a reference to shared memory, or null. Counted without locks: clocks
/// belong to one checker, and a checker to one thread.
class Times {
 public:
  Times() = default;
  /// Of a domain that nothing is known of.
  Times(DomainId domain, const Agents& agents);
  Times(const Times& other) : block_(other.block_) {
    if (block_ != nullptr) ++block_->users;
  }
  Times(Times&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Times& operator=(Times other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Times() {
    if (block_ != nullptr && --block_->users == 0) ::operator delete(block_);
  }

  explicit operator bool() const { return block_ != nullptr; }
  bool operator==(const Times& other) const { return block_ == other.block_; }
  DomainId domain() const { return block_->domain; }
  Time of(uint32_t column, const Agents& agents) const {
    if (column >= block_->size) column = ancestor(column, agents);
    return values()[column];
  }
  void raise(uint32_t column, Time time, const Agents& agents);
  void join(const Times& other, const Agents& agents);

 private:
  static constexpr size_t kBelow = 4;
  struct Block {
    uint32_t users = 1;
    DomainId domain = 0;
    uint32_t size = 0;                     ///< columns, at least one; their times follow
    uint32_t padded = 0;                   ///< the same, rounded up to whole vectors; the rest is zero
    uint64_t version = 0;                  ///< of these times
    std::array<uint64_t, kBelow> below{};  ///< versions of times that these cover, 0 = none
  };
  bool is_below(const Times& other) const {
    bool found = false;
    for (const uint64_t version : other.block_->below) found |= version == block_->version;
    return found;
  }
  void note_below(uint64_t version);
  Time* values() const { return reinterpret_cast<Time*>(block_ + 1); }
  uint32_t ancestor(uint32_t column, const Agents& agents) const;
  static Times make(DomainId domain, uint32_t size, const Agents& agents);
  /// Without times yet, to become a later state of these.
  Times successor(uint32_t size, const Agents& agents) const;
  /// A copy with all columns that its domain has now.
  Times grown(const Agents& agents) const;

  Block* block_ = nullptr;
};

/// Knowledge about all agents. Mostly they are of one domain.
class Clock {
 public:
  bool covers(const Agents& agents, AgentId agent, uint32_t lanes, Time time) const {
    const Times* const times = find(agents.domain(agent));
    if (times == nullptr || agent == 0) return false;
    for (const Agents::Column& column : agents.columns(agent)) {
      if ((column.lanes & lanes) != 0 && times->of(column.index, agents) < time) return false;
    }
    return true;
  }
  /// Whether any of the lanes is known up to `time`.
  bool covers_any(const Agents& agents, AgentId agent, uint32_t lanes, Time time) const;
  void raise(Agents& agents, AgentId agent, uint32_t lanes, Time time);
  void join(const Clock& other, const Agents& agents);
  bool empty() const { return !first_ && rest_.empty(); }
  /// Whether the two are known to be equal, since they share their memory.
  bool is_same(const Clock& other) const { return first_ == other.first_ && rest_ == other.rest_; }

 private:
  const Times* find(DomainId domain) const {
    if (first_ && first_.domain() == domain) return &first_;
    return rest_.empty() ? nullptr : find_in_rest(domain);
  }
  const Times* find_in_rest(DomainId domain) const;
  Times* find(DomainId domain) { return const_cast<Times*>(std::as_const(*this).find(domain)); }
  Times& insert(Times times);
  void join(const Times& times, const Agents& agents);

  Times first_;              ///< of the domain that it has heard of first
  std::vector<Times> rest_;  ///< of others, sorted by domain
};

}  // namespace sluice::check
