// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Integer arithmetic, carry chains, and the mnemonics that integers share with floating point (which is
// handed on to float.cpp and float_half.cpp). Bit fields, logic and shifts are in integer_bits.cpp.
#include "machine/numeric/integer.hpp"

#include <array>
#include <vector>

#include "base/lifetime.hpp"
#include "machine/ops/elementwise.hpp"
#include "machine/ops/float_half.hpp"
#include "machine/ops/integer_bits.hpp"

namespace sluice::machine {
namespace {

using numeric::Int;
using ptx::Mod;
using ptx::Opcode;
using ptx::ScalarType;

ScalarType wide_of(ScalarType t) {
  switch (t) {
    case ScalarType::u16:
      return ScalarType::u32;
    case ScalarType::s16:
      return ScalarType::s32;
    case ScalarType::u32:
      return ScalarType::u64;
    default:
      return ScalarType::s64;
  }
}

/// Hands floating-point types on; integers come back as "not mine".
bool is_floating(const Binder& b) {
  return ptx::is_float(b.type());
}
Result<Op> bind_floating(Binder& b) {
  return is_half(b.type()) ? bind_half(b) : bind_float(b);
}

// --- the carry flag
// ---------------------------------------------------------------------------------------------------------

/// d = a + b (+ carry), or a - b (- borrow). The flag is a lane mask of the warp.
template <class W, bool Subtract>
Step add_carry(Warp& w, const Op& op, uint32_t lanes) {
  const bool reads = op.small & 1, writes = op.small & 2;
  W* const d = w.at<W>(op.d);
  const W* const a = w.at<W>(op.a);
  const W* const b = w.at<W>(op.b);
  uint32_t flag = w.carry;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    const W in = reads ? (w.carry >> i) & 1 : 0;
    W first, second;
    bool out;
    if constexpr (Subtract) {
      out = __builtin_sub_overflow(a[i], b[i], &first);
      out |= __builtin_sub_overflow(first, in, &second);
    } else {
      out = __builtin_add_overflow(a[i], b[i], &first);
      out |= __builtin_add_overflow(first, in, &second);
    }
    d[i] = second;
    flag = (flag & ~(1u << i)) | (uint32_t{out} << i);
  }
  if (writes) w.carry = flag;
  return Step::Next;
}

/// d = (high or low half of a * b) + c (+ carry).
template <class T, bool High>
Step mad_carry(Warp& w, const Op& op, uint32_t lanes) {
  using W = numeric::Word<T>;
  const bool reads = op.small & 1, writes = op.small & 2;
  W* const d = w.at<W>(op.d);
  const W* const a = w.at<W>(op.a);
  const W* const b = w.at<W>(op.b);
  const W* const c = w.at<W>(op.c);
  uint32_t flag = w.carry;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    const W product = High ? Int<T>::mul_hi(a[i], b[i]) : Int<T>::mul_lo(a[i], b[i]);
    const W in = reads ? (w.carry >> i) & 1 : 0;
    W first, second;
    bool out = __builtin_add_overflow(product, c[i], &first);
    out |= __builtin_add_overflow(first, in, &second);
    d[i] = second;
    flag = (flag & ~(1u << i)) | (uint32_t{out} << i);
  }
  if (writes) w.carry = flag;
  return Step::Next;
}

Result<Op> bind_add_carry(Binder& b, bool subtract, bool reads) {
  const ScalarType t = b.type();
  Handler h = nullptr;
  if (ptx::size_of(t) == 4) h = subtract ? add_carry<uint32_t, true> : add_carry<uint32_t, false>;
  if (ptx::size_of(t) == 8) h = subtract ? add_carry<uint64_t, true> : add_carry<uint64_t, false>;
  SLUICE_ASSIGN_OR_RETURN(Op op, bind_sources(b, h, {t, t}));
  op.small = (reads ? 1u : 0u) | (b.has(Mod::cc) ? 2u : 0u);
  return op;
}
Result<Op> bind_addc(Binder& b) {
  return bind_add_carry(b, false, true);
}
Result<Op> bind_subc(Binder& b) {
  return bind_add_carry(b, true, true);
}

Result<Op> bind_mad_carry(Binder& b, bool reads) {
  const ScalarType t = b.type();
  const bool high = b.has(Mod::hi);
  const Handler h = for_wide_integer(
      t, [&]<class T>() -> Handler { return high ? mad_carry<T, true> : mad_carry<T, false>; });
  SLUICE_ASSIGN_OR_RETURN(Op op, bind_sources(b, h, {t, t, t}));
  op.small = (reads ? 1u : 0u) | (b.has(Mod::cc) ? 2u : 0u);
  return op;
}
Result<Op> bind_madc(Binder& b) {
  return bind_mad_carry(b, true);
}

