// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Happens-before: what each thread and each asynchronous operation knows of all others. Fed by the events
// that order things (barriers, arrivals and waits, fences, rendezvous, groups); asked by the checkers whether
// one access is ordered before another.
//
// Lanes of a warp that have learnt the same form a strand; lockstep is never an order, so a strand does not
// know what its own lanes did since they last met. Knowledge has four layers, each a clock:
//   order    causality, whatever the scopes said
//   fenced   ordinary accesses that a proxy fence on the path has made known to the asynchronous proxy
//   wide     order along edges whose scopes reach from one CTA into another (in clusters, and in kernels that
//            synchronise on global memory with a narrow scope)
//   control  order, and relaxed arrivals at the cluster barrier: who has run, not what is visible (clusters
//   only)
//
// What it can miss: an arrival of phase n counts as known to who waits for phase n + 1 of the same barrier; a
// strong write orders what was released to its address before, also when a reader saw an older value. In
// clusters, cluster scope counts as wide enough also towards other clusters. Collectives (shfl, vote, ...)
// order the lanes they name, as aligned instructions do.
#pragma once

#include <bit>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "check/clock.hpp"
#include "event/address.hpp"
#include "event/event.hpp"

namespace sluice::check {

struct Knowledge {
  Clock order, fenced, wide, control;
  /// fence.sc of device scope, which all have one order: what lies before one that is known, for strong
  /// writes to show; and what strong reads have seen of that, for the next such fence to come after.
  Clock shown, seen;
};

/// What an asynchronous operation knows: what its issuer knew, and the issuer's own past.
struct Start {
  std::shared_ptr<const Knowledge> base;
  AgentId agent = 0;
  uint32_t lanes = 0;
  Time time = 0;
  uint32_t cta = 0;

  bool covers(const Agents& agents, AgentId a, uint32_t l, Time t) const {
    return (a == agent && (l & ~lanes) == 0 && t <= time) || base->order.covers(agents, a, l, t);
  }
};

/// Where knowledge is handed over: a phase of a barrier, an address. Releases from another CTA are kept
/// apart, so that their scope can be judged by who acquires.
struct SyncPoint {
  Knowledge own;
  Knowledge remote;
};

/// What strong writes have released to an address.
struct AddressPoint {
  Knowledge all;                                    ///< its wide layer: of releases that reach other CTAs
  std::unordered_map<uint32_t, Clock> wide_within;  ///< by CTA: the wide layer of all its own releases
  Clock shown;                                      ///< before a fence.sc that was known to the writers
};

/// Lanes of a warp that have learnt the same.
struct Strand {
  uint32_t lanes = 0;
  Time time = 1;         ///< stamp of its accesses now
  bool touched = false;  ///< something carries that stamp
  Knowledge known;
  std::shared_ptr<const Knowledge> snapshot;  ///< of `known`, while it has not changed
  /// What a fence has prepared for release by strong writes, and one of wide scope; without a base: nothing.
  Start before_fence, before_wide_fence;
  std::shared_ptr<const Knowledge> after_reads;  ///< what strong reads have seen, until a fence acquires it
  Clock own_after_reads;                         ///< of it, the wide layer that the own CTA has released

  /// The time up to which its accesses are handed over now; later ones get a later stamp.
  Time hand_over();
  void changed() { snapshot = nullptr; }
};

/// A place in the shared memory of a CTA.
struct SharedPlace {
  uint32_t cta = 0, offset = 0;
  /// For maps: places of one CTA lie one behind the other.
  uint64_t key() const { return uint64_t{cta} << event::kSharedRankShift | offset; }
};

struct WarpOrder {
  uint32_t column = 0;  ///< the first of the agent
  AgentId agent = 0, cp_async = 0, bulk_reads = 0, bulk_writes = 0;
  uint32_t cta = 0;
  uint32_t live = 0;
  std::vector<Strand> strands;
  std::array<uint32_t, kLanes> bulk_groups{}, cp_async_groups{};  ///< committed by each lane
  bool uses_groups = false;
  /// Groups that each lane has waited for: its own knowledge, which other lanes learn by meeting it.
  std::array<Time, kLanes> reads_waited{}, writes_waited{}, cp_async_waited{};
  /// Whether the agent is this warp, or stands for operations that it has issued.
  bool has_issued(AgentId a) const {
    return a == agent || (uses_groups && (a == cp_async || a == bulk_reads || a == bulk_writes));
  }
  uint64_t wgmma_issued = 0;
  std::deque<uint64_t> wgmma_commits;  ///< products issued up to each commit
  uint64_t wgmma_commit_count = 0;
};

struct CtaOrder {
  uint32_t cluster = 0, rank = 0, shared_bytes = 0;
  std::vector<WarpOrder> warps;
  bool ended = false;
  Clock at_exit;  ///< control knowledge of threads that have exited
  struct Named {
    SyncPoint point;
    std::vector<std::pair<uint32_t, uint32_t>> waiters;  ///< warp, lanes
  };
  std::vector<Named> named{16};
  struct Warpgroup {
    AgentId agent = 0;
    std::array<std::deque<std::shared_ptr<const Knowledge>>, 4> issued;
    std::deque<std::pair<uint64_t, std::shared_ptr<const Knowledge>>> started;  ///< ordinal, start
  };
  std::vector<Warpgroup> warpgroups;
};

class Order {
 public:
  /// Applies what the event says about order. Barriers of the mbarrier kind are handed over by the ledger,
  /// with `release`, `acquire` and the operations' starts.
  void apply(const event::Event& e);

