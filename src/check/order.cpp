// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads and barriers of the CTA and the cluster, fences, strong accesses.
#include "check/order.hpp"

#include <algorithm>
#include <bit>

namespace sluice::check {

using event::Event;
using event::Kind;
using event::Semantics;

namespace {

bool releases(Semantics s) {
  return s == Semantics::Release || s == Semantics::AcquireRelease || s == Semantics::SequentiallyConsistent;
}
bool acquires(Semantics s) {
  return s == Semantics::Acquire || s == Semantics::AcquireRelease || s == Semantics::SequentiallyConsistent;
}

uint32_t bit(uint32_t lane) {
  return uint32_t{1} << lane;
}

}  // namespace

Time Strand::hand_over() {
  if (!touched) return time - 1;
  touched = false;
  return time++;
}

// --- set-up -------------------------------------------------------------------------------------------

void Order::begin_launch(const Event& e) {
  *this = Order();
  for (const uint32_t extent : e.details->cluster) cluster_size_ *= extent;
  narrow_scopes_ = e.details->narrow_scopes;
}

AgentId Order::new_agent(Agent agent) {
  const CtaOrder* const cta = find_cta(agent.cta);
  return agents_.add(agent, cta == nullptr ? 0 : cta->cluster + 1);
}

uint32_t Order::cta_of_rank(uint32_t cta, uint32_t rank) const {
  const CtaOrder* const own = find_cta(cta);
  if (own == nullptr) return event::kNoIndex;
  if (own->rank == rank) return cta;
  return in_clusters() && rank < cluster_size_ ? clusters_[own->cluster][rank] : event::kNoIndex;
}

void Order::begin_cta(const Event& e) {
  if (e.kind == Kind::CtaBegin) {
    if (ctas_.size() <= e.cta) ctas_.resize(e.cta + 1);
    CtaOrder& cta = *(ctas_[e.cta] = std::make_unique<CtaOrder>());
    cta.cluster = static_cast<uint32_t>(e.operation);
    cta.rank = static_cast<uint32_t>(e.value);
    cta.shared_bytes = e.bytes;
    if (!in_clusters()) return;
    if (clusters_.size() <= cta.cluster) clusters_.resize(cta.cluster + 1);
    clusters_[cta.cluster].resize(cluster_size_, event::kNoIndex);
    clusters_[cta.cluster][cta.rank] = e.cta;
    return;
  }
  std::vector<WarpOrder>& warps = cta(e.cta).warps;
  if (warps.size() <= e.warp) warps.resize(e.warp + 1);
  WarpOrder& warp = warps[e.warp];
  warp.cta = e.cta;
  warp.live = e.lanes;
  warp.agent = new_agent({AgentKind::Warp, e.cta, e.warp});
  warp.column = agents_.columns(warp.agent).front().index;
  warp.strands.emplace_back().lanes = e.lanes;
  // The start of a thread is an event that others may know or not.
  warp.strands.back().touched = true;
}

void Order::exit_lanes(const Event& e) {
  CtaOrder& cta = *ctas_[e.cta];
  if (e.kind == Kind::CtaEnd) {
    cta.ended = true;
    cta.warps = {};
    cta.warpgroups = {};
    cta.named = {};
    return;
  }
  WarpOrder& warp = cta.warps[e.warp];
  if (in_clusters()) {
    for_strands(warp, e.lanes, [&](Strand& strand, uint32_t lanes) {
      cta.at_exit.join(strand.known.control, agents_);
      add_own(cta.at_exit, warp, lanes, strand.hand_over());
    });
  }
  warp.live &= ~e.lanes;
  for (Strand& strand : warp.strands) strand.lanes &= ~e.lanes;
  std::erase_if(warp.strands, [](const Strand& strand) { return strand.lanes == 0; });
}

// --- knowledge ----------------------------------------------------------------------------------------

bool Order::waited(const WarpOrder& warp, AgentId a, uint32_t lanes, Time time) {
  const auto* const times = a == warp.bulk_reads    ? &warp.reads_waited
                            : a == warp.bulk_writes ? &warp.writes_waited
                            : a == warp.cp_async    ? &warp.cp_async_waited
                                                    : nullptr;
  if (times == nullptr || a == 0) return false;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    if ((*times)[static_cast<size_t>(std::countr_zero(m))] < time) return false;
  }
  return true;
}

