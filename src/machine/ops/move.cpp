// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Moving values and addresses: mov in all its forms (registers, packing and unpacking, special registers,
// addresses of variables and functions), cvta, isspacep, mapa, getctarank. PTX ISA, "Data Movement and
// Conversion Instructions".
#include <bit>
#include <cstring>

#include "machine/bind.hpp"
#include "machine/ops/lanes.hpp"
#include "machine/state.hpp"

namespace sluice::machine {
namespace {

using Kind = ptx::Operand::Kind;
using ptx::Opcode;
using ptx::ScalarType;
using ptx::Space;
using ptx::SpecialReg;

// --- plain moves
// ------------------------------------------------------------------------------------------------------

template <class T>
Step move(Warp& w, const Op& op, uint32_t lanes) {
  const T* a = w.at<T>(op.a);
  T* d = w.at<T>(op.d);
  for_lanes(lanes, [&](int i) { d[i] = a[i]; });
  return Step::Next;
}

struct Wide {
  uint64_t low, high;
};

Step move_narrow(Warp& w, const Op& op, uint32_t lanes) {
  const uint32_t* a = w.u32(op.a);
  uint32_t* d = w.u32(op.d);
  const auto mask = static_cast<uint32_t>(op.imm);
  for_lanes(lanes, [&](int i) { d[i] = a[i] & mask; });
  return Step::Next;
}

Step move_predicate(Warp& w, const Op& op, uint32_t lanes) {
  const uint32_t value = op.imm == 0 ? w.predicate(op.a) ^ op.small : op.small;
  uint32_t& d = w.predicate(op.d);
  d = (d & ~lanes) | (value & lanes);
  return Step::Next;
}

// --- packing
// ------------------------------------------------------------------------------------------------------------

struct Parts {
  std::vector<Location> list;
  uint32_t part_bytes = 0;
};

/// mov.bN d, {a, b, ...}: the first part is the lowest.
Step pack(Warp& w, const Op& op, uint32_t lanes) {
  const auto& parts = *static_cast<const Parts*>(op.extra);
  const uint32_t bytes = parts.part_bytes;
  const auto total = static_cast<uint32_t>(bytes * parts.list.size());
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    uint8_t value[16] = {};
    for (size_t p = 0; p < parts.list.size(); ++p) {
      const void* from =
          bytes == 8 ? static_cast<const void*>(w.u64(parts.list[p]) + i) : w.u32(parts.list[p]) + i;
      std::memcpy(value + p * bytes, from, bytes);
    }
    if (total <= 4)
      std::memcpy(w.u32(op.d) + i, value, 4);
    else if (total == 8)
      std::memcpy(w.u64(op.d) + i, value, 8);
    else
      std::memcpy(w.at<Wide>(op.d) + i, value, 16);
  }
  return Step::Next;
}

Step unpack(Warp& w, const Op& op, uint32_t lanes) {
  const auto& parts = *static_cast<const Parts*>(op.extra);
  const uint32_t bytes = parts.part_bytes;
  const auto total = static_cast<uint32_t>(bytes * parts.list.size());
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    uint8_t value[16] = {};
    if (total <= 4)
      std::memcpy(value, w.u32(op.a) + i, 4);
    else if (total == 8)
      std::memcpy(value, w.u64(op.a) + i, 8);
    else
      std::memcpy(value, w.at<Wide>(op.a) + i, 16);
    for (size_t p = 0; p < parts.list.size(); ++p) {
      if (bytes == 8) {
        std::memcpy(w.u64(parts.list[p]) + i, value + p * 8, 8);
      } else {
        uint32_t part = 0;
        std::memcpy(&part, value + p * bytes, bytes);
        w.u32(parts.list[p])[i] = part;
      }
    }
  }
  return Step::Next;
}

/// Two words into one 64-bit value and back, the forms that kernels are full of.
Step pack_words(Warp& w, const Op& op, uint32_t lanes) {
  const uint32_t* a = w.u32(op.a);
  const uint32_t* b = w.u32(op.b);
  uint64_t* d = w.u64(op.d);
  for_lanes(lanes, [&](int i) { d[i] = a[i] | (uint64_t{b[i]} << 32); });
  return Step::Next;
}

