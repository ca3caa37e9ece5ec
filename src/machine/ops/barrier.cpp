// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Named barriers, the cluster barrier, and fences. PTX ISA, "bar", "barrier", "barrier.cluster",
// "membar/fence".
//
// An aligned barrier instruction counts whole warps (32 threads, also for a last warp with fewer), the others
// count threads. A barrier without a thread count waits for every thread that has not exited. Memory is
// sequentially consistent here, so fences only tell the listener.
#include "machine/ops/barrier.hpp"

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "machine/bind.hpp"
#include "machine/ops/access.hpp"
#include "machine/ops/lanes.hpp"
#include "machine/units/emit.hpp"

namespace sluice::machine {
namespace {

using Kind = ptx::Operand::Kind;
using ptx::Mod;
using ptx::Opcode;
using ptx::ScalarType;

enum class Reduction : uint8_t { None, Count, And, Or };

struct Barrier {
  Location id = 0;
  Location threads = 0;
  bool has_threads = false;
  bool aligned = false;
  bool waits = true;
  Reduction reduction = Reduction::None;
  Location result = 0;  ///< vector (Count) or predicate index
  uint32_t predicate = 0;
  uint32_t predicate_flip = 0;
};

/// Result of barrier.red into the lanes of a split that waited for it.
void deliver(Worker& worker, Warp& w, const Split& split, const NamedBarrierState& state) {
  const FrameNode& node = w.frames[split.frame];
  const Op& op = worker.kernel().functions[node.function]->code[split.pc];
  const auto& barrier = *static_cast<const Barrier*>(op.extra);
  if (barrier.reduction == Reduction::None) return;
  uint8_t* const frame = w.registers.data() + w.register_shift + node.base;
  if (barrier.reduction == Reduction::Count) {
    auto* d = reinterpret_cast<uint32_t*>(frame + barrier.result);
    for_lanes(split.lanes, [&](int i) { d[i] = state.holds; });
  } else {
    const bool value = barrier.reduction == Reduction::And ? state.holds == state.arrived : state.holds != 0;
    uint32_t& d = reinterpret_cast<uint32_t*>(frame)[barrier.result];
    d = (d & ~split.lanes) | (value ? split.lanes : 0);
  }
}

/// Ends the open generation of barrier `id`.
void complete(Worker& worker, Cta& cta, uint32_t id) {
  NamedBarrierState& state = cta.named[id];
  for (auto& warp : cta.warps) {
    for (const Split& split : warp->splits) {
      if (split.wait == Wait::NamedBarrier && split.key == id) deliver(worker, *warp, split, state);
    }
  }
  if (event::Sink* const sink = listener_for(worker, event::Kind::NamedComplete)) {
    event::Event e;
    e.kind = event::Kind::NamedComplete;
    e.launch = worker.launch().ordinal;
    e.cta = cta.linear;
    e.value = id;
    e.phase = state.generation;
    sink->receive(e);
  }
  state.expected = 0;
  state.all_threads = false;
  state.arrived = 0;
  state.holds = 0;
  ++state.generation;
  worker.note_progress();
  worker.wake(cta, Wait::NamedBarrier, id);
}

Step named_barrier(Warp& w, const Op& op, uint32_t lanes) {
  const auto& barrier = *static_cast<const Barrier*>(op.extra);
  const bool alone = std::exchange(w.splits[w.current].goes_alone, false);
  if (barrier.aligned && !alone) {
    if (const Step s = w.rendezvous(kAllLanes); s != Step::Next) return s;
  }
  const auto first = static_cast<uint32_t>(std::countr_zero(lanes));
  const uint32_t id = w.u32(barrier.id)[first];
  if (id >= w.cta->named.size()) {
    return w.fault(FaultKind::IllegalInstruction, fmt::format("barrier {} does not exist (0 to 15 do)", id),
                   first);
  }
  // Lanes may name different barriers: one at a time.
  uint32_t same = 0;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    if (w.u32(barrier.id)[std::countr_zero(m)] == id) same |= 1u << std::countr_zero(m);
  }
  if (same != lanes) return w.worker().separate(w, same);

