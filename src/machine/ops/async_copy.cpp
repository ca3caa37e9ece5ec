// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous operations of single threads: cp.async with its groups and its arrival on an mbarrier,
// st.async and red.async. PTX ISA, "Data Movement and Conversion Instructions: cp.async", "st.async",
// "Parallel Synchronization and Communication Instructions: cp.async.mbarrier.arrive", "red.async".
#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <vector>

#include "base/lifetime.hpp"
#include "machine/bind.hpp"
#include "machine/definedness_watch.hpp"
#include "machine/ops/access.hpp"
#include "machine/ops/bulk_copy.hpp"
#include "machine/state.hpp"
#include "machine/units/copy.hpp"
#include "machine/units/emit.hpp"
#include "machine/units/reduce.hpp"

namespace sluice::machine {
namespace {

using Kind = ptx::Operand::Kind;
using ptx::Mod;
using ptx::Opcode;
using ptx::ScalarType;
using ptx::Space;

// --- cp.async -----------------------------------------------------------------------------------------

struct CopyOperands {
  Address destination, source;
  uint32_t bytes = 4;
  bool has_source_bytes = false;
  Location source_bytes = 0;
  bool has_ignore = false;
  uint32_t ignore = 0;  ///< predicate
  uint32_t ignore_flip = 0;
};

/// One lane's copy in flight.
struct LaneCopy {
  uint64_t from = 0;
  uint32_t to = 0;  ///< resolved
  uint32_t bytes = 0;
  uint32_t source_bytes = 0;  ///< the rest is filled with zeros
};

uint32_t group_of(Warp& w, uint32_t lane) {
  if (w.cp_async_group.empty()) w.cp_async_group.resize(kLanes);
  return w.cp_async_group[lane];
}

bool land_copy(Worker& worker, AsyncOp& op) {
  const auto& copy = op.as<LaneCopy>();
  const MbarrierPlace to = locate(op, copy.to);
  uint8_t* const memory = to.cta->shared.data() + to.offset;
  if (copy.source_bytes != 0) {
    const uint8_t* const from = worker.global_at(copy.from, copy.source_bytes, false);
    if (from == nullptr) {
      fail_operation(worker, op, FaultKind::IllegalAddress,
                     fmt::format("cp.async reads {} bytes at 0x{:x}, which are not all inside an allocation",
                                 copy.source_bytes, copy.from),
                     copy.from);
      return true;
    }
    emit_operation_access(worker, op, event::Kind::AsyncRead, event::Space::Global, copy.from,
                          copy.source_bytes);
    if (wants_data(worker)) std::memcpy(memory, from, copy.source_bytes);
    if (worker.definedness() != nullptr)
      worker.definedness()->copied(*to.cta, memory, from, copy.source_bytes);
  }
  if (worker.definedness() != nullptr)
    worker.definedness()->defined(*to.cta, memory + copy.source_bytes, copy.bytes - copy.source_bytes);
  if (wants_data(worker))
    std::memset(memory + copy.source_bytes, 0, copy.bytes - copy.source_bytes);
  else
    skip_data(worker, memory, copy.bytes);
  emit_operation_access(worker, op, event::Kind::AsyncWrite, event::Space::Shared,
                        shared_event_address(*to.cta, to.offset), copy.bytes);
  emit_complete(worker, op);
  return true;
}

Step copy(Warp& w, const Op& op, uint32_t lanes) {
  const auto& o = *static_cast<const CopyOperands*>(op.extra);
  uint64_t to[kLanes], from[kLanes];
  compute_addresses(w, o.destination, lanes, to);
  compute_addresses(w, o.source, lanes, from);
  const uint32_t ignored = o.has_ignore ? w.predicate(o.ignore) ^ o.ignore_flip : 0;
  Worker& worker = w.worker();
  // Copies that land at once and that nobody hears of need no operation of their own.
  const bool at_once =
      worker.launch().request->options.timing == CopyTiming::Early && worker.listener() == nullptr;
  AsyncOp item = make_operation(w, 0, AsyncKind::CpAsync, land_copy);
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    item.lane = lane;
    auto& c = item.as<LaneCopy>();
    c.bytes = c.source_bytes = o.bytes;
    if (o.has_source_bytes) c.source_bytes = std::min(w.u32(o.source_bytes)[lane], o.bytes);
    if (ignored >> lane & 1) c.source_bytes = 0;
    c.from = from[lane];
    if (!resolve_shared(w, o.destination, lane, to[lane], o.bytes, o.bytes, c.to)) return Step::Fault;
    if (c.source_bytes != 0 && c.from % o.bytes != 0) {
      return w.fault(
          FaultKind::MisalignedAddress,
          fmt::format("cp.async of {} bytes from global address 0x{:x}, which is not a multiple of {}",
                      o.bytes, c.from, o.bytes),
          lane, c.from);
    }
    if (at_once) {
      land_copy(worker, item);
      continue;
    }
    item.group = group_of(w, lane);
    item.bytes = o.bytes;
    worker.submit(item);
  }
  w.acted = true;
  return worker.failed() ? Step::Fault : Step::Next;
}

Result<Op> bind_copy(Binder& b) {
  CopyOperands o;
  Result<Address> to = bind_memory_address(b, b.operand(0), Space::shared);
  if (!to) return to.error();
  o.destination = *to;
  Result<Address> from = bind_memory_address(b, b.operand(1), Space::global);
  if (!from) return from.error();
  o.source = *from;
  o.bytes = static_cast<uint32_t>(b.immediate(b.operand(2), ScalarType::u32));
  if (o.bytes != 4 && o.bytes != 8 && o.bytes != 16) return b.unsupported("a size other than 4, 8 or 16");
  if (b.has(Mod::cg) && o.bytes != 16) return b.unsupported("a size other than 16 with .cg");
  // What follows is the source size or the predicate that ignores the source, then the cache policy.
  const uint32_t policies = b.has(Mod::L2__cache_hint) ? 1 : 0;
  if (b.count() > 3 + policies) {
    const ptx::Operand& extra = b.operand(3);
    if (b.is_register(extra) && b.reg(extra).type == ScalarType::pred) {
      o.has_ignore = true;
      o.ignore = b.predicate(extra);
      o.ignore_flip = extra.negate ? kAllLanes : 0;
    } else {
      Result<Location> bytes = b.source(extra, ScalarType::u32);
      if (!bytes) return bytes.error();
      o.has_source_bytes = true;
      o.source_bytes = *bytes;
    }
  }
  Op op = b.op(copy);
  op.extra = b.extra(std::move(o));
  return op;
}

Step commit(Warp& w, const Op&, uint32_t lanes) {
  if (w.cp_async_group.empty()) w.cp_async_group.resize(kLanes);
  for (uint32_t m = lanes; m != 0; m &= m - 1) ++w.cp_async_group[static_cast<size_t>(std::countr_zero(m))];
  emit_commit(w, lanes, GroupKind::CpAsync);
  return Step::Next;
}

/// Waits until at most `imm` committed groups are in flight; `small` = 1 also for copies that no group holds.
Step wait(Warp& w, const Op& op, uint32_t lanes) {
  Worker& worker = w.worker();
  if (worker.has_async() && !w.cp_async_group.empty()) {
    for (uint32_t m = lanes; m != 0; m &= m - 1) {
      const auto lane = static_cast<uint32_t>(std::countr_zero(m));
      const uint64_t limit = uint64_t{w.cp_async_group[lane]} + op.small;
      const auto allowed = static_cast<uint64_t>(op.imm);
      if (limit <= allowed) continue;
      if (worker.in_flight(w, lane, AsyncKind::CpAsync, static_cast<uint32_t>(limit - allowed), false)) {
        return w.block(Wait::CpAsyncGroup, allowed);
      }
    }
  }
  emit_group_wait(w, lanes, GroupKind::CpAsync, op.imm, false, op.small != 0);
  return Step::Next;
}

Result<Op> bind_commit(Binder& b) {
  return b.op(commit);
}

Result<Op> bind_wait(Binder& b) {
  Op op = b.op(wait);
  if (b.instruction().op == Opcode::cp_async_wait_all) {
    op.small = 1;
    return op;
  }
  if (!b.is_immediate(b.operand(0))) return b.unsupported("a group count that is not a constant");
  op.imm = static_cast<int64_t>(b.immediate(b.operand(0), ScalarType::u32));
  return op;
}

// --- cp.async.mbarrier.arrive -------------------------------------------------------------------------

struct DeferredArrival {
  uint32_t barrier = 0;  ///< resolved
};

/// Arrives once the copies that the lane had issued before have landed.
bool land_arrival(Worker& worker, AsyncOp& op) {
  const Warp& warp = *op.cta->warps[op.warp];
  if (worker.in_flight_before(warp, op.lane, AsyncKind::CpAsync, op.id)) return false;
  const MbarrierPlace place = locate(op, op.as<DeferredArrival>().barrier);
  event::Event agent;
  if (worker.listener() != nullptr) {
    agent = operation_event(worker, op, event::Kind::MbarrierArrive);
    const uint64_t address = shared_event_address(*place.cta, place.offset);
    agent.space = event::Space::Shared;
    agent.value = 1;
    agent.phase = mbarrier_completed(place);
    agent.addresses = std::span<const uint64_t>(&address, 1);
    if (event::Sink* const sink = listener_for(worker, event::Kind::MbarrierArrive)) sink->receive(agent);
    agent.addresses = {};
  }
  mbarrier_apply_operation(worker, op, place, MbarrierChange{.arrivals = 1}, agent);
  return true;
}

Step arrive(Warp& w, const Op& op, uint32_t lanes) {
  const auto& address = *static_cast<const Address*>(op.extra);
  const bool counted = op.small != 0;  // .noinc: the arrival is one of those that init announced
  uint64_t addresses[kLanes];
  compute_addresses(w, address, lanes, addresses);
  Worker& worker = w.worker();
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    const AsyncKind kind = counted ? AsyncKind::DeferredArrivalNoinc : AsyncKind::DeferredArrival;
    AsyncOp item = make_operation(w, lane, kind, land_arrival);
    auto& arrival = item.as<DeferredArrival>();
    if (!resolve_shared(w, address, lane, addresses[lane], 8, 8, arrival.barrier)) return Step::Fault;
    item.group = group_of(w, lane);
    item.signals = kSharedWindow | arrival.barrier;
    if (!counted) mbarrier_add_pending(locate(item, arrival.barrier));
    worker.submit(item);
  }
  w.acted = true;
  return Step::Next;
}