Step unpack_words(Warp& w, const Op& op, uint32_t lanes) {
  const uint64_t* a = w.u64(op.a);
  uint32_t* low = w.u32(op.d);
  uint32_t* high = w.u32(op.b);
  for_lanes(lanes, [&](int i) {
    const uint64_t value = a[i];
    low[i] = static_cast<uint32_t>(value);
    high[i] = static_cast<uint32_t>(value >> 32);
  });
  return Step::Next;
}

Step pack_halves(Warp& w, const Op& op, uint32_t lanes) {
  const uint32_t* a = w.u32(op.a);
  const uint32_t* b = w.u32(op.b);
  uint32_t* d = w.u32(op.d);
  for_lanes(lanes, [&](int i) { d[i] = (a[i] & 0xffff) | (b[i] << 16); });
  return Step::Next;
}

Step unpack_halves(Warp& w, const Op& op, uint32_t lanes) {
  const uint32_t* a = w.u32(op.a);
  uint32_t* low = w.u32(op.d);
  uint32_t* high = w.u32(op.b);
  for_lanes(lanes, [&](int i) {
    const uint32_t value = a[i];
    low[i] = value & 0xffff;
    high[i] = value >> 16;
  });
  return Step::Next;
}

Result<Op> bind_packing(Binder& b, const ptx::Operand& vector, const ptx::Operand& whole, bool packs) {
  const auto list = b.parts(vector);
  const uint32_t total = ptx::size_of(b.type());
  Parts parts;
  parts.part_bytes = static_cast<uint32_t>(total / list.size());
  if (list.size() * parts.part_bytes != total) return b.unsupported("parts that do not fill the value");
  const ScalarType part_type = parts.part_bytes == 8   ? ScalarType::b64
                               : parts.part_bytes == 4 ? ScalarType::b32
                               : parts.part_bytes == 2 ? ScalarType::b16
                                                       : ScalarType::b8;
  for (const ptx::Operand& part : list) {
    if (packs) {
      Result<Location> from = b.source(part, part_type);
      if (!from) return from.error();
      parts.list.push_back(*from);
    } else {
      parts.list.push_back(b.destination(part));
    }
  }
  Location other;
  if (packs) {
    other = b.destination(whole);
  } else {
    Result<Location> from = b.source(whole, b.type());
    if (!from) return from.error();
    other = *from;
  }
  const bool pair = parts.list.size() == 2;
  Op op;
  if (pair && parts.part_bytes == 4)
    op = b.op(packs ? pack_words : unpack_words);
  else if (pair && parts.part_bytes == 2)
    op = b.op(packs ? pack_halves : unpack_halves);
  else
    op = b.op(packs ? pack : unpack);
  if (packs) {
    op.d = other;
    op.a = parts.list[0];
    op.b = parts.list.size() > 1 ? parts.list[1] : 0;
  } else {
    op.a = other;
    op.d = parts.list[0];
    op.b = parts.list.size() > 1 ? parts.list[1] : 0;
  }
  op.extra = b.extra(std::move(parts));
  return op;
}

// --- special registers
// --------------------------------------------------------------------------------------------------

template <class F>
Step fill32(Warp& w, const Op& op, uint32_t lanes, F&& value) {
  uint32_t* d = w.u32(op.d);
  for_lanes(lanes, [&](int i) { d[i] = value(static_cast<uint32_t>(i)); });
  return Step::Next;
}

uint32_t thread_component(const Warp& w, uint32_t lane, uint32_t component, const uint32_t (&block)[3]) {
  const uint32_t linear = w.index * 32 + lane;
  if (component == 0) return linear % block[0];
  if (component == 1) return linear / block[0] % block[1];
  if (component == 2) return linear / block[0] / block[1];
  return 0;
}

