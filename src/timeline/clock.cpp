// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Times of warps, barriers and asynchronous operations.
#include "timeline/clock.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "event/address.hpp"

namespace sluice::timeline {
namespace {

using event::Event;
using event::GroupKind;
using event::Kind;
using event::OperationKind;

constexpr uint32_t kWarpgroupWarps = 4;
constexpr size_t kGroupsKept = 16;

template <class F>
void for_lanes(uint32_t lanes, F&& f) {
  for (uint32_t m = lanes; m != 0; m &= m - 1) f(static_cast<uint32_t>(std::countr_zero(m)));
}

}  // namespace

void Clock::begin_launch() {
  *this = Clock();
}

BarrierPlace Clock::place_of(uint32_t cta, uint64_t address) const {
  const uint32_t offset = event::shared_offset(address), rank = event::shared_rank(address);
  const auto own = ctas_.find(cta);
  if (own == ctas_.end()) return {cta, offset};
  const auto& ranks = clusters_.at(own->second.cluster).ctas;
  const auto found = ranks.find(rank);
  return {found == ranks.end() ? cta : found->second, offset};
}

uint64_t Clock::waiting_since(uint32_t cta, uint32_t warp, BarrierPlace place, uint64_t fallback) const {
  const auto found = ctas_.find(cta);
  if (found == ctas_.end()) return fallback;
  const auto at = found->second.warps.find(warp);
  const bool waits =
      at != found->second.warps.end() && at->second.waiting != 0 && at->second.waits_at == place;
  return waits ? at->second.since : fallback;
}

uint64_t Clock::open_phase(BarrierPlace place, uint64_t parity) const {
  const auto found = barriers_.find(place);
  const uint64_t completed = found == barriers_.end() ? 0 : found->second.flips.size();
  return completed % 2 == parity ? completed : completed + 1;
}

/// The lanes have come to this instruction together: at the time of the latest, and what the warp has
/// executed since its last event later.
uint64_t Clock::advance(const Event& e) {
  WarpTime& warp = warp_of(e);
  uint64_t time = 0;
  for_lanes(e.lanes, [&](uint32_t lane) { time = std::max(time, warp.lanes[lane].time); });
  if (e.steps > warp.steps) {
    time += e.steps - warp.steps;
    warp.steps = e.steps;
  }
  warp.waiting &= ~e.lanes;
  set(warp, e.lanes, time);
  return time;
}

uint64_t Clock::time_at(const Event& e) const {
  const auto cta = ctas_.find(e.cta);
  if (cta == ctas_.end()) return now_;
  const auto found = cta->second.warps.find(e.warp);
  if (found == cta->second.warps.end()) return now_;
  const WarpTime& warp = found->second;
  uint64_t time = 0;
  for_lanes(e.lanes, [&](uint32_t lane) { time = std::max(time, warp.lanes[lane].time); });
  return time + (e.steps > warp.steps ? e.steps - warp.steps : 0);
}

void Clock::set(WarpTime& warp, uint32_t lanes, uint64_t time) {
  for_lanes(lanes, [&](uint32_t lane) { warp.lanes[lane].time = time; });
  now_ = std::max(now_, time);
}

/// When `bytes` that are asked for at `issued` have landed. `read`: when they have left their source.
uint64_t Clock::move_bytes(Cta& cta, uint64_t issued, uint64_t bytes, uint64_t* read) {
  const uint64_t begin = std::max(issued, cta.copies_until);
  cta.copies_until = begin + (bytes + kCopyBytesPerStep - 1) / kCopyBytesPerStep;
  if (read != nullptr) *read = cta.copies_until;
  now_ = std::max(now_, cta.copies_until + kCopyLatency);
  return cta.copies_until + kCopyLatency;
}

// --- mbarriers ----------------------------------------------------------------------------------------

Moment Clock::contribute(const Event& e) {
  const BarrierPlace place = place_of(e.cta, e.address());
  Barrier& barrier = barriers_[place];
  uint64_t time = 0;
  if (e.operation != 0) {
    const auto landing = landings_.find(e.operation);
    time = landing == landings_.end() ? barrier.latest : landing->second;
  } else {
    time = advance(e);
  }
  if (e.kind == Kind::MbarrierInit) barrier = Barrier{.flips = {}, .latest = time, .begun = time};
  // Nothing counts in a phase before the phase has begun.
  time = std::max(time, barrier.begun);
  barrier.latest = std::max(barrier.latest, time);
  return {.begin = time, .end = time, .barrier = place};
}

Moment Clock::flip(const Event& e) {
  const BarrierPlace place = place_of(e.cta, e.address());
  Barrier& barrier = barriers_[place];
  const uint64_t time = std::max(barrier.latest, barrier.begun);
  // Phases that completed before anybody listened are unknown; they were over.
  barrier.flips.resize(e.phase + 1, barrier.begun);
  barrier.flips[e.phase] = time;
  barrier.latest = barrier.begun = time;
  now_ = std::max(now_, time);
  return {.begin = time, .end = time, .barrier = place};
}

/// A wait found its phase not complete. The rounds of the loop around it are not work.
Moment Clock::look(const Event& e) {
  const BarrierPlace place = place_of(e.cta, e.address());
  WarpTime& warp = warp_of(e);
  if (warp.waiting != 0 && warp.waits_at == place && (e.lanes & ~warp.waiting) == 0) {
    warp.steps = std::max(warp.steps, e.steps);
  } else {
    warp.since = advance(e);
    warp.waits_at = place;
    warp.waiting = e.lanes;
  }
  return {.begin = warp.since, .end = warp.since, .barrier = place};
}

Moment Clock::pass(const Event& e) {
  const BarrierPlace place = place_of(e.cta, e.address());
  WarpTime& warp = warp_of(e);
  uint64_t asked = 0;
  if (warp.waiting != 0 && warp.waits_at == place && (e.lanes & ~warp.waiting) == 0) {
    asked = warp.since;
    warp.steps = std::max(warp.steps, e.steps);
    warp.waiting &= ~e.lanes;
  } else {
    asked = advance(e);
  }
  const Barrier& barrier = barriers_[place];
  const uint64_t completed = e.phase < barrier.flips.size() ? barrier.flips[e.phase] : 0;
  const uint64_t end = std::max(asked, completed);
  set(warp, e.lanes, end);
  return {.begin = asked, .end = end, .barrier = place};
}

// --- asynchronous operations --------------------------------------------------------------------------

Moment Clock::issue(const Event& e) {
  Cta& cta = ctas_[e.cta];
  const auto kind = static_cast<OperationKind>(e.value);
  if (kind == OperationKind::Wgmma) {
    const Warpgroup& group = cta.warpgroups[e.warp / kWarpgroupWarps];
    if (e.phase >= group.products.size()) return {.begin = now_, .end = now_};
    return {.begin = group.products[e.phase].first, .end = group.products[e.phase].second};
  }
  const uint64_t issued = advance(e);
  Lane& lane = warp_of(e).lanes[static_cast<uint32_t>(std::countr_zero(e.lanes)) % kLanes];
  uint64_t landed = issued, read = issued;
  switch (kind) {
    case OperationKind::CpAsync:
      landed = move_bytes(cta, issued, e.bytes, &read);
      lane.copies = std::max(lane.copies, landed);
      lane.cp_async.open = std::max(lane.cp_async.open, landed);
      break;
    case OperationKind::DeferredArrival:
    case OperationKind::DeferredArrivalNoinc:
      landed = std::max(issued, lane.copies);
      break;
    case OperationKind::BulkToGlobal:
      landed = move_bytes(cta, issued, e.bytes, &read);
      lane.bulk.open = std::max(lane.bulk.open, landed);
      lane.bulk_read.open = std::max(lane.bulk_read.open, read);
      break;
    case OperationKind::BulkToShared:
    case OperationKind::StoreAsync:
      landed = move_bytes(cta, issued, e.bytes, nullptr);
      break;
    case OperationKind::Wgmma:
    case OperationKind::Prefetch:
      break;
  }
  landings_[e.operation] = landed;
  return {.begin = issued, .end = landed, .barrier = place_of(e.cta, e.address())};
}

/// A product begins when all four warps have issued it and the one before it is over.
void Clock::issue_share(const Event& e) {
  const uint64_t time = advance(e);
  Cta& cta = ctas_[e.cta];
  WarpTime& warp = warp_of(e);
  ++warp.products;
  Warpgroup& group = cta.warpgroups[e.warp / kWarpgroupWarps];
  auto& [warps, latest] = group.issuing[e.phase];
  latest = std::max(latest, time);
  if (++warps < kWarpgroupWarps) return;
  const uint64_t begin = std::max(latest, cta.products_until);
  const uint64_t end = begin + (e.bytes + kProductBytesPerStep - 1) / kProductBytesPerStep;
  cta.products_until = end;
  group.products.resize(std::max<size_t>(group.products.size(), e.phase + 1));
  group.products[e.phase] = {begin, end};
  group.issuing.erase(e.phase);
  now_ = std::max(now_, end);
}

void Clock::Groups::commit() {
  committed.push_back(std::exchange(open, 0));
  if (committed.size() <= kGroupsKept) return;
  earlier = std::max(earlier, committed.front());
  committed.erase(committed.begin());
}

uint64_t Clock::Groups::all_but(size_t allowed) const {
  uint64_t latest = earlier;
  for (size_t i = 0; i + allowed < committed.size(); ++i) latest = std::max(latest, committed[i]);
  return latest;
}

void Clock::commit(const Event& e) {
  advance(e);
  WarpTime& warp = warp_of(e);
  switch (static_cast<GroupKind>(e.operation)) {
    case GroupKind::Wgmma:
      warp.product_groups.push_back(warp.products);
      break;
    case GroupKind::CpAsync:
      for_lanes(e.lanes, [&](uint32_t lane) { warp.lanes[lane].cp_async.commit(); });
      break;
    case GroupKind::Bulk:
      for_lanes(e.lanes, [&](uint32_t lane) {
        warp.lanes[lane].bulk.commit();
        warp.lanes[lane].bulk_read.commit();
      });
      break;
  }
}

Moment Clock::wait_for_group(const Event& e) {
  const uint64_t asked = advance(e);
  WarpTime& warp = warp_of(e);
  const auto allowed = static_cast<size_t>(std::max<int64_t>(e.value, 0));
  uint64_t end = asked;
  if (static_cast<GroupKind>(e.operation) == GroupKind::Wgmma) {
    const auto& products = ctas_[e.cta].warpgroups[e.warp / kWarpgroupWarps].products;
    const size_t groups = warp.product_groups.size();
    const uint64_t upto = groups > allowed ? warp.product_groups[groups - allowed - 1] : 0;
    if (upto != 0 && upto <= products.size()) end = std::max(end, products[upto - 1].second);
  } else {
    for_lanes(e.lanes, [&](uint32_t index) {
      const Lane& lane = warp.lanes[index];
      const bool is_bulk = static_cast<GroupKind>(e.operation) == GroupKind::Bulk;
      const Groups& groups = !is_bulk ? lane.cp_async : e.bytes != 0 ? lane.bulk_read : lane.bulk;
      end = std::max(end, groups.all_but(allowed));
      if (e.detail != 0) end = std::max(end, lane.copies);
    });
  }
  set(warp, e.lanes, end);
  return {.begin = asked, .end = end};
}

// --- barriers of threads ------------------------------------------------------------------------------

Moment Clock::named(const Event& e) {
  Cta& cta = ctas_[e.cta];
  Named& barrier = cta.named[e.value];
  if (e.kind != Kind::NamedComplete) {
    const uint64_t time = advance(e);
    barrier.latest = std::max(barrier.latest, time);
    if (e.kind == Kind::NamedWait) barrier.waiting.push_back({e.warp, e.lanes, time});
    return {.begin = time, .end = time};
  }
  const Named done = std::exchange(barrier, {});
  for (const Released& r : done.waiting) set(cta.warps[r.warp], r.lanes, done.latest);
  return {.begin = done.latest, .end = done.latest, .released = done.waiting};
}

Moment Clock::cluster(const Event& e) {
  const uint64_t time = advance(e);
  Cluster& cluster = clusters_[ctas_[e.cta].cluster];
  if (e.kind == Kind::ClusterArrive) {
    uint64_t& latest = cluster.arrivals[e.phase];
    latest = std::max(latest, time);
    return {.begin = time, .end = time};
  }
  const uint64_t end = std::max(time, cluster.arrivals[e.phase]);
  set(warp_of(e), e.lanes, end);
  return {.begin = time, .end = end};
}

Moment Clock::time_of(const Event& e) {
  switch (e.kind) {
    case Kind::CtaBegin:
      ctas_[e.cta].cluster = static_cast<uint32_t>(e.operation);
      ctas_[e.cta].rank = static_cast<uint32_t>(e.value);
      clusters_[static_cast<uint32_t>(e.operation)].ctas[static_cast<uint32_t>(e.value)] = e.cta;
      return {};
    case Kind::MbarrierInit:
    case Kind::MbarrierArrive:
    case Kind::MbarrierExpectTx:
    case Kind::MbarrierCompleteTx:
      return contribute(e);
    case Kind::MbarrierFlip:
      return flip(e);
    case Kind::MbarrierPending:
      return look(e);
    case Kind::MbarrierWait:
      return pass(e);
    case Kind::AsyncIssue:
      return issue(e);
    case Kind::AsyncComplete:
      landings_.erase(e.operation);
      return {};
    case Kind::WgmmaIssue:
      issue_share(e);
      return {};
    case Kind::GroupCommit:
      commit(e);
      return {};
    case Kind::GroupWait:
      return wait_for_group(e);
    case Kind::NamedArrive:
    case Kind::NamedWait:
    case Kind::NamedComplete:
      return named(e);
    case Kind::ClusterArrive:
    case Kind::ClusterWait:
      return cluster(e);
    case Kind::WarpSync:
    case Kind::LanesExit: {
      const uint64_t time = advance(e);
      return {.begin = time, .end = time};
    }
    default:
      return {};
  }
}

}  // namespace sluice::timeline
