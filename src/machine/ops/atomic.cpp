// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// atom and red: read-modify-write on global and shared memory, lane by lane in lane order. One warp
// instruction runs without interruption on one host thread, and kernels with atomics on global memory run on
// one host thread, so every operation is atomic. PTX ISA, "atom", "red".
//
// MODEL: lanes of one instruction that hit one address are applied in lane order; a GPU may choose any order.
#include <bit>
#include <cmath>
#include <cstring>

#include "machine/bind.hpp"
#include "machine/numeric/atomic_float.hpp"
#include "machine/ops/access.hpp"
#include "machine/ops/lanes.hpp"
#include "machine/state.hpp"

namespace sluice::machine {
namespace {

using Kind = ptx::Operand::Kind;
using ptx::Mod;
using ptx::Opcode;
using ptx::ScalarType;

enum class Operation : uint8_t {
  And,
  Or,
  Xor,
  Exchange,
  CompareAndSwap,
  Add,
  Increment,
  Decrement,
  Min,
  Max
};

struct Atomic {
  Address address;
  Operation operation{};
  ScalarType type{};
  uint32_t bytes = 4;
  uint32_t count = 1;  ///< vector form: elements per lane
  bool has_result = false;
  Location result[8] = {};
  Location value[8] = {};
  Location swap = 0;
  event::Semantics semantics = event::Semantics::Relaxed;
  event::Scope scope = event::Scope::Gpu;
};

uint64_t read_value(const uint8_t* pointer, uint32_t bytes) {
  uint64_t value = 0;
  std::memcpy(&value, pointer, bytes);
  return value;
}

template <class T>
uint64_t integer(Operation operation, uint64_t old_bits, uint64_t value_bits) {
  const T old = static_cast<T>(old_bits);
  const T value = static_cast<T>(value_bits);
  using U = std::make_unsigned_t<T>;
  switch (operation) {
    case Operation::Add:
      return static_cast<U>(static_cast<U>(old) + static_cast<U>(value));
    case Operation::Min:
      return static_cast<U>(old < value ? old : value);
    case Operation::Max:
      return static_cast<U>(old > value ? old : value);
    case Operation::Increment:
      return static_cast<U>(old) >= static_cast<U>(value) ? 0 : static_cast<U>(old) + 1u;
    case Operation::Decrement:
      return old == 0 || static_cast<U>(old) > static_cast<U>(value) ? static_cast<U>(value)
                                                                     : static_cast<U>(old) - 1u;
    default:
      return 0;
  }
}

uint64_t combine(const Atomic& a, AtomicUnit unit, uint64_t old, uint64_t value, uint64_t swap) {
  switch (a.operation) {
    case Operation::And:
      return old & value;
    case Operation::Or:
      return old | value;
    case Operation::Xor:
      return old ^ value;
    case Operation::Exchange:
      return value;
    case Operation::CompareAndSwap:
      return old == value ? swap : old;
    default:
      break;
  }
  switch (a.type) {
    case ScalarType::u32:
    case ScalarType::b32:
      return static_cast<uint32_t>(integer<uint32_t>(a.operation, old, value));
    case ScalarType::s32:
      return static_cast<uint32_t>(integer<int32_t>(a.operation, old, value));
    case ScalarType::u64:
    case ScalarType::b64:
      return integer<uint64_t>(a.operation, old, value);
    case ScalarType::s64:
      return integer<int64_t>(a.operation, old, value);
    default: {
      const FloatAtomic kind = a.operation == Operation::Add   ? FloatAtomic::Add
                               : a.operation == Operation::Min ? FloatAtomic::Min
                                                               : FloatAtomic::Max;
      return float_atomic(kind, a.type, unit, old, value);
    }
  }
}

/// Which memory an address of this window leads to (local memory has no atomics).
AtomicUnit unit_of(Window window, uint64_t address) {
  const bool shared = window == Window::Shared || window == Window::SharedCluster ||
                      (window == Window::Generic && is_shared_address(address));
  return shared ? AtomicUnit::Shared : AtomicUnit::Global;
}

Step atomic(Warp& w, const Op& op, uint32_t lanes) {
  const auto& a = *static_cast<const Atomic*>(op.extra);
  uint64_t addresses[kLanes];
  uint8_t* pointers[kLanes];
  compute_addresses(w, a.address, lanes, addresses);
  if (!translate(w, a.address.window, lanes, addresses, a.bytes * a.count, true, pointers))
    return Step::Fault;

  const bool wide = a.bytes == 8;
  bool changed = false;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    const AtomicUnit unit = unit_of(a.address.window, addresses[i]);
    for (uint32_t v = 0; v < a.count; ++v) {
      uint8_t* const at = pointers[i] + size_t{v} * a.bytes;
      const uint64_t value = wide ? w.u64(a.value[v])[i] : w.u32(a.value[v])[i];
      const uint64_t swap = a.operation != Operation::CompareAndSwap ? 0
                            : wide                                   ? w.u64(a.swap)[i]
                                                                     : w.u32(a.swap)[i];
      const uint64_t old = read_value(at, a.bytes);
      const uint64_t mask = wide ? ~uint64_t{0} : (uint64_t{1} << (a.bytes * 8)) - 1;
      const uint64_t now = combine(a, unit, old, value & mask, swap & mask) & mask;
      changed |= now != old;
      std::memcpy(at, &now, a.bytes);
      if (a.has_result) {
        if (wide)
          w.u64(a.result[v])[i] = old;
        else
          w.u32(a.result[v])[i] = static_cast<uint32_t>(old);
      }
    }
  }
  (changed ? w.acted : w.polled) = true;
  emit_access(w, event::Kind::Atomic, a.address.window, lanes, addresses, a.bytes * a.count, a.semantics,
              a.scope);
  return Step::Next;
}

struct Wide {
  uint64_t low, high;
  bool operator==(const Wide&) const = default;
};

/// atom.b128: exch and cas.
Step atomic_wide(Warp& w, const Op& op, uint32_t lanes) {
  const auto& a = *static_cast<const Atomic*>(op.extra);
  uint64_t addresses[kLanes];
  uint8_t* pointers[kLanes];
  compute_addresses(w, a.address, lanes, addresses);
  if (!translate(w, a.address.window, lanes, addresses, 16, true, pointers)) return Step::Fault;
  bool changed = false;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    Wide old;
    std::memcpy(&old, pointers[i], 16);
    const Wide value = w.at<Wide>(a.value[0])[i];
    const Wide now = a.operation == Operation::Exchange ? value : old == value ? w.at<Wide>(a.swap)[i] : old;
    changed |= !(now == old);
    std::memcpy(pointers[i], &now, 16);
    w.at<Wide>(a.result[0])[i] = old;
  }
  (changed ? w.acted : w.polled) = true;
  emit_access(w, event::Kind::Atomic, a.address.window, lanes, addresses, 16, a.semantics, a.scope);
  return Step::Next;
}