  NamedBarrierState& state = w.cta->named[id];
  // MODEL: a count of 0 means all threads, as on an H200; the ISA does not allow it.
  const uint32_t threads = barrier.has_threads ? w.u32(barrier.threads)[first] : 0;
  if (threads % 32 != 0) {
    return w.fault(FaultKind::IllegalInstruction,
                   fmt::format("barrier {} for {} threads, which is not a multiple of 32", id, threads),
                   first);
  }
  if (state.arrived == 0) {
    state.expected = threads;
    state.all_threads = threads == 0;
  }
  // MODEL: when counts of one generation disagree, the first one holds.
  state.arrived +=
      barrier.aligned && threads != 0 ? 32 : static_cast<uint32_t>(std::popcount(alone ? w.live : lanes));
  if (barrier.reduction != Reduction::None) {
    const uint32_t holds = (w.predicate(barrier.predicate) ^ barrier.predicate_flip) & lanes;
    state.holds += static_cast<uint32_t>(std::popcount(holds));
  }
  w.acted = true;
  const event::Kind kind = barrier.waits ? event::Kind::NamedWait : event::Kind::NamedArrive;
  if (event::Sink* const sink = listener_for(w.worker(), kind)) {
    event::Event e = warp_event(w, kind, lanes);
    e.semantics = event::Semantics::AcquireRelease;
    e.bytes = threads;
    e.value = id;
    e.phase = state.generation;
    sink->receive(e);
  }

  const bool full =
      state.all_threads ? state.arrived >= w.cta->live_threads : state.arrived >= state.expected;
  if (!full) return barrier.waits ? w.park(Wait::NamedBarrier, id, state.generation) : Step::Next;
  if (!barrier.waits) {
    complete(w.worker(), *w.cta, id);
    return Step::Next;
  }
  // The last to arrive gets its result like the others, and goes on.
  Split& split = w.splits[w.current];
  split.lanes = w.active;
  split.pc = w.pc;
  Split self = split;
  self.lanes = lanes;
  deliver(w.worker(), w, self, state);
  complete(w.worker(), *w.cta, id);
  return Step::Next;
}

Result<Op> bind_named(Binder& b) {
  Barrier barrier;
  const Opcode opcode = b.instruction().op;
  const bool arrives = opcode == Opcode::bar_arrive || opcode == Opcode::barrier_arrive;
  const bool reduces = opcode == Opcode::bar_red || opcode == Opcode::barrier_red;
  const bool is_bar = opcode == Opcode::bar_sync || opcode == Opcode::bar_arrive || opcode == Opcode::bar_red;
  barrier.aligned = is_bar || b.has(Mod::aligned);
  barrier.waits = !arrives;

  uint32_t at = 0;
  if (reduces) {
    if (b.has(Mod::popc)) {
      barrier.reduction = Reduction::Count;
      barrier.result = b.destination(0);
    } else {
      barrier.reduction = b.has(Mod::and_) ? Reduction::And : Reduction::Or;
      barrier.result = b.predicate(0);
    }
    at = 1;
  }
  Result<Location> id = b.source(at, ScalarType::u32);
  if (!id) return id.error();
  barrier.id = *id;
  ++at;
  const uint32_t tail = reduces ? 1 : 0;
  if (b.count() > at + tail) {
    Result<Location> threads = b.source(at, ScalarType::u32);
    if (!threads) return threads.error();
    barrier.threads = *threads;
    barrier.has_threads = true;
    ++at;
  }
  if (reduces) {
    const ptx::Operand& p = b.operand(at);
    if (p.kind != Kind::Register) return b.unsupported("a constant predicate");
    barrier.predicate = b.predicate(p);
    barrier.predicate_flip = p.negate ? kAllLanes : 0;
  }
  Op op = b.op(named_barrier);
  op.extra = b.extra(barrier);
  return op;
}

// --- the cluster barrier
// ----------------------------------------------------------------------------------------------

void complete_cluster(Worker& worker, Cluster& cluster) {
  if (cluster.arrived == 0 || cluster.arrived < cluster.live_threads()) return;
  cluster.arrived = 0;
  ++cluster.phase;
  worker.wake_cluster(cluster);
}

void emit_cluster(Warp& w, event::Kind kind, uint32_t lanes, uint64_t phase, event::Semantics semantics) {
  event::Sink* const sink = listener_for(w.worker(), kind);
  if (sink == nullptr) return;
  event::Event e = warp_event(w, kind, lanes);
  e.semantics = semantics;
  e.scope = event::Scope::Cluster;
  e.phase = phase;
  sink->receive(e);
}

Step cluster_arrive(Warp& w, const Op& op, uint32_t lanes) {
  if (op.small != 0) {
    if (const Step s = w.rendezvous(kAllLanes); s != Step::Next) return s;
  }
  Cluster& cluster = *w.cta->cluster;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    if (w.cluster_arrivals[lane] > cluster.phase) {
      return w.fault(FaultKind::IllegalInstruction, "a second barrier.cluster.arrive without a wait between",
                     lane);
    }
    w.cluster_arrivals[lane] = cluster.phase + 1;
  }
  cluster.arrived += static_cast<uint32_t>(std::popcount(lanes));
  w.acted = true;
  emit_cluster(w, event::Kind::ClusterArrive, lanes, cluster.phase,
               op.more != 0 ? event::Semantics::Relaxed : event::Semantics::Release);
  complete_cluster(w.worker(), cluster);
  return Step::Next;
}