uint64_t special_value(Warp& w, SpecialReg reg, uint32_t component) {
  Worker& worker = w.worker();
  const LaunchContext& launch = worker.launch();
  const LaunchRequest& request = *launch.request;
  const Cta& cta = *w.cta;
  const Cluster& cluster = *cta.cluster;
  const uint32_t c = component < 3 ? component : 3;
  switch (reg) {
    case SpecialReg::ntid:
      return c < 3 ? request.block[c] : 0;
    case SpecialReg::warpid:
      return w.index;
    case SpecialReg::nwarpid:
      return 64;
    case SpecialReg::ctaid:
      return c < 3 ? cta.index[c] : 0;
    case SpecialReg::nctaid:
      return c < 3 ? request.grid[c] : 0;
    // MODEL: CTAs are dealt to the multiprocessors in order; which one a CTA runs on is not defined by the
    // ISA.
    case SpecialReg::smid:
      return cta.linear % 132;
    case SpecialReg::nsmid:
      return 132;
    case SpecialReg::gridid:
      return launch.ordinal;
    case SpecialReg::clusterid:
      return c < 3 ? cluster.index[c] : 0;
    case SpecialReg::nclusterid:
      return c < 3 ? launch.clusters[c] : 0;
    case SpecialReg::cluster_ctaid: {
      if (c == 3) return 0;
      return cta.index[c] - cluster.index[c] * request.cluster[c];
    }
    case SpecialReg::cluster_nctaid:
      return c < 3 ? request.cluster[c] : 0;
    case SpecialReg::cluster_ctarank:
      return cta.rank;
    case SpecialReg::cluster_nctarank:
      return launch.cluster_ctas;
    case SpecialReg::is_explicit_cluster:
      return launch.explicit_cluster ? 1 : 0;
    case SpecialReg::clock:
    case SpecialReg::clock64:
      worker.note_clock_read(w);
      return worker.clock_ns() * 7 / 4;  // MODEL: 1.75 cycles per nanosecond of virtual time
    case SpecialReg::clock_hi:
      worker.note_clock_read(w);
      return (worker.clock_ns() * 7 / 4) >> 32;
    case SpecialReg::globaltimer:
    case SpecialReg::globaltimer_lo:
      worker.note_clock_read(w);
      return worker.clock_ns();
    case SpecialReg::globaltimer_hi:
      worker.note_clock_read(w);
      return worker.clock_ns() >> 32;
    case SpecialReg::reserved_smem_offset_begin:
      return 0;
    case SpecialReg::reserved_smem_offset_end:
      return 0x120;  // as on an H200; the cap is where variables start
    case SpecialReg::reserved_smem_offset_cap:
      return kReservedShared;
    case SpecialReg::reserved_smem_offset_0:
    case SpecialReg::reserved_smem_offset_1:
      return 0;
    case SpecialReg::total_smem_size:
      return (launch.shared_bytes - kReservedShared + 127) / 128 * 128;
    case SpecialReg::aggr_smem_size:
      return launch.shared_bytes;
    case SpecialReg::envreg:
      return component == 1 ? launch.grid_workspace >> 32 : launch.grid_workspace & 0xffff'ffffu;
    case SpecialReg::dynamic_smem_size:
      return request.dynamic_shared;
    default:
      return 0;
  }
}

Step special(Warp& w, const Op& op, uint32_t lanes) {
  const auto reg = static_cast<SpecialReg>(op.imm);
  const uint32_t component = op.small;
  switch (reg) {
    case SpecialReg::tid: {
      const auto& block = w.worker().launch().request->block;
      return fill32(w, op, lanes, [&](uint32_t i) { return thread_component(w, i, component, block); });
    }
    case SpecialReg::laneid:
      return fill32(w, op, lanes, [](uint32_t i) { return i; });
    case SpecialReg::lanemask_eq:
      return fill32(w, op, lanes, [](uint32_t i) { return 1u << i; });
    case SpecialReg::lanemask_lt:
      return fill32(w, op, lanes, [](uint32_t i) { return (1u << i) - 1; });
    case SpecialReg::lanemask_le:
      return fill32(w, op, lanes, [](uint32_t i) { return ((1u << i) - 1) | (1u << i); });
    case SpecialReg::lanemask_gt:
      return fill32(w, op, lanes, [](uint32_t i) { return ~(((1u << i) - 1) | (1u << i)); });
    case SpecialReg::lanemask_ge:
      return fill32(w, op, lanes, [](uint32_t i) { return ~((1u << i) - 1); });
    default:
      break;
  }
  const uint64_t value = special_value(w, reg, component);
  if (op.b == 8) {
    uint64_t* d = w.u64(op.d);
    for_lanes(lanes, [&](int i) { d[i] = value; });
  } else if (op.b == 1) {
    uint32_t& d = w.predicate(op.d);
    d = (d & ~lanes) | (value != 0 ? lanes : 0);
  } else {
    const auto narrow = static_cast<uint32_t>(op.b == 2 ? value & 0xffff : value);
    uint32_t* d = w.u32(op.d);
    for_lanes(lanes, [&](int i) { d[i] = narrow; });
  }
  return Step::Next;
}

