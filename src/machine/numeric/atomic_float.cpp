// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic is that of the instructions of the same type.
#include "machine/numeric/atomic_float.hpp"

#include "machine/numeric/floating.hpp"
#include "machine/numeric/half.hpp"

namespace sluice::machine {
namespace {

using namespace numeric;

uint32_t f32(FloatAtomic operation, AtomicUnit unit, uint32_t old, uint32_t value) {
  switch (operation) {
    case FloatAtomic::Min:
      return min_max_f32<false, false, false, false>(old, value);
    case FloatAtomic::Max:
      return min_max_f32<true, false, false, false>(old, value);
    default:
      return unit == AtomicUnit::Global ? F32<true, false>::add(old, value)
                                        : F32<false, false>::add(old, value);
  }
}

uint64_t f64(FloatAtomic operation, AtomicUnit unit, uint64_t old, uint64_t value) {
  switch (operation) {
    case FloatAtomic::Min:
      return min_max_f64<false>(old, value);
    case FloatAtomic::Max:
      return min_max_f64<true>(old, value);
    default:
      if (unit == AtomicUnit::Global && is_nan_f64(value)) return value;
      if (unit == AtomicUnit::Global && is_nan_f64(old)) return old;
      return F64::add(old, value);
  }
}

template <class T>
uint32_t half(FloatAtomic operation, uint32_t old, uint32_t value) {
  using H = Half<T, false>;
  switch (operation) {
    case FloatAtomic::Min:
      return H::template min_max<false, false, false>(old, value);
    case FloatAtomic::Max:
      return H::template min_max<true, false, false>(old, value);
    default:
      return H::add(old, value);
  }
}

template <class T>
uint32_t pair(FloatAtomic operation, uint32_t old, uint32_t value) {
  return half<T>(operation, old & 0xffff, value & 0xffff) |
         (half<T>(operation, old >> 16, value >> 16) << 16);
}

}  // namespace

uint64_t float_atomic(FloatAtomic operation, ptx::ScalarType type, AtomicUnit unit, uint64_t old,
                      uint64_t value) {
  using ptx::ScalarType;
  const auto old_word = static_cast<uint32_t>(old), word = static_cast<uint32_t>(value);
  switch (type) {
    case ScalarType::f32:
      return f32(operation, unit, old_word, word);
    case ScalarType::f64:
      return f64(operation, unit, old, value);
    case ScalarType::f16:
      return half<F16>(operation, old_word & 0xffff, word & 0xffff);
    case ScalarType::bf16:
      return half<Bf16>(operation, old_word & 0xffff, word & 0xffff);
    case ScalarType::f16x2:
      return pair<F16>(operation, old_word, word);
    case ScalarType::bf16x2:
      return pair<Bf16>(operation, old_word, word);
    default:
      return old;
  }
}

}  // namespace sluice::machine
