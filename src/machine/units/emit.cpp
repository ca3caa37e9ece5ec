// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Events that are rare or come from the scheduler.
#include "machine/units/emit.hpp"

namespace sluice::machine {
namespace {

event::Waiting waiting_of(Wait wait) {
  using event::Waiting;
  switch (wait) {
    case Wait::None:
      return Waiting::Loop;
    case Wait::Mbarrier:
      return Waiting::Mbarrier;
    case Wait::NamedBarrier:
      return Waiting::NamedBarrier;
    case Wait::ClusterBarrier:
      return Waiting::ClusterBarrier;
    case Wait::Rendezvous:
      return Waiting::Rendezvous;
    case Wait::WarpSync:
      return Waiting::WarpSync;
    case Wait::BulkGroup:
      return Waiting::BulkGroup;
    case Wait::CpAsyncGroup:
      return Waiting::CpAsyncGroup;
    case Wait::Wgmma:
      return Waiting::Wgmma;
    case Wait::Registers:
      return Waiting::Registers;
    case Wait::Sleep:
      return Waiting::Sleep;
    case Wait::Dependency:
      return Waiting::Dependency;
  }
  return Waiting::Loop;
}

event::Event event_of(Worker& worker, const Cta& cta, event::Kind kind) {
  event::Event e;
  e.kind = kind;
  e.launch = worker.launch().ordinal;
  e.cta = cta.linear;
  return e;
}

}  // namespace

void Warp::tell_rendezvous() {
  if (event::Sink* const sink = listener_for(worker(), event::Kind::WarpSync))
    sink->receive(warp_event(*this, event::Kind::WarpSync, active));
}

void emit_issue(Worker& worker, const AsyncOp& op) {
  event::Sink* const sink = listener_for(worker, event::Kind::AsyncIssue);
  if (sink == nullptr) return;
  event::Event e = operation_event(worker, op, event::Kind::AsyncIssue);
  e.value = static_cast<int64_t>(op.kind);
  e.steps = op.cta->warps[op.warp]->steps;
  e.bytes = op.bytes;
  e.phase = op.group;
  e.detail = op.ranks;
  if (op.signals != 0) e.addresses = std::span<const uint64_t>(&op.signals, 1);
  sink->receive(e);
}

void emit_free(Warp& w, uint32_t lane, uint64_t first, uint64_t bytes) {
  event::Sink* const sink = listener_for(w.worker(), event::Kind::HeapFree);
  if (sink == nullptr) return;
  event::Event e = warp_event(w, event::Kind::HeapFree, uint32_t{1} << lane);
  e.value = static_cast<int64_t>(bytes);
  e.addresses = std::span<const uint64_t>(&first, 1);
  sink->receive(e);
}

void emit_broken_rule(Warp& w, uint32_t lanes, const event::BrokenRule& rule) {
  event::Sink* const sink = listener_for(w.worker(), event::Kind::BrokenRule);
  if (sink == nullptr) return;
  event::Event e = warp_event(w, event::Kind::BrokenRule, lanes);
  e.rule = &rule;
  sink->receive(e);
}

void emit_commit(Warp& w, uint32_t lanes, GroupKind kind) {
  event::Sink* const sink = listener_for(w.worker(), event::Kind::GroupCommit);
  if (sink == nullptr) return;
  event::Event e = warp_event(w, event::Kind::GroupCommit, lanes);
  e.operation = static_cast<uint64_t>(kind);
  sink->receive(e);
}

void emit_group_wait(Warp& w, uint32_t lanes, GroupKind kind, int64_t allowed, bool source_only, bool all) {
  event::Sink* const sink = listener_for(w.worker(), event::Kind::GroupWait);
  if (sink == nullptr) return;
  event::Event e = warp_event(w, event::Kind::GroupWait, lanes);
  e.operation = static_cast<uint64_t>(kind);
  e.value = allowed;
  e.bytes = source_only ? 1 : 0;
  e.detail = all ? 1 : 0;
  sink->receive(e);
}

void emit_cta_begin(Worker& worker, const Cta& cta) {
  if (event::Sink* const sink = listener_for(worker, event::Kind::CtaBegin)) {
    event::Event e = event_of(worker, cta, event::Kind::CtaBegin);
    e.value = cta.rank;
    e.operation = cta.cluster->linear;
    e.bytes = static_cast<uint32_t>(cta.shared.size());
    sink->receive(e);
  }
  event::Sink* const sink = listener_for(worker, event::Kind::WarpBegin);
  for (size_t i = 0; sink != nullptr && i < cta.warps.size(); ++i) {
    event::Event e = event_of(worker, cta, event::Kind::WarpBegin);
    e.warp = cta.warps[i]->index;
    e.lanes = cta.warps[i]->threads;
    sink->receive(e);
  }
}

void emit_exit(Worker& worker, const Warp& warp, uint32_t lanes) {
  if (event::Sink* const sink = listener_for(worker, event::Kind::LanesExit)) {
    event::Event e = event_of(worker, *warp.cta, event::Kind::LanesExit);
    e.warp = warp.index;
    e.lanes = lanes;
    e.steps = warp.steps;
    if (!warp.frames.empty()) e.origin = origin_at(worker, warp.frames[warp.frame_node].function, warp.pc);
    sink->receive(e);
  }
  event::Sink* const sink = listener_for(worker, event::Kind::CtaEnd);
  if (sink != nullptr && warp.cta->ended()) sink->receive(event_of(worker, *warp.cta, event::Kind::CtaEnd));
}

void emit_stuck(Worker& worker, const Cluster& cluster) {
  event::Sink* const sink = listener_for(worker, event::Kind::Stuck);
  if (sink == nullptr) return;
  for (const auto& cta : cluster.ctas) {
    for (const auto& warp : cta->warps) {
      for (const Split& split : warp->splits) {
        event::Event e = event_of(worker, *cta, event::Kind::Stuck);
        e.warp = warp->index;
        e.lanes = split.lanes;
        e.origin = origin_at(worker, warp->frames[split.frame].function, split.pc);
        e.value = static_cast<int64_t>(waiting_of(split.wait));
        e.phase = split.key;
        const uint64_t barrier = shared_event_address(*cta, static_cast<uint32_t>(split.key));
        if (split.wait == Wait::Mbarrier) {
          e.phase = split.value & 1;
          e.addresses = std::span<const uint64_t>(&barrier, 1);
        } else if (split.wait == Wait::WarpSync) {
          e.phase = split.value;
        }
        sink->receive(e);
      }
    }
  }
}

}  // namespace sluice::machine