Result<Op> bind_special(Binder& b, const ptx::Operand& from) {
  const auto reg = static_cast<SpecialReg>(from.index);
  switch (reg) {
    case SpecialReg::pm:
    case SpecialReg::pm_64:
      return b.unsupported("performance monitor registers");
    // Cooperative groups find the grid's workspace through these two; the driver alone knows the others.
    case SpecialReg::envreg:
      if (from.value != 1 && from.value != 2)
        return b.unsupported("an environment register that only the driver defines");
      break;
    case SpecialReg::current_graph_exec:
      return b.unsupported("device-side graph launch");
    default:
      break;
  }
  Op op = b.op(special);
  op.imm = from.index;
  op.small = from.component == ptx::Operand::kNoComponent ? 0 : from.component;
  if (reg == SpecialReg::envreg) op.small = static_cast<uint32_t>(from.value);
  const ptx::Operand& to = b.operand(0);
  const ScalarType type = to.kind == Kind::Register ? b.reg(to).type : ScalarType::b32;
  op.b = type == ScalarType::pred ? 1 : ptx::size_of(type);
  op.d = type == ScalarType::pred ? b.predicate(to) : b.destination(to);
  return op;
}

// --- addresses
// ------------------------------------------------------------------------------------------------------------

/// A constant, the same for all lanes.
Step constant(Warp& w, const Op& op, uint32_t lanes) {
  if (op.b == 8) {
    uint64_t* d = w.u64(op.d);
    for_lanes(lanes, [&](int i) { d[i] = static_cast<uint64_t>(op.imm); });
  } else {
    uint32_t* d = w.u32(op.d);
    for_lanes(lanes, [&](int i) { d[i] = static_cast<uint32_t>(op.imm); });
  }
  return Step::Next;
}

enum class AddressOf : uint32_t { Shared, SharedGeneric, Parameter, Local, LocalGeneric };

Step address_of(Warp& w, const Op& op, uint32_t lanes) {
  uint64_t value = static_cast<uint64_t>(op.imm);
  switch (static_cast<AddressOf>(op.small)) {
    case AddressOf::Shared:
      value += uint64_t{w.cta->rank} << kSharedRankShift;
      break;
    case AddressOf::SharedGeneric:
      value += kSharedWindow + (uint64_t{w.cta->rank} << kSharedRankShift);
      break;
    case AddressOf::Parameter:
      value += w.worker().launch().parameters;
      break;
    case AddressOf::Local:
      value += w.frames[w.frame_node].local_base;
      break;
    case AddressOf::LocalGeneric:
      value += kLocalWindow + w.frames[w.frame_node].local_base;
      break;
  }
  if (op.b == 8) {
    uint64_t* d = w.u64(op.d);
    for_lanes(lanes, [&](int i) { d[i] = value; });
  } else {
    uint32_t* d = w.u32(op.d);
    for_lanes(lanes, [&](int i) { d[i] = static_cast<uint32_t>(value); });
  }
  return Step::Next;
}

bool is_shared(Space space) {
  return space == Space::shared || space == Space::shared_cta || space == Space::shared_cluster;
}

