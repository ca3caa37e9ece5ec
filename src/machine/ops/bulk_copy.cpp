// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Bulk copies of plain bytes: between global memory, the CTA's shared memory and that of the cluster, with or
// without a reduction, and the bulk groups that stores are waited for with. PTX ISA, "Data Movement and
// Conversion Instructions: cp.async.bulk", "cp.reduce.async.bulk", "cp.async.bulk.commit_group",
// "cp.async.bulk.wait_group".
#include "machine/ops/bulk_copy.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <mutex>
#include <string>

#include "machine/definedness_watch.hpp"
#include "machine/device.hpp"
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

constexpr uint32_t kChunk = 16;  ///< addresses are multiples of it, and whole chunks are copied

enum class Way : uint8_t { GlobalToShared, SharedToShared, SharedToGlobal };

/// The instruction, as bound.
struct BulkOperands {
  Way way{};
  Reduction reduction = Reduction::None;
  ScalarType type = ScalarType::none;
  bool multicast = false;
  Address destination, source, barrier;
  Location bytes = 0;
  Location mask = 0;
};

/// One copy in flight.
struct BulkCopy {
  uint64_t global = 0;
  uint32_t shared = 0;   ///< resolved: the shared side of a copy from or to global memory, else the source
  uint32_t target = 0;   ///< resolved: destination in the cluster's shared memory
  uint32_t barrier = 0;  ///< resolved
  uint32_t bytes = 0;
  uint32_t done = 0;
  uint16_t mask = 0;
  bool multicast = false;
  Way way{};
  Reduction reduction = Reduction::None;
  ScalarType type = ScalarType::none;
};

void deliver(Worker& worker, const AsyncOp& op, uint8_t* to, const uint8_t* from, uint32_t bytes,
             const BulkCopy& copy) {
  if (DefinednessWatch* const watch = worker.definedness()) {
    watch->copied(*op.cta, to, from, bytes, copy.reduction != Reduction::None);
    if (copy.way == Way::SharedToGlobal) watch->judge_store(worker, op, watch->marks(*op.cta, to), bytes);
  }
  if (!wants_data(worker)) return skip_data(worker, to, bytes);
  if (copy.reduction == Reduction::None)
    std::memmove(to, from, bytes);
  else
    reduce_bytes(to, from, bytes, copy.reduction, copy.type);
}

bool outside(Worker& worker, const AsyncOp& op, const char* what, uint64_t address, uint32_t bytes) {
  fail_operation(worker, op, FaultKind::IllegalAddress,
                 fmt::format("a bulk copy {} {} bytes at 0x{:x}, which are not all inside an allocation",
                             what, bytes, address),
                 address);
  return true;
}

/// Lands the next piece; true when the copy is complete (or has failed).
bool land(Worker& worker, AsyncOp& op) {
  auto& copy = op.as<BulkCopy>();
  const uint32_t chunks = copy.bytes / kChunk;
  const uint32_t piece = std::min(piece_of(worker, chunks) * kChunk, copy.bytes - copy.done);
  const uint64_t global = copy.global + copy.done;
  const uint32_t at = copy.done;
  copy.done += piece;

  switch (copy.way) {
    case Way::GlobalToShared: {
      const uint8_t* const from = worker.global_at(global, piece, false);
      if (from == nullptr) return outside(worker, op, "reads", global, piece);
      emit_operation_access(worker, op, event::Kind::AsyncRead, event::Space::Global, global, piece);
      for (uint32_t ranks = target_ranks(copy.multicast, copy.mask, copy.target); ranks != 0;
           ranks &= ranks - 1) {
        const MbarrierPlace to =
            locate_in(op, static_cast<uint32_t>(std::countr_zero(ranks)), copy.target + at);
        deliver(worker, op, to.cta->shared.data() + to.offset, from, piece, copy);
        emit_operation_access(worker, op, event::Kind::AsyncWrite, event::Space::Shared,
                              shared_event_address(*to.cta, to.offset), piece);
        const MbarrierPlace barrier =
            copy.multicast ? locate_in(op, to.cta->rank, copy.barrier) : locate(op, copy.barrier);
        mbarrier_complete_tx(worker, op, barrier, piece);
      }
      break;
    }
    case Way::SharedToShared: {
      const MbarrierPlace from = locate(op, copy.shared + at);
      const MbarrierPlace to = locate(op, copy.target + at);
      emit_operation_access(worker, op, event::Kind::AsyncRead, event::Space::Shared,
                            shared_event_address(*from.cta, from.offset), piece);
      deliver(worker, op, to.cta->shared.data() + to.offset, from.cta->shared.data() + from.offset, piece,
              copy);
      emit_operation_access(worker, op, event::Kind::AsyncWrite, event::Space::Shared,
                            shared_event_address(*to.cta, to.offset), piece);
      mbarrier_complete_tx(worker, op, locate(op, copy.barrier), piece);
      break;
    }
    case Way::SharedToGlobal: {
      const MbarrierPlace from = locate(op, copy.shared + at);
      uint8_t* const to = worker.global_at(global, piece, true);
      if (to == nullptr) return outside(worker, op, "writes", global, piece);
      emit_operation_access(worker, op, event::Kind::AsyncRead, event::Space::Shared,
                            shared_event_address(*from.cta, from.offset), piece);
      deliver(worker, op, to, from.cta->shared.data() + from.offset, piece, copy);
      emit_operation_access(worker, op, event::Kind::AsyncWrite, event::Space::Global, global, piece);
      break;
    }
  }
  if (copy.done < copy.bytes) return false;
  emit_complete(worker, op);
  return true;
}