// --- add to max
// -----------------------------------------------------------------------------------------------------------------

Result<Op> bind_add(Binder& b) {
  if (is_floating(b)) return bind_floating(b);
  if (b.has(Mod::cc)) return bind_add_carry(b, false, false);
  const ScalarType t = b.type();
  Handler h = nullptr;
  if (t == ScalarType::u16x2 || t == ScalarType::s16x2) {
    h = map<numeric::halves2<Int<uint16_t>::add>>;
  } else if (b.has(Mod::sat)) {
    h = map<numeric::add_sat_s32>;
  } else {
    h = for_integer(t, []<class T>() -> Handler { return map<Int<std::make_unsigned_t<T>>::add>; });
  }
  return bind_sources(b, h, {t, t});
}

Result<Op> bind_sub(Binder& b) {
  if (is_floating(b)) return bind_floating(b);
  if (b.has(Mod::cc)) return bind_add_carry(b, true, false);
  const ScalarType t = b.type();
  Handler h = nullptr;
  if (b.has(Mod::sat)) {
    h = map<numeric::sub_sat_s32>;
  } else {
    h = for_integer(t, []<class T>() -> Handler { return map<Int<std::make_unsigned_t<T>>::sub>; });
  }
  return bind_sources(b, h, {t, t});
}

Result<Op> bind_mul(Binder& b) {
  if (is_floating(b)) return bind_floating(b);
  const ScalarType t = b.type();
  Handler h = nullptr;
  if (b.has(Mod::wide)) {
    if (ptx::size_of(t) < 8) {
      h = for_integer(t, []<class T>() -> Handler {
        if constexpr (sizeof(T) < 8) return map<Int<T>::mul_wide>;
        return nullptr;
      });
    }
  } else if (b.has(Mod::hi)) {
    h = for_integer(t, []<class T>() -> Handler { return map<Int<T>::mul_hi>; });
  } else {
    h = for_integer(t, []<class T>() -> Handler { return map<Int<std::make_unsigned_t<T>>::mul_lo>; });
  }
  return bind_sources(b, h, {t, t});
}

Result<Op> bind_mad(Binder& b) {
  if (is_floating(b)) return bind_floating(b);
  if (b.has(Mod::cc)) return bind_mad_carry(b, false);
  const ScalarType t = b.type();
  Handler h = nullptr;
  if (b.has(Mod::wide)) {
    h = for_integer(t, []<class T>() -> Handler {
      if constexpr (sizeof(T) < 8) return map<Int<T>::mad_wide>;
      return nullptr;
    });
    return bind_sources(b, h, {t, t, wide_of(t)});
  }
  if (b.has(Mod::sat)) {
    h = map<numeric::mad_hi_sat_s32>;
  } else if (b.has(Mod::hi)) {
    h = for_integer(t, []<class T>() -> Handler { return map<Int<T>::mad_hi>; });
  } else {
    h = for_integer(t, []<class T>() -> Handler { return map<Int<std::make_unsigned_t<T>>::mad_lo>; });
  }
  return bind_sources(b, h, {t, t, t});
}

Result<Op> bind_mul24(Binder& b) {
  const bool s = ptx::is_signed(b.type()), high = b.has(Mod::hi);
  const Handler h = high ? (s ? map<numeric::mul24_hi<true>> : map<numeric::mul24_hi<false>>)
                         : (s ? map<numeric::mul24_lo<true>> : map<numeric::mul24_lo<false>>);
  return bind_sources(b, h, {b.type(), b.type()});
}
Result<Op> bind_mad24(Binder& b) {
  const bool s = ptx::is_signed(b.type()), high = b.has(Mod::hi);
  Handler h = high ? (s ? map<numeric::mad24_hi<true>> : map<numeric::mad24_hi<false>>)
                   : (s ? map<numeric::mad24_lo<true>> : map<numeric::mad24_lo<false>>);
  if (b.has(Mod::sat)) h = map<numeric::mad24_hi_sat>;
  return bind_sources(b, h, {b.type(), b.type(), b.type()});
}

Result<Op> bind_sad(Binder& b) {
  const Handler h = for_integer(b.type(), []<class T>() -> Handler { return map<Int<T>::sad>; });
  return bind_sources(b, h, {b.type(), b.type(), b.type()});
}