Result<Op> bind_arrive(Binder& b) {
  Result<Address> address = bind_memory_address(b, b.operand(0), b.mods().space());
  if (!address) return address.error();
  Op op = b.op(arrive);
  op.small = b.has(Mod::noinc) ? 1 : 0;
  op.extra = b.extra(*address);
  return op;
}

// --- st.async, red.async ------------------------------------------------------------------------------

struct StoreOperands {
  Address destination, barrier;
  Location value[4] = {};
  uint32_t count = 1;
  uint32_t width = 4;  ///< bytes of one element
  Reduction reduction = Reduction::None;
  ScalarType type = ScalarType::none;
};

struct LaneStore {
  uint32_t to = 0, barrier = 0;  ///< resolved
  uint32_t bytes = 0;
  Reduction reduction = Reduction::None;
  ScalarType type = ScalarType::none;
  uint8_t value[32] = {};
};

bool land_store(Worker& worker, AsyncOp& op) {
  const auto& store = op.as<LaneStore>();
  const MbarrierPlace to = locate(op, store.to);
  uint8_t* const memory = to.cta->shared.data() + to.offset;
  if (store.reduction == Reduction::None)
    std::memcpy(memory, store.value, store.bytes);
  else
    reduce_bytes(memory, store.value, store.bytes, store.reduction, store.type);
  // MODEL: the values count as defined, those of a check that follows definedness as well.
  if (worker.definedness() != nullptr && store.reduction == Reduction::None)
    worker.definedness()->defined(*to.cta, memory, store.bytes);
  // MODEL: without data, what lands here counts as payload, whatever it is made of.
  if (!wants_data(worker)) skip_data(worker, memory, store.bytes);
  emit_operation_access(worker, op, event::Kind::AsyncWrite, event::Space::Shared,
                        shared_event_address(*to.cta, to.offset), store.bytes);
  mbarrier_complete_tx(worker, op, locate(op, store.barrier), store.bytes);
  emit_complete(worker, op);
  return true;
}

