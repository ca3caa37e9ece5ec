// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensor copies (tile and im2col, both directions, multicast, reductions) and changes of tensor maps on the
// device. PTX ISA, "Data Movement and Conversion Instructions: cp.async.bulk.tensor",
// "cp.reduce.async.bulk.tensor", "Tensor Map Instructions: tensormap.replace", "tensormap.cp_fenceproxy".
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "machine/bind.hpp"
#include "machine/definedness_watch.hpp"
#include "machine/ops/access.hpp"
#include "machine/state.hpp"
#include "machine/units/copy.hpp"
#include "machine/units/emit.hpp"
#include "machine/units/tensor_rules.hpp"
#include "machine/units/tensor_transfer.hpp"

namespace sluice::machine {
namespace {

using Kind = ptx::Operand::Kind;
using ptx::Mod;
using ptx::Opcode;
using ptx::ScalarType;
using ptx::Space;

constexpr uint32_t kMapBytes = 128;
constexpr uint32_t kTileAlignment = 128;

/// The instruction, as bound.
struct TensorOperands {
  bool store = false;
  bool im2col = false;
  bool multicast = false;
  uint8_t rank = 1;
  uint8_t offset_count = 0;
  Reduction reduction = Reduction::None;
  Address map, shared, barrier;
  Location coordinate[5] = {};
  Location offset[3] = {};
  Location mask = 0;
};

/// One copy in flight.
struct TensorCopy {
  TensorBox box;
  uint32_t shared = 0;   ///< resolved
  uint32_t barrier = 0;  ///< resolved
  uint32_t next_row = 0;
  uint16_t mask = 0;
  bool multicast = false;
  Reduction reduction = Reduction::None;
};

// --- landing ------------------------------------------------------------------------------------------

/// Global memory of a row's inside part; null after a failure.
uint8_t* row_memory(Worker& worker, const AsyncOp& op, const TensorShape& shape, const TensorRow& row,
                    bool write) {
  const uint32_t bytes = write ? written_bytes(shape, row) : row.count * shape.unit_bytes;
  uint8_t* const memory = worker.global_at(row.address, bytes, write);
  if (memory == nullptr) {
    fail_operation(
        worker, op, FaultKind::IllegalAddress,
        fmt::format(
            "a tensor copy {} {} bytes at 0x{:x}, which the tensor map calls inside the tensor and which are "
            "not all inside an allocation",
            write ? "writes" : "reads", bytes, row.address),
        row.address);
    return nullptr;
  }
  emit_operation_access(worker, op, write ? event::Kind::AsyncWrite : event::Kind::AsyncRead,
                        event::Space::Global, row.address, bytes);
  return memory;
}

/// Marks of a row's inside part, where they lie in a buffer of a whole row.
uint8_t* inside_of(uint8_t* row_marks, const TensorShape& shape, const TensorRow& row) {
  return row_marks + size_t{row.first} * shape.unit_bytes;
}

/// Marks of a row follow the row to the CTAs; what lies outside the tensor is filled, so it is defined.
void follow_load(DefinednessWatch& watch, const AsyncOp& op, const TensorCopy& copy, const TensorShape& shape,
                 const TensorRow& row, const uint8_t* from, uint32_t ranks, uint32_t r) {
  uint8_t marks[kMostRowBytes];
  std::memset(marks, kDefined, shape.row_bytes());
  const uint8_t* const source = from == nullptr ? nullptr : watch.marks(*op.cta, from);
  if (source != nullptr) std::memcpy(inside_of(marks, shape, row), source, row.count * shape.unit_bytes);
  for (uint32_t m = ranks; m != 0; m &= m - 1) {
    const MbarrierPlace to = locate_in(op, static_cast<uint32_t>(std::countr_zero(m)), copy.shared);
    put_row(watch.marks(*to.cta, to.cta->shared.data()), to.offset + r * shape.pitch, marks,
            shape.row_bytes(), copy.box.map.swizzle);
  }
}

/// The other way round.
void follow_store(Worker& worker, DefinednessWatch& watch, const AsyncOp& op, const TensorCopy& copy,
                  const TensorShape& shape, const TensorRow& row, const MbarrierPlace& from, uint8_t* to,
                  uint32_t r) {
  uint8_t marks[kMostRowBytes];
  get_row(watch.marks(*from.cta, from.cta->shared.data()), from.offset + r * shape.pitch, marks,
          shape.row_bytes(), copy.box.map.swizzle);
  const uint8_t* const inside = inside_of(marks, shape, row);
  const uint32_t bytes = row.count * shape.unit_bytes;
  uint8_t* const target = watch.marks(*op.cta, to);
  for (uint32_t i = 0; target != nullptr && i < bytes; ++i)
    if (copy.reduction == Reduction::None || inside[i] != kDefined) target[i] = inside[i];
  watch.judge_store(worker, op, inside, bytes);
}

bool land_load(Worker& worker, AsyncOp& op) {
  auto& copy = op.as<TensorCopy>();
  const TensorMapInfo& map = copy.box.map;
  const TensorShape shape = shape_of(map);
  const uint32_t first = copy.next_row;
  const uint32_t end = std::min(shape.rows, first + piece_of(worker, shape.rows));
  const uint32_t ranks = target_ranks(copy.multicast, copy.mask, copy.shared);
  copy.next_row = end;

  if (wants_data(worker) || worker.listener() != nullptr) {
    TensorWalk walk(copy.box, shape, first);
    alignas(16) uint8_t buffer[kMostRowBytes];
    for (uint32_t r = first; r < end; ++r, walk.next()) {
      const TensorRow row = walk.row();
      const uint8_t* from = nullptr;
      if (row.count != 0 && (from = row_memory(worker, op, shape, row, false)) == nullptr) return true;
      read_row(map, shape, row, from, buffer);
      if (worker.definedness() != nullptr)
        follow_load(*worker.definedness(), op, copy, shape, row, from, ranks, r);
      for (uint32_t m = ranks; m != 0; m &= m - 1) {
        const MbarrierPlace to = locate_in(op, static_cast<uint32_t>(std::countr_zero(m)), copy.shared);
        if (wants_data(worker))
          put_row(to.cta->shared.data(), to.offset + r * shape.pitch, buffer, shape.row_bytes(), map.swizzle);
      }
    }
  }
  const uint32_t bytes = (end - first) * shape.row_bytes();
  for (uint32_t m = ranks; m != 0; m &= m - 1) {
    const auto rank = static_cast<uint32_t>(std::countr_zero(m));
    const MbarrierPlace to = locate_in(op, rank, copy.shared + first * shape.pitch);
    if (!wants_data(worker))
      skip_data(worker, to.cta->shared.data() + to.offset, (end - first) * shape.pitch);
    emit_operation_access(worker, op, event::Kind::AsyncWrite, event::Space::Shared,
                          shared_event_address(*to.cta, to.offset), (end - first) * shape.pitch);
    mbarrier_complete_tx(
        worker, op, copy.multicast ? locate_in(op, rank, copy.barrier) : locate(op, copy.barrier), bytes);
  }
  if (end < shape.rows) return false;
  emit_complete(worker, op);
  return true;
}

bool land_store(Worker& worker, AsyncOp& op) {
  auto& copy = op.as<TensorCopy>();
  const TensorMapInfo& map = copy.box.map;
  const TensorShape shape = shape_of(map);
  const uint32_t first = copy.next_row;
  const uint32_t end = std::min(shape.rows, first + piece_of(worker, shape.rows));
  const MbarrierPlace from = locate(op, copy.shared);
  copy.next_row = end;
  emit_operation_access(worker, op, event::Kind::AsyncRead, event::Space::Shared,
                        shared_event_address(*from.cta, from.offset + first * shape.pitch),
                        (end - first) * shape.pitch);
  TensorWalk walk(copy.box, shape, first);
  alignas(16) uint8_t buffer[kMostRowBytes];
  for (uint32_t r = first; r < end; ++r, walk.next()) {
    const TensorRow row = walk.row();
    if (row.count == 0) continue;
    uint8_t* const to = row_memory(worker, op, shape, row, true);
    if (to == nullptr) return true;
    if (!wants_data(worker)) {
      skip_data(worker, to, written_bytes(shape, row));
      continue;
    }
    get_row(from.cta->shared.data(), from.offset + r * shape.pitch, buffer, shape.row_bytes(), map.swizzle);
    write_row(map, shape, row, buffer, to, copy.reduction);
    if (worker.definedness() != nullptr)
      follow_store(worker, *worker.definedness(), op, copy, shape, row, from, to, r);
  }
  if (end < shape.rows) return false;
  emit_complete(worker, op);
  return true;
}

// --- issue --------------------------------------------------------------------------------------------

/// Device address of the map that lane `lane` names; 0 after a fault.
uint64_t map_address(Warp& w, const TensorOperands& o, uint32_t lane, uint64_t address) {
  if (o.map.window == Window::Parameter) address += w.worker().launch().parameters;
  if (o.map.window == Window::Frame || is_local_address(address) || is_shared_address(address)) {
    w.fault(FaultKind::IllegalAddress,
            "the tensor map lies in local or shared memory, where the copy engine cannot read it (a kernel "
            "parameter must be "
            "a __grid_constant__ for its address to be one of parameter memory)",
            lane, address, "tensor-map-misplaced");
    return 0;
  }
  if (address % 64 != 0) {
    w.fault(FaultKind::MisalignedAddress, "the tensor map does not lie on a multiple of 64", lane, address,
            "tensor-map-misplaced");
    return 0;
  }
  if (address == 0 || w.worker().global_at(address, kMapBytes, false) == nullptr) {
    w.fault(FaultKind::IllegalAddress, "the tensor map lies outside every allocation", lane, address,
            "tensor-map-misplaced");
    return 0;
  }
  return address;
}

bool read_map(Warp& w, const TensorOperands& o, uint32_t lane, uint64_t address, TensorMapInfo& out) {
  const uint64_t at = map_address(w, o, lane, address);
  if (at == 0) return false;
  if (event::Sink* const sink = listener_for(w.worker(), event::Kind::TensorMapUse)) {
    event::Event e = warp_event(w, event::Kind::TensorMapUse, uint32_t{1} << lane);
    e.addresses = std::span<const uint64_t>(&at, 1);
    sink->receive(e);
  }
  TensorMapWords words;
  std::memcpy(words.data(), reinterpret_cast<const void*>(at), kMapBytes);
  Result<TensorMapInfo> map = decode_tensor_map(words);
  std::string wrong;
  if (!map) {
    wrong = map.error().message;
  } else if (map->im2col != o.im2col) {
    wrong = fmt::format("an {} copy through an {} tensor map", o.im2col ? "im2col" : "tile",
                        map->im2col ? "im2col" : "tile");
  } else if (map->rank != o.rank) {
    wrong = fmt::format("a {}-D copy through a tensor map of rank {}", o.rank, map->rank);
  }
  if (!wrong.empty()) {
    w.fault(FaultKind::IllegalInstruction, std::move(wrong), lane, at, "tensor-map-invalid");
    return false;
  }
  out = *map;
  // MODEL: whatever number of channels the map names, a pixel of an interleaved tensor is one slice (seen on
  // an H200).
  if (out.im2col && out.interleave != 0)
    out.channels = static_cast<uint32_t>(8 * slice_bytes(out) / element_bits(out.type));
  return true;
}

/// Tells where a box with a swizzle lands.
void tell_swizzle(Warp& w, uint32_t lane, const TensorCopy& copy, const TensorShape& shape) {
  event::Sink* const sink = listener_for(w.worker(), event::Kind::SwizzledTile);
  if (sink == nullptr || copy.box.map.swizzle == 0) return;
  event::Event e = warp_event(w, event::Kind::SwizzledTile, uint32_t{1} << lane);
  const uint64_t start = kSharedWindow | copy.shared;
  e.addresses = std::span<const uint64_t>(&start, 1);
  e.bytes = shape.span();
  e.detail = 8 * swizzle_span(copy.box.map.swizzle);
  sink->receive(e);
}

bool issue(Warp& w, const TensorOperands& o, uint32_t lane, uint64_t map, uint64_t shared, uint64_t barrier) {
  TensorCopy copy;
  if (!read_map(w, o, lane, map, copy.box.map)) return false;
  for (unsigned d = 0; d < o.rank; ++d)
    copy.box.start[d] = static_cast<int32_t>(w.u32(o.coordinate[d])[lane]);
  for (unsigned d = 0; d < o.offset_count; ++d)
    copy.box.offset[d] = static_cast<uint16_t>(w.u32(o.offset[d])[lane]);
  copy.reduction = o.reduction;
  copy.multicast = o.multicast;
  std::string rule = broken_reduction_rule(copy.box.map.type, o.reduction);
  if (rule.empty()) rule = broken_start_rule(copy.box, o.store);
  if (!rule.empty()) {
    w.fault(FaultKind::IllegalInstruction, std::move(rule), lane, map);
    return false;
  }
  if (o.multicast && !take_multicast_mask(w, lane, w.u32(o.mask)[lane], copy.mask)) return false;
  ++w.worker().statistics().copies;
  if (is_lost(o.shared, shared)) return true;
  const TensorShape shape = shape_of(copy.box.map);
  if (!resolve_shared(w, o.shared, lane, shared, shape.span(), kTileAlignment, copy.shared)) return false;
  if (!o.store && !resolve_shared(w, o.barrier, lane, barrier, 8, 8, copy.barrier)) return false;
  AsyncOp op = make_operation(w, lane, o.store ? AsyncKind::BulkToGlobal : AsyncKind::BulkToShared,
                              o.store ? land_store : land_load);
  if (o.store)
    op.group = bulk_group_of(w, lane);
  else
    tell_swizzle(w, lane, copy, shape);
  op.bytes = shape.bytes();
  op.ranks = copy.mask;
  op.reduces = o.reduction != Reduction::None;
  if (!o.store) op.signals = kSharedWindow | copy.barrier;
  op.as<TensorCopy>() = copy;
  w.worker().submit(op);
  return true;
}

Step tensor_copy(Warp& w, const Op& op, uint32_t lanes) {
  const auto& o = *static_cast<const TensorOperands*>(op.extra);
  uint64_t map[kLanes], shared[kLanes], barrier[kLanes] = {};
  compute_addresses(w, o.map, lanes, map);
  compute_addresses(w, o.shared, lanes, shared);
  if (!o.store) compute_addresses(w, o.barrier, lanes, barrier);
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    if (!issue(w, o, lane, map[lane], shared[lane], barrier[lane])) return Step::Fault;
  }
  w.acted = true;
  return w.worker().failed() ? Step::Fault : Step::Next;
}

uint8_t dimensions(const ptx::Mods& mods) {
  const Mod names[] = {Mod::n1d, Mod::n2d, Mod::n3d, Mod::n4d, Mod::n5d};
  for (uint8_t i = 0; i < 5; ++i) {
    if (mods.has(names[i])) return static_cast<uint8_t>(i + 1);
  }
  return 0;
}

/// The operand `[map, {coordinates}]`.
Result<void> bind_map(Binder& b, const ptx::Operand& operand, TensorOperands& o) {
  Result<Address> map = bind_memory_address(b, operand, Space::none);
  if (!map) return map.error();
  o.map = *map;
  const auto parts = b.parts(operand);
  if (parts.size() != size_t{o.rank} + 1)
    return b.unsupported("a number of coordinates that is not the number of dimensions");
  for (unsigned d = 0; d < o.rank; ++d) {
    Result<Location> coordinate = b.source(parts[d + 1], ScalarType::s32);
    if (!coordinate) return coordinate.error();
    o.coordinate[d] = *coordinate;
  }
  return {};
}

Result<Op> bind_tensor_copy(Binder& b) {
  for (const Mod mod : {Mod::tile__gather4, Mod::tile__scatter4, Mod::im2col__w, Mod::im2col__w__128,
                        Mod::cta_group__1, Mod::cta_group__2}) {
    if (b.has(mod)) return b.unsupported("this form needs a later device than sm_90");
  }
  TensorOperands o;
  o.rank = dimensions(b.mods());
  o.im2col = b.has(Mod::im2col) || b.has(Mod::im2col_no_offs);
  o.store = b.mods().space(0) == Space::global;
  o.multicast = b.has(Mod::multicast__cluster);
  if (b.instruction().op == Opcode::cp_reduce_async_bulk_tensor) o.reduction = reduction_of(b.mods());
  const Space shared_space = b.mods().space(o.store ? 1 : 0);
  Result<Address> shared = bind_memory_address(b, b.operand(o.store ? 1 : 0), shared_space);
  if (!shared) return shared.error();
  o.shared = *shared;
  if (Result<void> map = bind_map(b, b.operand(o.store ? 0 : 1), o); !map) return map.error();
  if (!o.store) {
    Result<Address> barrier = bind_memory_address(b, b.operand(2), shared_space);
    if (!barrier) return barrier.error();
    o.barrier = *barrier;
    uint32_t next = 3;
    if (o.im2col) {
      const auto offsets = b.parts(b.operand(next++));
      if (offsets.size() != o.rank - 2u)
        return b.unsupported("a number of im2col offsets that is not the rank minus two");
      for (const ptx::Operand& offset : offsets) {
        Result<Location> value = b.source(offset, ScalarType::u16);
        if (!value) return value.error();
        o.offset[o.offset_count++] = *value;
      }
    }
    if (o.multicast) {
      Result<Location> mask = b.source(next, ScalarType::b16);
      if (!mask) return mask.error();
      o.mask = *mask;
    }
  }
  Op op = b.op(tensor_copy);
  op.extra = b.extra(std::move(o));
  return op;
}

// --- changes of tensor maps ---------------------------------------------------------------------------

struct MapChange {
  TensorMapField field{};
  Address address;
  Location value = 0;
  uint32_t ordinal = 0;
  bool wide = false;
};

Step replace(Warp& w, const Op& op, uint32_t lanes) {
  const auto& c = *static_cast<const MapChange*>(op.extra);
  uint64_t addresses[kLanes];
  uint8_t* pointers[kLanes];
  compute_addresses(w, c.address, lanes, addresses);
  if (!translate(w, c.address.window, lanes, addresses, kMapBytes, true, pointers)) return Step::Fault;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    TensorMapWords words;
    std::memcpy(words.data(), pointers[lane], kMapBytes);
    replace_tensor_map_field(words, c.field, c.ordinal, c.wide ? w.u64(c.value)[lane] : w.u32(c.value)[lane]);
    std::memcpy(pointers[lane], words.data(), kMapBytes);
  }
  w.acted = true;
  emit_access(w, event::Kind::Write, c.address.window, lanes, addresses, kMapBytes, event::Semantics::Weak,
              event::Scope::Cta);
  return Step::Next;
}