Step cluster_wait(Warp& w, const Op& op, uint32_t lanes) {
  if (op.small != 0) {
    if (const Step s = w.rendezvous(kAllLanes); s != Step::Next) return s;
  }
  const Cluster& cluster = *w.cta->cluster;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    if (w.cluster_arrivals[std::countr_zero(m)] > cluster.phase) return w.block(Wait::ClusterBarrier, 0);
  }
  emit_cluster(w, event::Kind::ClusterWait, lanes, cluster.phase - 1, event::Semantics::Acquire);
  return Step::Next;
}

Result<Op> bind_cluster(Binder& b) {
  const bool arrives = b.instruction().op == Opcode::barrier_cluster_arrive;
  Op op = b.op(arrives ? cluster_arrive : cluster_wait);
  op.small = b.has(Mod::aligned) ? 1 : 0;
  op.more = b.has(Mod::relaxed) ? 1 : 0;
  return op;
}

// --- fences
// -------------------------------------------------------------------------------------------------------------

/// `small` is the event's kind, `e` its proxy, `more` its semantics, `imm` its scope.
Step fence(Warp& w, const Op& op, uint32_t lanes) {
  const auto kind = static_cast<event::Kind>(op.small);
  if (event::Sink* const sink = listener_for(w.worker(), kind)) {
    event::Event e = warp_event(w, kind, lanes);
    e.proxy = static_cast<event::Proxy>(op.e);
    e.semantics = static_cast<event::Semantics>(op.more);
    e.scope = static_cast<event::Scope>(op.imm);
    sink->receive(e);
  }
  return Step::Next;
}

Result<Op> bind_fence(Binder& b) {
  Op op = b.op(fence);
  event::Kind kind = event::Kind::Fence;
  event::Proxy proxy = event::Proxy::Generic;
  if (b.instruction().op == Opcode::fence_mbarrier_init) kind = event::Kind::InitFence;
  if (b.instruction().op == Opcode::fence_proxy) {
    kind = event::Kind::ProxyFence;
    proxy = b.has(Mod::alias)                ? event::Proxy::Alias
            : b.has(Mod::tensormap__generic) ? event::Proxy::Tensormap
                                             : event::Proxy::Async;
  }
  op.small = static_cast<uint32_t>(kind);
  op.e = static_cast<uint32_t>(proxy);
  event::Semantics semantics = semantics_of(b.mods());
  if (semantics == event::Semantics::Weak) semantics = event::Semantics::SequentiallyConsistent;
  op.more = static_cast<uint32_t>(semantics);
  event::Scope scope = scope_of(b.mods());
  if (b.instruction().op == Opcode::membar && b.has(Mod::gl)) scope = event::Scope::Gpu;
  op.imm = static_cast<int64_t>(scope);
  return op;
}

constexpr BindRow kRows[] = {
    {Opcode::bar_sync, bind_named},
    {Opcode::bar_arrive, bind_named},
    {Opcode::bar_red, bind_named},
    {Opcode::barrier_sync, bind_named},
    {Opcode::barrier_arrive, bind_named},
    {Opcode::barrier_red, bind_named},
    {Opcode::barrier_cluster_arrive, bind_cluster},
    {Opcode::barrier_cluster_wait, bind_cluster},
    {Opcode::membar, bind_fence},
    {Opcode::fence, bind_fence},
    {Opcode::fence_proxy, bind_fence},
    {Opcode::fence_mbarrier_init, bind_fence},
};

}  // namespace

std::span<const BindRow> barrier_rows() {
  return kRows;
}

void settle_barriers(Worker& worker, Warp& warp, uint32_t exited) {
  Cta& cta = *warp.cta;
  for (uint32_t id = 0; id < cta.named.size(); ++id) {
    const NamedBarrierState& state = cta.named[id];
    if (state.all_threads && state.arrived != 0 && state.arrived >= cta.live_threads)
      complete(worker, cta, id);
  }
  Cluster& cluster = *cta.cluster;
  for (uint32_t m = exited; m != 0; m &= m - 1) {
    if (warp.cluster_arrivals[std::countr_zero(m)] > cluster.phase) --cluster.arrived;
  }
  complete_cluster(worker, cluster);
}

bool waits_for_own_warp(const Worker& worker, const Warp& warp, const Split& split) {
  if (split.wait != Wait::Rendezvous) return false;
  const BoundFunction& function = *worker.kernel().functions[warp.frames[split.frame].function];
  return function.code[split.pc].run == named_barrier;
}

}  // namespace sluice::machine