Step store(Warp& w, const Op& op, uint32_t lanes) {
  const auto& o = *static_cast<const StoreOperands*>(op.extra);
  uint64_t to[kLanes], barrier[kLanes];
  compute_addresses(w, o.destination, lanes, to);
  compute_addresses(w, o.barrier, lanes, barrier);
  const uint32_t bytes = o.width * o.count;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    AsyncOp item = make_operation(w, lane, AsyncKind::StoreAsync, land_store);
    auto& s = item.as<LaneStore>();
    s.bytes = bytes;
    s.reduction = o.reduction;
    s.type = o.type;
    if (!resolve_shared(w, o.destination, lane, to[lane], bytes, bytes, s.to)) return Step::Fault;
    if (!resolve_shared(w, o.barrier, lane, barrier[lane], 8, 8, s.barrier)) return Step::Fault;
    item.bytes = bytes;
    item.reduces = o.reduction != Reduction::None;
    item.signals = kSharedWindow | s.barrier;
    for (uint32_t v = 0; v < o.count; ++v) {
      const uint64_t value = o.width == 8 ? w.u64(o.value[v])[lane] : w.u32(o.value[v])[lane];
      std::memcpy(s.value + size_t{v} * o.width, &value, o.width);
    }
    w.worker().submit(item);
  }
  w.acted = true;
  return Step::Next;
}

