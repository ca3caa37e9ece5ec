// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous operations: what they know when they start, and what a wait for their groups teaches.
#include <algorithm>
#include <bit>

#include "check/order.hpp"

namespace sluice::check {

using event::Event;
using event::GroupKind;
using event::OperationKind;

namespace {

constexpr uint32_t kWarpsOfGroup = 4;
constexpr size_t kMostStarts = 64;  ///< of products, kept for those who still wait for them

}  // namespace

std::shared_ptr<const Knowledge> Order::shared_start(WarpOrder& warp, uint32_t lanes) {
  const Start start = start_now(warp, lanes);
  auto own = std::make_shared<Knowledge>(*start.base);
  raise(*own, start.agent, start.lanes, start.time);
  return own;
}

Start Order::start_now(WarpOrder& warp, uint32_t lanes) {
  Start start{.base = nullptr, .agent = warp.agent, .lanes = lanes, .time = 0, .cta = warp.cta};
  for_strands(warp, lanes, [&](Strand& strand, uint32_t) {
    start.time = std::max(start.time, strand.hand_over());
    if (strand.snapshot == nullptr) {
      auto copy = std::make_shared<Knowledge>(strand.known);
      if (warp.uses_groups) add_own(*copy, warp, strand.lanes, 0);
      strand.snapshot = std::move(copy);
    }
    start.base = strand.snapshot;
  });
  if (start.base == nullptr) start.base = std::make_shared<const Knowledge>();
  return start;
}

const Order::Operation* Order::find_operation(uint64_t id) const {
  const auto found = operations_.find(id);
  return found == operations_.end() ? nullptr : &found->second;
}

void Order::issue(const Event& e) {
  CtaOrder& cta = *ctas_[e.cta];
  if (cta.warps.empty()) return;
  WarpOrder& w = cta.warps[e.warp];
  Operation op;
  op.kind = static_cast<OperationKind>(e.value);
  op.cta = e.cta;
  op.warp = e.warp;
  op.lanes = e.lanes;
  op.origin = e.origin;
  op.group = e.phase;
  op.ranks = e.detail;
  op.signals = e.addresses.empty() ? 0 : e.addresses[0];
  const auto ensure = [&](AgentId& agent, AgentKind kind) {
    if (agent == 0) agent = new_agent({kind, e.cta, e.warp});
    w.uses_groups = true;
  };
  switch (op.kind) {
    case OperationKind::CpAsync:
    case OperationKind::DeferredArrival:
    case OperationKind::DeferredArrivalNoinc:
      ensure(w.cp_async, AgentKind::CpAsync);
      break;
    case OperationKind::BulkToGlobal:
      ensure(w.bulk_reads, AgentKind::BulkReads);
      ensure(w.bulk_writes, AgentKind::BulkWrites);
      break;
    default:
      break;
  }
  if (op.kind == OperationKind::Wgmma) {
    CtaOrder::Warpgroup& group = cta.warpgroups[e.warp / kWarpsOfGroup];
    std::shared_ptr<const Knowledge> base = group.issued[0].front();
    bool same = true;
    for (const auto& queue : group.issued) same &= queue.front() == base;
    if (!same) {
      auto all = std::make_shared<Knowledge>(*base);
      for (size_t i = 1; i < group.issued.size(); ++i) join(*all, *group.issued[i].front());
      base = std::move(all);
    }
    for (auto& queue : group.issued) queue.pop_front();
    group.started.emplace_back(op.group, base);
    if (group.started.size() > kMostStarts) group.started.pop_front();
    op.start = Start{.base = std::move(base), .cta = e.cta};
  } else {
    op.start = start_now(w, e.lanes);
  }
  operations_[e.operation] = std::move(op);
}

void Order::wgmma_issue(const Event& e) {
  CtaOrder& cta = *ctas_[e.cta];
  WarpOrder& w = warp(e);
  if (cta.warpgroups.size() <= e.warp / kWarpsOfGroup) cta.warpgroups.resize(e.warp / kWarpsOfGroup + 1);
  CtaOrder::Warpgroup& group = cta.warpgroups[e.warp / kWarpsOfGroup];
  if (group.agent == 0) group.agent = new_agent({AgentKind::Wgmma, e.cta, e.warp / kWarpsOfGroup});
  group.issued[e.warp % kWarpsOfGroup].push_back(shared_start(w, e.lanes));
  w.wgmma_issued = e.phase + 1;
}

void Order::commit(const Event& e) {
  WarpOrder& w = warp(e);
  if (static_cast<GroupKind>(e.operation) == GroupKind::Wgmma) {
    w.wgmma_commits.push_back(w.wgmma_issued);
    if (w.wgmma_commits.size() > kMostStarts) w.wgmma_commits.pop_front();
    return;
  }
  auto& groups = static_cast<GroupKind>(e.operation) == GroupKind::Bulk ? w.bulk_groups : w.cp_async_groups;
  for (uint32_t m = e.lanes; m != 0; m &= m - 1) ++groups[static_cast<size_t>(std::countr_zero(m))];
}

void Order::group_wait(const Event& e) {
  WarpOrder& w = warp(e);
  const auto kind = static_cast<GroupKind>(e.operation);
  const auto allowed = static_cast<uint64_t>(e.value);
  if (kind == GroupKind::Wgmma) {
    if (w.wgmma_commits.size() <= allowed) return;
    const uint64_t done = w.wgmma_commits[w.wgmma_commits.size() - 1 - allowed];
    if (done == 0) return;  // groups without a product
    CtaOrder::Warpgroup& group = ctas_[e.cta]->warpgroups[e.warp / kWarpsOfGroup];
    std::shared_ptr<const Knowledge> started;
    for (const auto& [ordinal, start] : group.started) {
      if (ordinal < done) started = start;
    }
    for_split(w, e.lanes, [&](Strand& strand) {
      if (strand.known.order.covers(agents_, group.agent, kAllLanes, static_cast<Time>(done))) return;
      if (started != nullptr) join(strand.known, *started);
      raise(strand.known, group.agent, kAllLanes, static_cast<Time>(done));
      strand.changed();
    });
    return;
  }
  const auto& groups = kind == GroupKind::Bulk ? w.bulk_groups : w.cp_async_groups;
  for (uint32_t m = e.lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<size_t>(std::countr_zero(m));
    const uint64_t closed = uint64_t{groups[lane]} + e.detail;
    const auto done = static_cast<Time>(closed > allowed ? closed - allowed : 0);
    const auto raise = [&](std::array<Time, kLanes>& waited) { waited[lane] = std::max(waited[lane], done); };
    if (kind == GroupKind::CpAsync) {
      raise(w.cp_async_waited);
    } else {
      raise(w.reads_waited);
      if (e.bytes == 0) raise(w.writes_waited);
    }
  }
  for_strands(w, e.lanes, [](Strand& strand, uint32_t) {
    strand.touched = true;  // there is something to hand over
    strand.changed();
  });
}

}  // namespace sluice::check