Result<Operation> operation_of(Binder& b) {
  if (b.has(Mod::and_)) return Operation::And;
  if (b.has(Mod::or_)) return Operation::Or;
  if (b.has(Mod::xor_)) return Operation::Xor;
  if (b.has(Mod::exch)) return Operation::Exchange;
  if (b.has(Mod::cas)) return Operation::CompareAndSwap;
  if (b.has(Mod::add)) return Operation::Add;
  if (b.has(Mod::inc)) return Operation::Increment;
  if (b.has(Mod::dec)) return Operation::Decrement;
  if (b.has(Mod::min)) return Operation::Min;
  if (b.has(Mod::max)) return Operation::Max;
  return b.unsupported("this operation");
}

Result<Op> bind_atomic(Binder& b, bool has_result) {
  Atomic a;
  Result<Operation> operation = operation_of(b);
  if (!operation) return operation.error();
  a.operation = *operation;
  a.type = b.type();
  a.bytes = ptx::size_of(a.type);
  a.has_result = has_result;
  a.semantics = semantics_of(b.mods());
  if (a.semantics == event::Semantics::Weak) a.semantics = event::Semantics::Relaxed;
  if (b.has(Mod::cta))
    a.scope = event::Scope::Cta;
  else if (b.has(Mod::cluster))
    a.scope = event::Scope::Cluster;
  else if (b.has(Mod::sys))
    a.scope = event::Scope::System;

  const uint32_t at = has_result ? 1 : 0;
  Result<Address> address = bind_memory_address(b, b.operand(at), b.mods().space());
  if (!address) return address.error();
  a.address = *address;

  const ptx::Operand& value = b.operand(at + 1);
  if (value.kind == Kind::Vector) {
    a.count = 0;
    for (const ptx::Operand& part : b.parts(value)) {
      Result<Location> from = b.source(part, a.type);
      if (!from) return from.error();
      a.value[a.count++] = *from;
    }
    if (has_result) {
      uint32_t r = 0;
      const ptx::Operand& result = b.operand(0);
      for (uint32_t v = 0; v < a.count; ++v) {
        a.result[r++] = result.kind == Kind::Vector ? b.destination(b.parts(result)[v]) : b.sink();
      }
    }
  } else {
    Result<Location> from = b.source(value, a.type);
    if (!from) return from.error();
    a.value[0] = *from;
    if (has_result) a.result[0] = b.destination(0);
  }
  if (a.operation == Operation::CompareAndSwap) {
    Result<Location> swap = b.source(at + 2, a.type);
    if (!swap) return swap.error();
    a.swap = *swap;
  }
  Op op = b.op(a.bytes == 16 ? atomic_wide : atomic);
  op.extra = b.extra(a);
  return op;
}

Result<Op> bind_atom(Binder& b) {
  return bind_atomic(b, true);
}
Result<Op> bind_red(Binder& b) {
  return bind_atomic(b, false);
}

constexpr BindRow kRows[] = {{Opcode::atom, bind_atom}, {Opcode::red, bind_red}};

}  // namespace

std::span<const BindRow> atomic_rows() {
  return kRows;
}

}  // namespace sluice::machine