Result<Op> bind_replace(Binder& b) {
  struct Name {
    Mod mod;
    TensorMapField field;
    bool has_ordinal;
  };
  constexpr Name kNames[] = {{Mod::global_address, TensorMapField::GlobalAddress, false},
                             {Mod::rank, TensorMapField::Rank, false},
                             {Mod::box_dim, TensorMapField::BoxDim, true},
                             {Mod::global_dim, TensorMapField::GlobalDim, true},
                             {Mod::global_stride, TensorMapField::GlobalStride, true},
                             {Mod::element_stride, TensorMapField::ElementStride, true},
                             {Mod::elemtype, TensorMapField::ElementType, false},
                             {Mod::interleave_layout, TensorMapField::Interleave, false},
                             {Mod::swizzle_mode, TensorMapField::Swizzle, false},
                             {Mod::fill_mode, TensorMapField::Fill, false}};
  MapChange c;
  uint32_t next = 1;
  bool known = false;
  for (const Name& name : kNames) {
    if (!b.has(name.mod)) continue;
    known = true;
    c.field = name.field;
    if (name.has_ordinal) c.ordinal = static_cast<uint32_t>(b.immediate(b.operand(next++), ScalarType::u32));
  }
  if (!known) return b.unsupported("a field of the tensor map that sm_90 does not have");
  c.wide = c.field == TensorMapField::GlobalAddress || c.field == TensorMapField::GlobalStride;
  Result<Address> address = bind_memory_address(b, b.operand(0), b.mods().space());
  if (!address) return address.error();
  c.address = *address;
  Result<Location> value = b.source(next, c.wide ? ScalarType::b64 : ScalarType::b32);
  if (!value) return value.error();
  c.value = *value;
  Op op = b.op(replace);
  op.extra = b.extra(std::move(c));
  return op;
}