void Order::add_own(Clock& clock, const WarpOrder& warp, uint32_t lanes, Time time) {
  clock.raise(agents_, warp.agent, lanes, time);
  if (!warp.uses_groups) return;
  const auto raise = [&](AgentId agent, const std::array<Time, kLanes>& times) {
    for (uint32_t rest = lanes; agent != 0 && rest != 0;) {
      const Time value = times[static_cast<size_t>(std::countr_zero(rest))];
      uint32_t equal = 0;
      for (uint32_t m = rest; m != 0; m &= m - 1) {
        const auto lane = static_cast<uint32_t>(std::countr_zero(m));
        if (times[lane] == value) equal |= bit(lane);
      }
      clock.raise(agents_, agent, equal, value);
      rest &= ~equal;
    }
  };
  raise(warp.bulk_reads, warp.reads_waited);
  raise(warp.bulk_writes, warp.writes_waited);
  raise(warp.cp_async, warp.cp_async_waited);
}

void Order::add_own(Knowledge& knowledge, const WarpOrder& warp, uint32_t lanes, Time time) {
  learn(knowledge, {}, true, [&](Clock& clock) { add_own(clock, warp, lanes, time); });
}

void Order::split(WarpOrder& warp, uint32_t lanes) {
  for (size_t i = 0; i < warp.strands.size(); ++i) {
    const uint32_t inside = warp.strands[i].lanes & lanes;
    if (inside == 0 || inside == warp.strands[i].lanes) continue;
    Strand part = warp.strands[i];
    part.lanes = inside;
    warp.strands[i].lanes &= ~inside;
    warp.strands.push_back(std::move(part));
  }
}

void Order::meet(WarpOrder& warp, uint32_t lanes) {
  split(warp, lanes);
  const auto inside = [lanes](const Strand& strand) { return (strand.lanes & lanes) != 0; };
  const auto first = std::find_if(warp.strands.begin(), warp.strands.end(), inside);
  if (first == warp.strands.end()) return;
  const auto others = std::count_if(warp.strands.begin(), warp.strands.end(), inside) - 1;
  const bool known =
      !first->touched && first->known.order.covers(agents_, warp.agent, first->lanes, first->time - 1);
  if (others == 0 && known) return;
  Strand met = std::move(*first);
  add_own(met.known, warp, met.lanes, met.hand_over());
  first->lanes = 0;
  for (Strand& strand : warp.strands) {
    if (!inside(strand)) continue;
    join(met.known, strand.known);
    add_own(met.known, warp, strand.lanes, strand.hand_over());
    met.lanes |= strand.lanes;
    met.time = std::max(met.time, strand.time);
    join_fences(met.before_fence, strand.before_fence);
    join_fences(met.before_wide_fence, strand.before_wide_fence);
    met.own_after_reads.join(strand.own_after_reads, agents_);
    if (strand.after_reads != nullptr && strand.after_reads != met.after_reads)
      join_reads(met.after_reads, *strand.after_reads, true);
    strand.lanes = 0;
  }
  std::erase_if(warp.strands, [](const Strand& strand) { return strand.lanes == 0; });
  met.changed();
  warp.strands.push_back(std::move(met));
}

/// What strands that meet have prepared by fences of their own.
void Order::join_fences(Start& fence, const Start& other) {
  const bool same = fence.base == other.base && fence.time == other.time && fence.lanes == other.lanes;
  if (other.base == nullptr || same) return;
  if (fence.base == nullptr) {
    fence = other;
    return;
  }
  auto both = std::make_shared<Knowledge>(*fence.base);
  join(*both, *other.base);
  for (const Start* const start : {static_cast<const Start*>(&fence), &other})
    raise(*both, start->agent, start->lanes, start->time);
  fence.base = std::move(both);
  fence.lanes |= other.lanes;
  fence.time = 0;  // the base has it
}

void Order::join_reads(std::shared_ptr<const Knowledge>& reads, const Knowledge& seen, bool wide) {
  auto both = reads == nullptr ? std::make_shared<Knowledge>() : std::make_shared<Knowledge>(*reads);
  learn(*both, seen, wide, [](Clock&) {});
  reads = std::move(both);
}

void Order::release(SyncPoint& point, WarpOrder& warp, Strand& strand, uint32_t lanes, uint32_t owner,
                    bool wide) {
  const Time time = strand.hand_over();
  const bool from_owner = warp.cta == owner;
  learn(from_owner ? point.own : point.remote, strand.known, from_owner || wide,
        [&](Clock& clock) { add_own(clock, warp, lanes, time); });
}