/// The address of a variable: in its own state space, or generic.
Result<Op> bind_address(Binder& b, const ptx::Operand& from, bool is_generic) {
  const program::Function& f = b.function();
  const ptx::Variable& variable =
      from.is_module ? f.module->variables[from.index] : f.source->variables[from.index];
  const ptx::Operand& to = b.operand(0);
  const uint32_t bytes = to.kind == Kind::Register ? ptx::size_of(b.reg(to).type) : 8;
  Op op = b.op(address_of);
  op.d = b.destination(to);
  op.b = bytes;
  if (is_shared(variable.space)) {
    op.imm = b.symbols().shared_offset(f, from) + from.value;
    op.small = static_cast<uint32_t>(is_generic ? AddressOf::SharedGeneric : AddressOf::Shared);
  } else if (from.is_module) {
    op.run = constant;
    op.imm = static_cast<int64_t>(b.symbols().global_address(from.index)) + from.value;
  } else if (variable.space == Space::local || !f.source->is_entry || variable.space == Space::param_func) {
    op.imm = f.variable_offset[from.index] + from.value;
    op.small = static_cast<uint32_t>(is_generic ? AddressOf::LocalGeneric : AddressOf::Local);
  } else if (b.symbols().is_entry_parameter(f, from.index)) {
    op.imm = b.symbols().parameter_offset(f, from.index) + from.value;
    op.small = static_cast<uint32_t>(AddressOf::Parameter);
  } else {
    op.imm = f.variable_offset[from.index] + from.value;
    op.small = static_cast<uint32_t>(is_generic ? AddressOf::LocalGeneric : AddressOf::Local);
  }
  return op;
}

// --- mov
// --------------------------------------------------------------------------------------------------------------------

Result<Op> bind_mov(Binder& b) {
  const ptx::Operand& to = b.operand(0);
  const ptx::Operand& from = b.operand(1);
  if (to.kind == Kind::Vector) return bind_packing(b, to, from, false);
  switch (from.kind) {
    case Kind::Vector:
      return bind_packing(b, from, to, true);
    case Kind::Special:
      return bind_special(b, from);
    case Kind::Variable:
      return bind_address(b, from, false);
    case Kind::Function: {
      Op op = b.op(constant);
      op.d = b.destination(to);
      op.b = 8;
      op.imm = static_cast<int64_t>(b.symbols().function_address(from.index));
      return op;
    }
    case Kind::Label:
      return b.unsupported("the address of a label as a value");
    default:
      break;
  }
  const ScalarType type = b.type();
  if (type == ScalarType::pred) {
    Op op = b.op(move_predicate);
    op.d = b.predicate(to);
    if (b.is_immediate(from)) {
      op.imm = 1;
      op.small = from.value != 0 ? kAllLanes : 0;
    } else {
      op.a = b.predicate(from);
      op.small = from.negate ? kAllLanes : 0;
    }
    return op;
  }
  Result<Location> a = b.source(from, type);
  if (!a) return a.error();
  const uint32_t bytes = ptx::size_of(type);
  Op op = b.op(bytes == 8    ? move<uint64_t>
               : bytes == 16 ? move<Wide>
               : bytes == 4  ? move<uint32_t>
                             : move_narrow);
  op.a = *a;
  op.d = b.destination(to);
  if (bytes < 4) op.imm = bytes == 2 ? 0xffff : 0xff;
  return op;
}

// --- cvta, isspacep, mapa, getctarank
// -------------------------------------------------------------------------------------

template <class T>
Step add_window(Warp& w, const Op& op, uint32_t lanes) {
  const T* a = w.at<T>(op.a);
  uint64_t* d = w.u64(op.d);
  const auto window = static_cast<uint64_t>(op.imm);
  for_lanes(lanes, [&](int i) { d[i] = window + static_cast<uint32_t>(a[i]); });
  return Step::Next;
}