  void begin_launch(const event::Event& e);

  // --- threads ------------------------------------------------------------------------------------------
  CtaOrder& cta(uint32_t linear) { return *ctas_[linear]; }
  const CtaOrder* find_cta(uint32_t linear) const {
    return linear < ctas_.size() ? ctas_[linear].get() : nullptr;
  }
  /// CTA of a rank in the cluster of `cta`; ~0 if there is none.
  uint32_t cta_of_rank(uint32_t cta, uint32_t rank) const;
  /// What a generic address of shared memory means in `cta`; its CTA is ~0 if the cluster has none of that
  /// rank.
  SharedPlace place(uint32_t cta, uint64_t address) const {
    return {cta_of_rank(cta, event::shared_rank(address)), event::shared_offset(address)};
  }
  WarpOrder& warp(const event::Event& e) { return ctas_[e.cta]->warps[e.warp]; }
  bool in_clusters() const { return cluster_size_ > 1; }
  /// Whether the wide layer can differ from order.
  bool follows_scopes() const { return in_clusters() || narrow_scopes_; }
  /// Whether a scope holds between CTAs.
  bool reaches_ctas(event::Scope scope) const {
    return scope >= event::Scope::Gpu || (in_clusters() && scope == event::Scope::Cluster);
  }
  const Agents& agents() const { return agents_; }
  const Agent& agent(AgentId id) const { return agents_[id]; }
  AgentId new_agent(Agent agent);

  /// Calls `f(strand, lanes)` for the strands that have some of the lanes.
  template <class F>
  void for_strands(WarpOrder& warp, uint32_t lanes, F&& f) {
    for (Strand& strand : warp.strands) {
      if ((strand.lanes & lanes) != 0) f(strand, strand.lanes & lanes);
    }
  }
  /// The same after strands have been divided, so that `lanes` are whole strands: for what changes knowledge.
  template <class F>
  void for_split(WarpOrder& warp, uint32_t lanes, F&& f) {
    split(warp, lanes);
    for (Strand& strand : warp.strands) {
      if ((strand.lanes & lanes) != 0) f(strand);
    }
  }

  /// Whether the stamp is ordered before what these lanes of the strand do now.
  bool covers(const WarpOrder& warp, const Strand& strand, uint32_t lanes, AgentId a, uint32_t l,
              Time t) const {
    if (a == warp.agent && (l & ~lanes) == 0) return true;
    if (warp.uses_groups && (l & ~lanes) == 0 && waited(warp, a, l, t)) return true;
    // A single lane need not be told of what it did itself.
    if (a == warp.agent && std::has_single_bit(lanes)) l &= ~lanes;
    return strand.known.order.covers(agents_, a, l, t);
  }

  /// Adds what `other` knows.
  void join(Knowledge& knowledge, const Knowledge& other) {
    learn(knowledge, other, true, [](Clock&) {});
  }
  /// Adds what these lanes of the agent did up to `time`.
  void raise(Knowledge& knowledge, AgentId agent, uint32_t lanes, Time time) {
    learn(knowledge, {}, true, [&](Clock& clock) { clock.raise(agents_, agent, lanes, time); });
  }
  void raise(Clock& clock, AgentId agent, uint32_t lanes, Time time) {
    clock.raise(agents_, agent, lanes, time);
  }