struct MapCopy {
  Address destination, source;
  event::Scope scope{};
};

/// Copies a map from shared to global memory, with the release of the tensor-map proxy.
Step copy_map(Warp& w, const Op& op, uint32_t lanes) {
  if (Step s = w.rendezvous(kAllLanes); s != Step::Next) return s;
  const auto& c = *static_cast<const MapCopy*>(op.extra);
  uint64_t to[kLanes], from[kLanes];
  uint8_t *to_pointer[kLanes], *from_pointer[kLanes];
  compute_addresses(w, c.destination, lanes, to);
  compute_addresses(w, c.source, lanes, from);
  if (!translate(w, c.destination.window, lanes, to, kMapBytes, true, to_pointer)) return Step::Fault;
  if (!translate(w, c.source.window, lanes, from, kMapBytes, false, from_pointer)) return Step::Fault;
  // The warp copies once; all lanes name the same places.
  const auto lane = static_cast<uint32_t>(std::countr_zero(lanes));
  std::memcpy(to_pointer[lane], from_pointer[lane], kMapBytes);
  w.acted = true;
  const uint32_t one = uint32_t{1} << lane;
  emit_access(w, event::Kind::Read, c.source.window, one, from, kMapBytes, event::Semantics::Weak, c.scope);
  emit_access(w, event::Kind::Write, c.destination.window, one, to, kMapBytes, event::Semantics::Weak,
              c.scope);
  if (event::Sink* const sink = listener_for(w.worker(), event::Kind::ProxyFence)) {
    event::Event e = warp_event(w, event::Kind::ProxyFence, lanes);
    e.proxy = event::Proxy::Tensormap;
    e.semantics = event::Semantics::Release;
    e.scope = c.scope;
    sink->receive(e);
  }
  return Step::Next;
}

Result<Op> bind_copy_map(Binder& b) {
  MapCopy c;
  c.scope = scope_of(b.mods());
  Result<Address> to = bind_memory_address(b, b.operand(0), b.mods().space(0));
  if (!to) return to.error();
  c.destination = *to;
  Result<Address> from = bind_memory_address(b, b.operand(1), b.mods().space(1));
  if (!from) return from.error();
  c.source = *from;
  Op op = b.op(copy_map);
  op.extra = b.extra(std::move(c));
  return op;
}

constexpr BindRow kRows[] = {
    {Opcode::cp_async_bulk_tensor, bind_tensor_copy},
    {Opcode::cp_reduce_async_bulk_tensor, bind_tensor_copy},
    {Opcode::tensormap_replace, bind_replace},
    {Opcode::tensormap_cp_fenceproxy, bind_copy_map},
};

}  // namespace

std::span<const BindRow> tensor_copy_rows() {
  return kRows;
}

}  // namespace sluice::machine