/// An H200 leaves out what is not a whole chunk, and says nothing. Without a checker the report of a launch
/// that gets stuck tells it.
void judge_size(Warp& w, uint32_t lane, uint32_t bytes) {
  if (bytes % kChunk == 0) return;
  const uint32_t moved = bytes / kChunk * kChunk;
  event::BrokenRule rule;
  rule.name = "tma-misaligned";
  rule.headline = fmt::format("the size of a bulk copy is {} bytes, not a multiple of {}", bytes, kChunk);
  rule.label = fmt::format("{} bytes", bytes);
  rule.why =
      fmt::format("a bulk copy moves whole pieces of {} bytes; a GPU moves {} bytes here and counts as many",
                  kChunk, moved);
  rule.help =
      "make sizes (and what expect_tx announces) multiples of 16, and move the rest with ordinary loads";
  if (w.worker().listener() != nullptr) return emit_broken_rule(w, uint32_t{1} << lane, rule);
  LaunchContext& launch = w.worker().launch();
  const std::lock_guard lock(launch.mutex);
  if (!launch.remark.empty()) return;
  const Fault here = w.fault_here(FaultKind::None, {}, lane, 0);
  launch.remark = fmt::format("{}: {}: {} are moved\n",
                              launch.device->place(w.worker().kernel(), here.function, here.instruction),
                              rule.headline, moved);
}

/// Checks one lane's copy and hands it over. False after a fault.
bool issue(Warp& w, const BulkOperands& o, uint32_t lane, const uint64_t (&destination)[kLanes],
           const uint64_t (&source)[kLanes], const uint64_t (&barrier)[kLanes]) {
  BulkCopy copy;
  copy.way = o.way;
  copy.reduction = o.reduction;
  copy.type = o.type;
  copy.multicast = o.multicast;
  copy.bytes = w.u32(o.bytes)[lane] / kChunk * kChunk;
  judge_size(w, lane, w.u32(o.bytes)[lane]);
  if (o.multicast && !take_multicast_mask(w, lane, w.u32(o.mask)[lane], copy.mask)) return false;
  const bool to_global = o.way == Way::SharedToGlobal;
  if (o.way != Way::SharedToShared) {
    copy.global = to_global ? destination[lane] : source[lane];
    if (copy.global % kChunk != 0) {
      w.fault(FaultKind::MisalignedAddress,
              fmt::format("the global address 0x{:x} of a bulk copy is not a multiple of {}", copy.global,
                          kChunk),
              lane, copy.global, "tma-misaligned");
      return false;
    }
  }
  ++w.worker().statistics().copies;
  if (is_lost(to_global ? o.source : o.destination, to_global ? source[lane] : destination[lane]))
    return true;
  if (o.way != Way::GlobalToShared &&
      !resolve_shared(w, o.source, lane, source[lane], copy.bytes, kChunk, copy.shared))
    return false;
  if (!to_global) {
    if (!resolve_shared(w, o.destination, lane, destination[lane], copy.bytes, kChunk, copy.target))
      return false;
    if (!resolve_shared(w, o.barrier, lane, barrier[lane], 8, 8, copy.barrier)) return false;
  }
  AsyncOp op = make_operation(w, lane, to_global ? AsyncKind::BulkToGlobal : AsyncKind::BulkToShared, land);
  if (to_global) op.group = bulk_group_of(w, lane);
  op.bytes = copy.bytes;
  op.ranks = copy.mask;
  op.reduces = o.reduction != Reduction::None;
  if (!to_global) op.signals = kSharedWindow | copy.barrier;
  op.as<BulkCopy>() = copy;
  if (copy.bytes != 0) w.worker().submit(op);
  return true;
}