  // --- handing over -------------------------------------------------------------------------------------
  /// `wide`: the release reaches other CTAs. `owner`: the CTA that the sync point belongs to.
  void release(SyncPoint& point, WarpOrder& warp, Strand& strand, uint32_t lanes, uint32_t owner, bool wide);
  void acquire(const SyncPoint& point, Strand& strand, bool wide);
  /// An operation hands over what its issuer knew.
  void release(SyncPoint& point, const Start& start, uint32_t owner);

  /// What these lanes know now, as an operation that they issue would.
  Start start_now(WarpOrder& warp, uint32_t lanes);

  // --- asynchronous operations --------------------------------------------------------------------------
  struct Operation {
    event::OperationKind kind{};
    Start start;
    uint32_t cta = 0, warp = 0, lanes = 0, origin = 0;
    uint64_t group = 0;
    uint64_t signals = 0;  ///< generic address of its mbarrier, 0 = none
    uint32_t ranks = 0;    ///< multicast mask, 0 = none
  };
  const Operation* find_operation(uint64_t id) const;
  void forget_operation(uint64_t id) { operations_.erase(id); }

 private:
  static bool waited(const WarpOrder& warp, AgentId a, uint32_t lanes, Time time);
  template <class Own>
  void learn(Knowledge& knowledge, const Knowledge& other, bool wide, Own&& add_own);
  void add_own(Clock& clock, const WarpOrder& warp, uint32_t lanes, Time time);
  void add_own(Knowledge& knowledge, const WarpOrder& warp, uint32_t lanes, Time time);
  void split(WarpOrder& warp, uint32_t lanes);
  void meet(WarpOrder& warp, uint32_t lanes);
  std::shared_ptr<const Knowledge> shared_start(WarpOrder& warp, uint32_t lanes);
  void begin_cta(const event::Event& e);
  void exit_lanes(const event::Event& e);
  void fence(const event::Event& e);
  void strong_access(const event::Event& e);
  void access_word(const event::Event& e, WarpOrder& warp, uint64_t word, uint32_t lanes);
  void see(const event::Event& e, WarpOrder& warp, uint64_t word, uint32_t lanes);
  void show(const event::Event& e, WarpOrder& warp, uint64_t word, uint32_t lanes);
  void join_fences(Start& fence, const Start& other);
  void join_reads(std::shared_ptr<const Knowledge>& reads, const Knowledge& seen, bool wide);
  void named(const event::Event& e);
  void cluster_barrier(const event::Event& e);
  void issue(const event::Event& e);
  void commit(const event::Event& e);
  void group_wait(const event::Event& e);
  void wgmma_issue(const event::Event& e);

  uint32_t cluster_size_ = 1;
  bool narrow_scopes_ = false;
  Agents agents_;
  std::vector<std::unique_ptr<CtaOrder>> ctas_;  ///< by linear index, null before they begin
  std::vector<std::vector<uint32_t>> clusters_;  ///< the CTA of each rank, kNoIndex before it begins
  std::map<std::pair<uint32_t, uint64_t>, Knowledge> cluster_points_;  ///< (cluster, phase)
  std::unordered_map<uint64_t, Operation> operations_;
  std::unordered_map<uint64_t, AddressPoint> addresses_;  ///< of strong accesses
};

/// Adds what `other` knows, and what `add_own` adds to a clock, to all layers; to `wide` only if the edge
/// reaches other CTAs. Mostly some of the layers are the same, and stay so.
template <class Own>
void Order::learn(Knowledge& knowledge, const Knowledge& other, bool wide, Own&& add_own) {
  knowledge.fenced.join(other.fenced, agents_);
  knowledge.shown.join(other.shown, agents_);
  knowledge.seen.join(other.seen, agents_);
  const auto update = [&](Clock& clock, const Clock& from) {
    clock.join(from, agents_);
    add_own(clock);
  };
  if (!follows_scopes()) return update(knowledge.order, other.order);
  const auto like_order = [&](Clock Knowledge::*layer) {
    return (knowledge.*layer).is_same(knowledge.order) && (other.*layer).is_same(other.order);
  };
  const bool one_wide = wide && like_order(&Knowledge::wide);
  const bool one_control = like_order(&Knowledge::control);
  if (one_wide) knowledge.wide = {};
  if (one_control) knowledge.control = {};
  update(knowledge.order, other.order);
  if (one_wide)
    knowledge.wide = knowledge.order;
  else if (wide)
    update(knowledge.wide, other.wide);
  if (one_control)
    knowledge.control = knowledge.order;
  else
    update(knowledge.control, other.control);
}

}  // namespace sluice::check
