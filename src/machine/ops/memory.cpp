// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Loads and stores through every window, and the hints around them (prefetch, discard, applypriority,
// createpolicy), which change nothing a program can see. PTX ISA, "ld", "ld.global.nc", "ldu", "st".
#include <bit>
#include <cstring>

#include "machine/bind.hpp"
#include "machine/ops/access.hpp"
#include "machine/ops/lanes.hpp"
#include "machine/state.hpp"

namespace sluice::machine {
namespace {

using Kind = ptx::Operand::Kind;
using ptx::Mod;
using ptx::Opcode;
using ptx::ScalarType;
using ptx::Space;

constexpr size_t kMostValues = 8;  ///< of a vector

/// What a load or store needs beyond its Op.
struct Transfer {
  Address address;
  uint32_t element_bytes = 4;
  uint32_t count = 1;
  Location values[kMostValues] = {};
  bool sign_extend = false;     ///< loads: the register is wider than the element
  uint32_t register_bytes = 4;  ///< of one value: 4 (narrow and word registers), 8, 16
  bool polls = false;           ///< loads: others may change it meanwhile
  event::Semantics semantics = event::Semantics::Weak;
  event::Scope scope = event::Scope::Cta;
};

// --- loads
// --------------------------------------------------------------------------------------------------------------

/// Elements of E bytes into registers of R bytes per lane.
template <class E, class R>
void gather(Warp& w, const Transfer& t, uint32_t lanes, uint8_t* const (&pointers)[kLanes]) {
  for (uint32_t v = 0; v < t.count; ++v) {
    R* d = w.at<R>(t.values[v]);
    const size_t shift = size_t{v} * sizeof(E);
    for_lanes(lanes, [&](int i) {
      E value;
      std::memcpy(&value, pointers[i] + shift, sizeof(E));
      d[i] = static_cast<R>(value);
    });
  }
}

template <class E>
void gather_signed(Warp& w, const Transfer& t, uint32_t lanes, uint8_t* const (&pointers)[kLanes]) {
  // Sign-extended to the register's width; 8- and 16-bit registers keep their upper bits zero.
  for (uint32_t v = 0; v < t.count; ++v) {
    const size_t shift = size_t{v} * sizeof(E);
    for (uint32_t m = lanes; m != 0; m &= m - 1) {
      const int i = std::countr_zero(m);
      E value;
      std::memcpy(&value, pointers[i] + shift, sizeof(E));
      const int64_t wide = value;
      switch (t.register_bytes) {
        case 8:
          w.u64(t.values[v])[i] = static_cast<uint64_t>(wide);
          break;
        case 4:
          w.u32(t.values[v])[i] = static_cast<uint32_t>(wide);
          break;
        default:
          w.u32(t.values[v])[i] = static_cast<uint32_t>(wide) & 0xffff;
          break;
      }
    }
  }
}

struct Wide {
  uint64_t low, high;
};

template <class E>
void gather_any(Warp& w, const Transfer& t, uint32_t lanes, uint8_t* const (&pointers)[kLanes]) {
  if constexpr (sizeof(E) == 16) {
    for (uint32_t v = 0; v < t.count; ++v) {
      Wide* d = w.at<Wide>(t.values[v]);
      for_lanes(lanes, [&](int i) { std::memcpy(d + i, pointers[i] + size_t{v} * 16, 16); });
    }
  } else if (t.sign_extend) {
    gather_signed<std::make_signed_t<E>>(w, t, lanes, pointers);
  } else if (t.register_bytes == 8) {
    gather<E, uint64_t>(w, t, lanes, pointers);
  } else {
    gather<E, uint32_t>(w, t, lanes, pointers);
  }
}

template <class E>
Step load(Warp& w, const Op& op, uint32_t lanes) {
  const auto& t = *static_cast<const Transfer*>(op.extra);
  uint64_t addresses[kLanes];
  uint8_t* pointers[kLanes];
  compute_addresses(w, t.address, lanes, addresses);
  if (!translate(w, t.address.window, lanes, addresses, static_cast<uint32_t>(sizeof(E)) * t.count, false,
                 pointers)) {
    return Step::Fault;
  }
  gather_any<E>(w, t, lanes, pointers);
  if (t.polls) {
    w.polled = true;
    w.splits[w.current].looked = kNoLook;
  }
  emit_access(w, event::Kind::Read, t.address.window, lanes, addresses,
              static_cast<uint32_t>(sizeof(E)) * t.count, t.semantics, t.scope);
  return Step::Next;
}

/// A kernel parameter: the same value for every lane.
template <class E>
Step load_parameter(Warp& w, const Op& op, uint32_t lanes) {
  const auto& t = *static_cast<const Transfer*>(op.extra);
  const auto* from = reinterpret_cast<const uint8_t*>(w.worker().launch().parameters) + t.address.offset;
  for (uint32_t v = 0; v < t.count; ++v) {
    E value;
    std::memcpy(&value, from + v * sizeof(E), sizeof(E));
    if (t.register_bytes == 8) {
      uint64_t* d = w.u64(t.values[v]);
      for_lanes(lanes, [&](int i) { d[i] = value; });
    } else {
      uint32_t* d = w.u32(t.values[v]);
      for_lanes(lanes, [&](int i) { d[i] = static_cast<uint32_t>(value); });
    }
  }
  return Step::Next;
}

// --- stores
// -------------------------------------------------------------------------------------------------------------

template <class E>
void scatter(Warp& w, const Transfer& t, uint32_t lanes, uint8_t* const (&pointers)[kLanes]) {
  for (uint32_t v = 0; v < t.count; ++v) {
    const size_t shift = size_t{v} * sizeof(E);
    const auto put = [&](const auto* values) {
      for (uint32_t m = lanes; m != 0; m &= m - 1) {
        const int i = std::countr_zero(m);
        const E value = static_cast<E>(values[i]);
        std::memcpy(pointers[i] + shift, &value, sizeof(E));
      }
    };
    if constexpr (sizeof(E) == 16)
      put(w.at<Wide>(t.values[v]));
    else if (t.register_bytes == 8)
      put(w.u64(t.values[v]));
    else
      put(w.u32(t.values[v]));
  }
}

/// The same, lane after lane. Returns the lanes that have put what was there already.
template <class E>
uint32_t scatter_and_compare(Warp& w, const Transfer& t, uint32_t lanes, uint8_t* const (&pointers)[kLanes]) {
  const size_t bytes = sizeof(E) * t.count;
  uint32_t unchanged = 0;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    uint8_t before[sizeof(E) * kMostValues];
    std::memcpy(before, pointers[i], bytes);
    scatter<E>(w, t, uint32_t{1} << i, pointers);
    if (std::memcmp(before, pointers[i], bytes) == 0) unchanged |= uint32_t{1} << i;
  }
  return unchanged;
}

template <class E>
Step store(Warp& w, const Op& op, uint32_t lanes) {
  const auto& t = *static_cast<const Transfer*>(op.extra);
  uint64_t addresses[kLanes];
  uint8_t* pointers[kLanes];
  compute_addresses(w, t.address, lanes, addresses);
  if (!translate(w, t.address.window, lanes, addresses, static_cast<uint32_t>(sizeof(E)) * t.count, true,
                 pointers)) {
    return Step::Fault;
  }
  w.acted = true;
  if (w.worker().listener() == nullptr) {
    scatter<E>(w, t, lanes, pointers);
    return Step::Next;
  }
  const uint32_t unchanged = scatter_and_compare<E>(w, t, lanes, pointers);
  emit_access_to(w, event::Kind::Write, t.address.window, lanes, addresses,
                 static_cast<uint32_t>(sizeof(E)) * t.count, t.semantics, t.scope, unchanged);
  return Step::Next;
}

// --- binding
// ------------------------------------------------------------------------------------------------------------

Handler load_of(uint32_t bytes) {
  switch (bytes) {
    case 1:
      return load<uint8_t>;
    case 2:
      return load<uint16_t>;
    case 4:
      return load<uint32_t>;
    case 8:
      return load<uint64_t>;
    default:
      return load<Wide>;
  }
}

Handler parameter_load_of(uint32_t bytes) {
  switch (bytes) {
    case 1:
      return load_parameter<uint8_t>;
    case 2:
      return load_parameter<uint16_t>;
    case 4:
      return load_parameter<uint32_t>;
    default:
      return load_parameter<uint64_t>;
  }
}

Handler store_of(uint32_t bytes) {
  switch (bytes) {
    case 1:
      return store<uint8_t>;
    case 2:
      return store<uint16_t>;
    case 4:
      return store<uint32_t>;
    case 8:
      return store<uint64_t>;
    default:
      return store<Wide>;
  }
}

/// The memory part that ld and st share. `address` and `value` are operand numbers.
Result<Transfer> bind_transfer(Binder& b, uint32_t address, uint32_t value, bool loads) {
  Transfer t;
  const ScalarType type = b.type();
  if (type == ScalarType::none) return b.unsupported("no type");
  t.element_bytes = ptx::size_of(type);
  Result<Address> bound = bind_memory_address(b, b.operand(address), b.mods().space());
  if (!bound) return bound.error();
  t.address = *bound;
  t.semantics = semantics_of(b.mods());
  t.scope = scope_of(b.mods());
  t.polls = t.semantics != event::Semantics::Weak || b.has(Mod::mmio);

  const ptx::Operand& v = b.operand(value);
  const ptx::Operand single[] = {v};
  const std::span<const ptx::Operand> list =
      v.kind == Kind::Vector ? b.parts(v) : std::span<const ptx::Operand>(single);
  if (list.size() > std::size(t.values)) return b.unsupported("a vector of more than eight parts");
  t.count = 0;
  uint32_t widest = 0;
  for (const ptx::Operand& part : list) {
    if (part.kind == Kind::Register) widest = std::max(widest, ptx::size_of(b.reg(part).type));
    if (loads) {
      t.values[t.count++] = b.destination(part);
    } else {
      Result<Location> from = b.source(part, part.kind == Kind::Register ? b.reg(part).type : type);
      if (!from) return from.error();
      t.values[t.count++] = *from;
    }
  }
  if (widest == 0) widest = t.element_bytes;
  // Signed loads extend to the register's width; stores truncate.
  t.sign_extend = loads && ptx::is_signed(type) && widest > t.element_bytes;
  t.register_bytes = widest <= 4 ? (t.sign_extend && widest == 2 ? 2 : 4) : widest;
  if (t.element_bytes * t.count > 32) return b.unsupported("an access of more than 32 bytes");
  return t;
}

Result<Op> bind_ld(Binder& b) {
  Result<Transfer> t = bind_transfer(b, 1, 0, true);
  if (!t) return t.error();
  const bool parameter = t->address.window == Window::Parameter && t->element_bytes <= 8 && !t->sign_extend;
  Op op = b.op(parameter ? parameter_load_of(t->element_bytes) : load_of(t->element_bytes));
  op.extra = b.extra(*t);
  return op;
}

Result<Op> bind_st(Binder& b) {
  Result<Transfer> t = bind_transfer(b, 0, 1, false);
  if (!t) return t.error();
  if (t->address.window == Window::Parameter) return b.unsupported("a store to a kernel parameter");
  Op op = b.op(store_of(t->element_bytes));
  op.extra = b.extra(*t);
  return op;
}

// --- hints
// --------------------------------------------------------------------------------------------------------------

Step nothing(Warp&, const Op&, uint32_t) {
  return Step::Next;
}
Result<Op> bind_hint(Binder& b) {
  return b.op(nothing);
}

/// MODEL: discard is a write of indeterminate bytes; here they stay what they were.
constexpr uint32_t kDiscarded = 128;
Step discard(Warp& w, const Op& op, uint32_t lanes) {
  const auto& address = *static_cast<const Address*>(op.extra);
  uint64_t addresses[kLanes];
  uint8_t* pointers[kLanes];
  compute_addresses(w, address, lanes, addresses);
  if (!translate(w, address.window, lanes, addresses, kDiscarded, true, pointers)) return Step::Fault;
  w.acted = true;
  emit_access(w, event::Kind::Write, address.window, lanes, addresses, kDiscarded, event::Semantics::Weak,
              event::Scope::Cta);
  return Step::Next;
}
Result<Op> bind_discard(Binder& b) {
  if (b.immediate(b.operand(1), ScalarType::u32) != kDiscarded) return b.unsupported("a size other than 128");
  Op op = b.op(discard);
  SLUICE_ASSIGN_OR_RETURN(const Address address, bind_memory_address(b, b.operand(0), b.mods().space()));
  op.extra = b.extra(address);
  return op;
}

/// A cache policy is opaque; the value only has to be the same for equal requests.
Step policy(Warp& w, const Op& op, uint32_t lanes) {
  uint64_t* d = w.u64(op.d);
  for_lanes(lanes, [&](int i) { d[i] = 0x12f0000000000000ull; });
  return Step::Next;
}
Result<Op> bind_policy(Binder& b) {
  Op op = b.op(policy);
  op.d = b.destination(0);
  return op;
}

constexpr BindRow kRows[] = {
    {Opcode::ld, bind_ld},           {Opcode::ldu, bind_ld},
    {Opcode::st, bind_st},           {Opcode::prefetch, bind_hint},
    {Opcode::prefetchu, bind_hint},  {Opcode::applypriority, bind_hint},
    {Opcode::discard, bind_discard}, {Opcode::createpolicy, bind_policy},
};

}  // namespace

std::span<const BindRow> memory_rows() {
  return kRows;
}

}  // namespace sluice::machine