Step bulk_copy(Warp& w, const Op& op, uint32_t lanes) {
  const auto& o = *static_cast<const BulkOperands*>(op.extra);
  uint64_t destination[kLanes], source[kLanes], barrier[kLanes] = {};
  compute_addresses(w, o.destination, lanes, destination);
  compute_addresses(w, o.source, lanes, source);
  if (o.way != Way::SharedToGlobal) compute_addresses(w, o.barrier, lanes, barrier);
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    if (!issue(w, o, static_cast<uint32_t>(std::countr_zero(m)), destination, source, barrier))
      return Step::Fault;
  }
  w.acted = true;
  return w.worker().failed() ? Step::Fault : Step::Next;
}

Result<Op> bind_bulk_copy(Binder& b) {
  BulkOperands o;
  const Space to = b.mods().space(0);
  const Space from = b.mods().space(1);
  o.way = to == Space::global     ? Way::SharedToGlobal
          : from == Space::global ? Way::GlobalToShared
                                  : Way::SharedToShared;
  if (b.has(Mod::cp_mask)) return b.unsupported("a byte mask");
  if (b.instruction().op == Opcode::cp_reduce_async_bulk) {
    o.reduction = reduction_of(b.mods());
    o.type = b.type();
  }
  o.multicast = b.has(Mod::multicast__cluster);
  Result<Address> destination = bind_memory_address(b, b.operand(0), to);
  if (!destination) return destination.error();
  o.destination = *destination;
  Result<Address> source = bind_memory_address(b, b.operand(1), from);
  if (!source) return source.error();
  o.source = *source;
  Result<Location> bytes = b.source(2, ScalarType::u32);
  if (!bytes) return bytes.error();
  o.bytes = *bytes;
  if (o.way != Way::SharedToGlobal) {
    Result<Address> barrier = bind_memory_address(b, b.operand(3), to);
    if (!barrier) return barrier.error();
    o.barrier = *barrier;
    if (o.multicast) {
      Result<Location> mask = b.source(4, ScalarType::b16);
      if (!mask) return mask.error();
      o.mask = *mask;
    }
  }
  Op op = b.op(bulk_copy);
  op.extra = b.extra(std::move(o));
  return op;
}

// --- prefetch -----------------------------------------------------------------------------------------

/// A hint to the L2 cache, which the machine has not.
Step nothing(Warp&, const Op&, uint32_t) {
  return Step::Next;
}

Result<Op> bind_nothing(Binder& b) {
  return b.op(nothing);
}

// --- groups -------------------------------------------------------------------------------------------

Step commit(Warp& w, const Op&, uint32_t lanes) {
  if (w.bulk_group.empty()) w.bulk_group.resize(kLanes);
  for (uint32_t m = lanes; m != 0; m &= m - 1) ++w.bulk_group[static_cast<size_t>(std::countr_zero(m))];
  emit_commit(w, lanes, GroupKind::Bulk);
  return Step::Next;
}

/// Waits until at most `imm` of the groups that the lane has committed are in flight; `small` = 1 for
/// `.read`.
Step wait(Warp& w, const Op& op, uint32_t lanes) {
  Worker& worker = w.worker();
  if (worker.has_async() && !w.bulk_group.empty()) {
    for (uint32_t m = lanes; m != 0; m &= m - 1) {
      const auto lane = static_cast<uint32_t>(std::countr_zero(m));
      const auto allowed = static_cast<uint64_t>(op.imm);
      if (w.bulk_group[lane] <= allowed) continue;
      const auto before = static_cast<uint32_t>(w.bulk_group[lane] - allowed);
      if (worker.in_flight(w, lane, AsyncKind::BulkToGlobal, before, op.small != 0)) {
        return w.block(Wait::BulkGroup, allowed, op.small);
      }
    }
  }
  emit_group_wait(w, lanes, GroupKind::Bulk, op.imm, op.small != 0);
  return Step::Next;
}

Result<Op> bind_commit(Binder& b) {
  return b.op(commit);
}

Result<Op> bind_wait(Binder& b) {
  if (!b.is_immediate(b.operand(0))) return b.unsupported("a group count that is not a constant");
  Op op = b.op(wait);
  op.imm = static_cast<int64_t>(b.immediate(b.operand(0), ScalarType::u32));
  op.small = b.has(Mod::read) ? 1 : 0;
  return op;
}

constexpr BindRow kRows[] = {
    {Opcode::cp_async_bulk, bind_bulk_copy},           {Opcode::cp_reduce_async_bulk, bind_bulk_copy},
    {Opcode::cp_async_bulk_prefetch, bind_nothing},    {Opcode::cp_async_bulk_prefetch_tensor, bind_nothing},
    {Opcode::cp_async_bulk_commit_group, bind_commit}, {Opcode::cp_async_bulk_wait_group, bind_wait},
};

}  // namespace

std::span<const BindRow> bulk_copy_rows() {
  return kRows;
}

}  // namespace sluice::machine