Step leave_window(Warp& w, const Op& op, uint32_t lanes) {
  const uint64_t* a = w.u64(op.a);
  uint64_t* d = w.u64(op.d);
  for_lanes(lanes, [&](int i) { d[i] = a[i] & 0xffff'ffffu; });
  return Step::Next;
}

Result<Op> bind_cvta(Binder& b) {
  const bool to_space = b.has(ptx::Mod::to);
  const Space space = b.mods().space();
  const ptx::Operand& from = b.operand(1);
  if (b.type() == ScalarType::u32) return b.unsupported("32-bit generic addresses");
  const bool windowed = is_shared(space) || space == Space::local;
  const int64_t window = static_cast<int64_t>(space == Space::local ? kLocalWindow : kSharedWindow);

  if (from.kind == Kind::Variable) {
    // cvta.space d, variable: the generic address.
    return bind_address(b, from, true);
  }
  Result<Location> a = b.source(from, ScalarType::u64);
  if (!a) return a.error();
  Op op;
  if (!windowed)
    op = b.op(move<uint64_t>);
  else if (to_space)
    op = b.op(leave_window);
  else
    op = b.op(add_window<uint64_t>);
  op.a = *a;
  op.d = b.destination(0);
  op.imm = window;
  return op;
}

bool is_constant(Warp& w, uint64_t address) {
  const Allocation* found = w.worker().find_allocation(address);
  return found != nullptr && found->kind == AllocationKind::Constant;
}

Step is_space(Warp& w, const Op& op, uint32_t lanes) {
  const uint64_t* a = w.u64(op.a);
  const auto space = static_cast<Space>(op.imm);
  const LaunchContext& launch = w.worker().launch();
  uint32_t result = 0;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    const uint64_t address = a[i];
    const bool shared = is_shared_address(address);
    const bool local = is_local_address(address);
    const bool parameter = address - launch.parameters < w.worker().kernel().parameter_bytes;
    bool holds = false;
    switch (space) {
      case Space::shared:
      case Space::shared_cta:
        holds = shared && ((address >> kSharedRankShift) & 0xff) == w.cta->rank;
        break;
      case Space::shared_cluster:
        holds = shared;
        break;
      case Space::local:
        holds = local;
        break;
      case Space::param:
      case Space::param_entry:
        holds = parameter;
        break;
      case Space::global:
        holds = !shared && !local && !is_constant(w, address);
        break;
      case Space::const_:
        holds = is_constant(w, address);
        break;
      default:
        break;
    }
    if (holds) result |= 1u << i;
  }
  uint32_t& d = w.predicate(op.d);
  d = (d & ~lanes) | result;
  return Step::Next;
}

Result<Op> bind_isspacep(Binder& b) {
  Result<Location> a = b.source(1, ScalarType::u64);
  if (!a) return a.error();
  Op op = b.op(is_space);
  op.d = b.predicate(0);
  op.a = *a;
  op.imm = static_cast<int64_t>(b.mods().space());
  return op;
}

template <class T>
Step map_address(Warp& w, const Op& op, uint32_t lanes) {
  const T* a = w.at<T>(op.a);
  const uint32_t* rank = w.u32(op.b);
  T* d = w.at<T>(op.d);
  for_lanes(lanes, [&](int i) {
    const uint64_t offset = static_cast<uint64_t>(a[i]) & kSharedOffsetMask;
    const uint64_t base =
        static_cast<uint64_t>(a[i]) & ~uint64_t{0xffff'ffffu};  // the window of a generic address
    d[i] = static_cast<T>(base | (uint64_t{rank[i] & 0xff} << kSharedRankShift) | offset);
  });
  return Step::Next;
}

Result<Op> bind_mapa(Binder& b) {
  const ScalarType type = b.type();
  Result<Location> a = b.source(1, type);
  Result<Location> rank = b.source(2, ScalarType::u32);
  if (!a) return a.error();
  if (!rank) return rank.error();
  Op op = b.op(ptx::size_of(type) == 8 ? map_address<uint64_t> : map_address<uint32_t>);
  op.d = b.destination(0);
  op.a = *a;
  op.b = *rank;
  return op;
}

template <class T>
Step rank_of(Warp& w, const Op& op, uint32_t lanes) {
  const T* a = w.at<T>(op.a);
  uint32_t* d = w.u32(op.d);
  for_lanes(lanes, [&](int i) { d[i] = (static_cast<uint32_t>(a[i]) >> kSharedRankShift) & 0xff; });
  return Step::Next;
}

Result<Op> bind_getctarank(Binder& b) {
  const ScalarType type = b.type();
  Result<Location> a = b.source(1, type);
  if (!a) return a.error();
  Op op = b.op(ptx::size_of(type) == 8 ? rank_of<uint64_t> : rank_of<uint32_t>);
  op.d = b.destination(0);
  op.a = *a;
  return op;
}

constexpr BindRow kRows[] = {
    {Opcode::mov, bind_mov},
    {Opcode::cvta, bind_cvta},
    {Opcode::isspacep, bind_isspacep},
    {Opcode::mapa, bind_mapa},
    {Opcode::getctarank, bind_getctarank},
};

}  // namespace

std::span<const BindRow> move_rows() {
  return kRows;
}

}  // namespace sluice::machine