Result<Op> bind_store(Binder& b) {
  StoreOperands o;
  if (!b.has(Mod::mbarrier__complete_tx__bytes))
    return b.unsupported("this form needs a later device than sm_90");
  o.type = b.type();
  o.width = ptx::size_of(o.type);
  if (b.instruction().op == Opcode::red_async) o.reduction = reduction_of(b.mods());
  Result<Address> to = bind_memory_address(b, b.operand(0), b.mods().space());
  if (!to) return to.error();
  o.destination = *to;
  const ptx::Operand& value = b.operand(1);
  if (value.kind == Kind::Vector) {
    o.count = 0;
    for (const ptx::Operand& part : b.parts(value)) {
      Result<Location> location = b.source(part, o.type);
      if (!location) return location.error();
      o.value[o.count++] = *location;
    }
  } else {
    Result<Location> location = b.source(value, o.type);
    if (!location) return location.error();
    o.value[0] = *location;
  }
  Result<Address> barrier = bind_memory_address(b, b.operand(2), b.mods().space());
  if (!barrier) return barrier.error();
  o.barrier = *barrier;
  Op op = b.op(store);
  op.extra = b.extra(std::move(o));
  return op;
}

constexpr BindRow kRows[] = {
    {Opcode::cp_async, bind_copy},
    {Opcode::cp_async_commit_group, bind_commit},
    {Opcode::cp_async_wait_group, bind_wait},
    {Opcode::cp_async_wait_all, bind_wait},
    {Opcode::cp_async_mbarrier_arrive, bind_arrive},
    {Opcode::st_async, bind_store},
    {Opcode::red_async, bind_store},
};

}  // namespace

std::span<const BindRow> async_copy_rows() {
  static const auto& rows = immortal([] {
    std::vector<BindRow> all(std::begin(kRows), std::end(kRows));
    const auto bulk = bulk_copy_rows();
    all.insert(all.end(), bulk.begin(), bulk.end());
    return all;
  }());
  return rows;
}

}  // namespace sluice::machine