void Order::release(SyncPoint& point, const Start& start, uint32_t owner) {
  // What the issuer of a copy did through the generic proxy is not promised to the other CTA.
  const bool from_owner = start.cta == owner;
  learn(from_owner ? point.own : point.remote, *start.base, from_owner,
        [&](Clock& clock) { clock.raise(agents_, start.agent, start.lanes, start.time); });
}

void Order::acquire(const SyncPoint& point, Strand& strand, bool wide) {
  join(strand.known, point.own);
  if (in_clusters()) learn(strand.known, point.remote, wide, [](Clock&) {});
  strand.changed();
}

// --- events -------------------------------------------------------------------------------------------

void Order::apply(const Event& e) {
  switch (e.kind) {
    case Kind::CtaBegin:
    case Kind::WarpBegin:
      return begin_cta(e);
    case Kind::LanesExit:
    case Kind::CtaEnd:
      return exit_lanes(e);
    case Kind::WarpSync:
    case Kind::WgmmaFence:
      return meet(warp(e), e.lanes);
    case Kind::Fence:
    case Kind::ProxyFence:
      return fence(e);
    case Kind::Read:
    case Kind::Write:
    case Kind::Atomic:
      if (e.kind == Kind::Atomic || e.semantics != Semantics::Weak) strong_access(e);
      return;
    case Kind::NamedArrive:
    case Kind::NamedWait:
    case Kind::NamedComplete:
      return named(e);
    case Kind::ClusterArrive:
    case Kind::ClusterWait:
      return cluster_barrier(e);
    case Kind::WgmmaIssue:
      return wgmma_issue(e);
    case Kind::AsyncIssue:
      return issue(e);
    case Kind::GroupCommit:
      return commit(e);
    case Kind::GroupWait:
      return group_wait(e);
    default:
      return;
  }
}

void Order::fence(const Event& e) {
  WarpOrder& w = warp(e);
  if (e.kind == Kind::ProxyFence) {
    if (e.proxy != event::Proxy::Async) return;
    for_split(w, e.lanes, [&](Strand& strand) {
      strand.known.fenced.join(strand.known.order, agents_);
      add_own(strand.known.fenced, w, strand.lanes, strand.hand_over());
      strand.changed();
    });
    return;
  }
  const bool wide = reaches_ctas(e.scope);
  for_split(w, e.lanes, [&](Strand& strand) {
    if (strand.after_reads != nullptr) {
      learn(strand.known, *strand.after_reads, wide, [](Clock&) {});
      if (narrow_scopes_) strand.known.wide.join(strand.own_after_reads, agents_);
      if (wide || !follows_scopes()) strand.after_reads = nullptr;
      strand.own_after_reads = {};
      strand.changed();
    }
    if (wide && e.semantics == Semantics::SequentiallyConsistent) {
      for (Clock* const clock : {&strand.known.order, &strand.known.wide, &strand.known.control})
        clock->join(strand.known.seen, agents_);
      strand.known.shown.join(strand.known.order, agents_);
      add_own(strand.known.shown, w, strand.lanes, strand.hand_over());
      strand.changed();
    }
    strand.before_fence = start_now(w, strand.lanes);
    if (wide) strand.before_wide_fence = strand.before_fence;
  });
}

void Order::strong_access(const Event& e) {
  WarpOrder& w = warp(e);
  constexpr uint64_t kInWord = 3;
  for (uint32_t rest = e.lanes; rest != 0;) {
    const uint64_t word = e.addresses[static_cast<size_t>(std::countr_zero(rest))] & ~kInWord;
    uint32_t lanes = 0;
    for (uint32_t m = rest; m != 0; m &= m - 1) {
      const auto lane = static_cast<uint32_t>(std::countr_zero(m));
      if ((e.addresses[lane] & ~kInWord) == word) lanes |= bit(lane);
    }
    rest &= ~lanes;
    access_word(e, w, word, lanes);
  }
}

/// Lanes that name one word. Atomics of one instruction are done one after the other, by ascending lane: each
/// sees what those before it have shown.
void Order::access_word(const Event& e, WarpOrder& warp, uint64_t word, uint32_t lanes) {
  if (e.kind == Kind::Read) return see(e, warp, word, lanes);
  if (e.kind == Kind::Write) return show(e, warp, word, lanes);
  bool shows = releases(e.semantics);
  for_strands(warp, lanes, [&](Strand& strand, uint32_t) {
    shows |= strand.before_fence.base != nullptr || !strand.known.shown.empty();
  });
  if (!shows) return see(e, warp, word, lanes);
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    see(e, warp, word, m & -m);
    show(e, warp, word, m & -m);
  }
}

