// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Reductions, one element at a time.
#include "machine/units/reduce.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace sluice::machine {
namespace {

using ptx::Mod;
using ptx::ScalarType;

template <class T>
T combine(Reduction operation, T old, T value) {
  using U = std::make_unsigned_t<T>;
  const auto old_bits = static_cast<U>(old);
  const auto value_bits = static_cast<U>(value);
  switch (operation) {
    case Reduction::Add:
      return static_cast<T>(static_cast<U>(old_bits + value_bits));
    case Reduction::Min:
      return std::min(old, value);
    case Reduction::Max:
      return std::max(old, value);
    case Reduction::Inc:
      return old_bits >= value_bits ? T{0} : static_cast<T>(old_bits + 1u);
    case Reduction::Dec:
      return old_bits == 0 || old_bits > value_bits ? value : static_cast<T>(old_bits - 1u);
    case Reduction::And:
      return static_cast<T>(old_bits & value_bits);
    case Reduction::Or:
      return static_cast<T>(old_bits | value_bits);
    case Reduction::Xor:
      return static_cast<T>(old_bits ^ value_bits);
    case Reduction::None:
      break;
  }
  return value;
}

template <class T>
void each(uint8_t* memory, const uint8_t* source, uint32_t bytes, Reduction operation) {
  for (uint32_t i = 0; i + sizeof(T) <= bytes; i += sizeof(T)) {
    T old, value;
    std::memcpy(&old, memory + i, sizeof(T));
    std::memcpy(&value, source + i, sizeof(T));
    const T now = combine<T>(operation, old, value);
    std::memcpy(memory + i, &now, sizeof(T));
  }
}

void each_float(uint8_t* memory, const uint8_t* source, uint32_t bytes, Reduction operation, ScalarType type,
                AtomicUnit unit) {
  const FloatAtomic kind = operation == Reduction::Add   ? FloatAtomic::Add
                           : operation == Reduction::Min ? FloatAtomic::Min
                                                         : FloatAtomic::Max;
  const uint32_t width = ptx::size_of(type);
  for (uint32_t i = 0; i + width <= bytes; i += width) {
    uint64_t old = 0, value = 0;
    std::memcpy(&old, memory + i, width);
    std::memcpy(&value, source + i, width);
    const uint64_t now = float_atomic(kind, type, unit, old, value);
    std::memcpy(memory + i, &now, width);
  }
}

}  // namespace

Reduction reduction_of(const ptx::Mods& mods) {
  for (const Mod mod : mods.all()) {
    switch (mod) {
      case Mod::add:
        return Reduction::Add;
      case Mod::min:
        return Reduction::Min;
      case Mod::max:
        return Reduction::Max;
      case Mod::inc:
        return Reduction::Inc;
      case Mod::dec:
        return Reduction::Dec;
      case Mod::and_:
        return Reduction::And;
      case Mod::or_:
        return Reduction::Or;
      case Mod::xor_:
        return Reduction::Xor;
      default:
        break;
    }
  }
  return Reduction::None;
}

void reduce_bytes(uint8_t* memory, const uint8_t* source, uint32_t bytes, Reduction operation,
                  ScalarType type, AtomicUnit unit) {
  switch (type) {
    case ScalarType::u8:
    case ScalarType::b8:
      return each<uint8_t>(memory, source, bytes, operation);
    case ScalarType::u16:
    case ScalarType::b16:
      return each<uint16_t>(memory, source, bytes, operation);
    case ScalarType::u32:
    case ScalarType::b32:
      return each<uint32_t>(memory, source, bytes, operation);
    case ScalarType::s32:
      return each<int32_t>(memory, source, bytes, operation);
    case ScalarType::u64:
    case ScalarType::b64:
      return each<uint64_t>(memory, source, bytes, operation);
    case ScalarType::s64:
      return each<int64_t>(memory, source, bytes, operation);
    default:
      return each_float(memory, source, bytes, operation, type, unit);
  }
}

}  // namespace sluice::machine