Result<Op> bind_div(Binder& b) {
  if (is_floating(b)) return bind_floating(b);
  const Handler h = for_integer(b.type(), []<class T>() -> Handler { return map<Int<T>::div>; });
  return bind_sources(b, h, {b.type(), b.type()});
}
Result<Op> bind_rem(Binder& b) {
  const Handler h = for_integer(b.type(), []<class T>() -> Handler { return map<Int<T>::rem>; });
  return bind_sources(b, h, {b.type(), b.type()});
}

Result<Op> bind_abs(Binder& b) {
  if (is_floating(b)) return bind_floating(b);
  const Handler h = for_integer(b.type(), []<class T>() -> Handler { return map<Int<T>::abs>; });
  return bind_sources(b, h, {b.type()});
}
Result<Op> bind_neg(Binder& b) {
  if (is_floating(b)) return bind_floating(b);
  const Handler h = for_integer(b.type(), []<class T>() -> Handler { return map<Int<T>::neg>; });
  return bind_sources(b, h, {b.type()});
}

template <bool Max>
Result<Op> bind_min_max(Binder& b) {
  if (is_floating(b)) return bind_floating(b);
  const ScalarType t = b.type();
  const bool relu = b.has(Mod::relu);
  Handler h = nullptr;
  if (t == ScalarType::s16x2) {
    if (relu) {
      h = map<numeric::halves2<Max ? Int<int16_t>::max_relu : Int<int16_t>::min_relu>>;
    } else {
      h = map<numeric::halves2<Max ? Int<int16_t>::max : Int<int16_t>::min>>;
    }
  } else if (t == ScalarType::u16x2) {
    h = map<numeric::halves2<Max ? Int<uint16_t>::max : Int<uint16_t>::min>>;
  } else if (relu) {
    if (t == ScalarType::s32) h = map < Max ? Int<int32_t>::max_relu : Int<int32_t>::min_relu > ;
  } else {
    h = for_integer(t, []<class T>() -> Handler { return map < Max ? Int<T>::max : Int<T>::min > ; });
  }
  return bind_sources(b, h, {t, t});
}

Result<Op> bind_dp4a(Binder& b) {
  const bool x = ptx::is_signed(b.type(0)), y = ptx::is_signed(b.type(1));
  using namespace numeric;
  const Handler h = x ? (y ? map<dp4a<true, true>> : map<dp4a<true, false>>)
                      : (y ? map<dp4a<false, true>> : map<dp4a<false, false>>);
  return bind_sources(b, h, {ScalarType::b32, ScalarType::b32, ScalarType::b32});
}
template <bool High>
Handler dp2a_handler(bool x, bool y) {
  using namespace numeric;
  return x ? (y ? map<dp2a<true, true, High>> : map<dp2a<true, false, High>>)
           : (y ? map<dp2a<false, true, High>> : map<dp2a<false, false, High>>);
}
Result<Op> bind_dp2a(Binder& b) {
  const bool x = ptx::is_signed(b.type(0)), y = ptx::is_signed(b.type(1));
  const Handler h = b.has(Mod::hi) ? dp2a_handler<true>(x, y) : dp2a_handler<false>(x, y);
  return bind_sources(b, h, {ScalarType::b32, ScalarType::b32, ScalarType::b32});
}

constexpr BindRow kArithmetic[] = {
    {Opcode::add, bind_add},           {Opcode::sub, bind_sub},     {Opcode::mul, bind_mul},
    {Opcode::mad, bind_mad},           {Opcode::mul24, bind_mul24}, {Opcode::mad24, bind_mad24},
    {Opcode::sad, bind_sad},           {Opcode::div, bind_div},     {Opcode::rem, bind_rem},
    {Opcode::abs, bind_abs},           {Opcode::neg, bind_neg},     {Opcode::min, bind_min_max<false>},
    {Opcode::max, bind_min_max<true>}, {Opcode::dp4a, bind_dp4a},   {Opcode::dp2a, bind_dp2a},
    {Opcode::addc, bind_addc},         {Opcode::subc, bind_subc},   {Opcode::madc, bind_madc},
};

}  // namespace

std::span<const BindRow> integer_rows() {
  static const auto& rows = immortal([] {
    std::vector<BindRow> all(std::begin(kArithmetic), std::end(kArithmetic));
    const auto bits = integer_bit_rows();
    all.insert(all.end(), bits.begin(), bits.end());
    return all;
  }());
  return rows;
}

}  // namespace sluice::machine