void Order::see(const Event& e, WarpOrder& warp, uint64_t word, uint32_t lanes) {
  const auto known = addresses_.find(word);
  if (known == addresses_.end()) return;
  const bool wide = reaches_ctas(e.scope);
  const AddressPoint& point = known->second;
  const auto within = point.wide_within.find(warp.cta);
  for_split(warp, lanes, [&](Strand& strand) {
    if (wide && !point.shown.empty()) {
      strand.known.seen.join(point.shown, agents_);
      strand.changed();
    }
    if (acquires(e.semantics)) {
      learn(strand.known, point.all, wide, [](Clock&) {});
      if (within != point.wide_within.end()) strand.known.wide.join(within->second, agents_);
      strand.changed();
      return;
    }
    join_reads(strand.after_reads, point.all, wide);
    if (within != point.wide_within.end()) strand.own_after_reads.join(within->second, agents_);
  });
}

void Order::show(const Event& e, WarpOrder& warp, uint64_t word, uint32_t lanes) {
  const bool wide = reaches_ctas(e.scope);
  for_strands(warp, lanes, [&](Strand& strand, uint32_t part) {
    if (wide && !strand.known.shown.empty()) addresses_[word].shown.join(strand.known.shown, agents_);
    const auto put = [&](const Knowledge& known, bool reaches, const auto& own) {
      AddressPoint& point = addresses_[word];
      learn(point.all, known, reaches, own);
      if (!narrow_scopes_) return;
      Clock& within = point.wide_within[warp.cta];
      within.join(known.wide, agents_);
      own(within);
    };
    if (releases(e.semantics)) {
      const Time time = strand.hand_over();
      return put(strand.known, wide, [&](Clock& clock) { add_own(clock, warp, part, time); });
    }
    const auto put_fence = [&](const Start& fence, bool reaches) {
      if (fence.base == nullptr) return;
      put(*fence.base, reaches, [&](Clock& clock) { clock.raise(agents_, warp.agent, part, fence.time); });
    };
    const bool by_wide_fence = wide && strand.before_wide_fence.base != nullptr;
    if (by_wide_fence) put_fence(strand.before_wide_fence, true);
    const bool same = by_wide_fence && strand.before_fence.base == strand.before_wide_fence.base &&
                      strand.before_fence.time == strand.before_wide_fence.time;
    if (!same) put_fence(strand.before_fence, !follows_scopes());
  });
}

void Order::named(const Event& e) {
  CtaOrder& cta = *ctas_[e.cta];
  CtaOrder::Named& barrier = cta.named[static_cast<size_t>(e.value)];
  if (e.kind == Kind::NamedComplete) {
    for (const auto& [index, lanes] : barrier.waiters) {
      if (index >= cta.warps.size()) continue;
      for_split(cta.warps[index], lanes, [&](Strand& strand) { acquire(barrier.point, strand, true); });
    }
    barrier = {};
    return;
  }
  WarpOrder& w = warp(e);
  for_strands(w, e.lanes,
              [&](Strand& strand, uint32_t lanes) { release(barrier.point, w, strand, lanes, e.cta, true); });
  if (e.kind == Kind::NamedWait) barrier.waiters.emplace_back(e.warp, e.lanes);
}

void Order::cluster_barrier(const Event& e) {
  WarpOrder& w = warp(e);
  const uint32_t cluster = ctas_[e.cta]->cluster;
  Knowledge& point = cluster_points_[{cluster, e.phase}];
  if (e.kind == Kind::ClusterArrive) {
    for_strands(w, e.lanes, [&](Strand& strand, uint32_t lanes) {
      const Time time = strand.hand_over();
      const auto own = [&](Clock& clock) { add_own(clock, w, lanes, time); };
      if (e.semantics != Semantics::Relaxed) return learn(point, strand.known, true, own);
      point.control.join(strand.known.control, agents_);
      own(point.control);
    });
    return;
  }
  for_split(w, e.lanes, [&](Strand& strand) {
    join(strand.known, point);
    strand.changed();
  });
  if (e.phase != 0) cluster_points_.erase({cluster, e.phase - 1});
}

}  // namespace sluice::check
