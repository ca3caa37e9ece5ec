// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// cvt and cvt.pack. Frequent pairs of types are vector loops; the rest goes value by value through
// numeric/convert.hpp.
#include "machine/numeric/convert.hpp"

#include "machine/numeric/half.hpp"
#include "machine/ops/elementwise.hpp"

namespace sluice::machine {
namespace {

using namespace numeric;
using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::ScalarType;

uint32_t word_bytes(ScalarType type) {
  return ptx::size_of(type) == 8 ? 8 : 4;
}

Rounding rounding_of(const Binder& b) {
  if (b.has(Mod::rz) || b.has(Mod::rzi)) return Rounding::Zero;
  if (b.has(Mod::rm) || b.has(Mod::rmi)) return Rounding::Down;
  if (b.has(Mod::rp) || b.has(Mod::rpi)) return Rounding::Up;
  if (b.has(Mod::rna)) return Rounding::NearestAway;
  return Rounding::Nearest;
}

/// How the generic handlers read and write: words of 4 or 8 bytes.
struct ConvertExtra {
  Conversion conversion;
  bool wide_source = false;
  bool wide_destination = false;
};

Step convert_any(Warp& w, const Op& op, uint32_t lanes) {
  const auto& e = *static_cast<const ConvertExtra*>(op.extra);
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    const uint64_t bits = e.wide_source ? w.u64(op.a)[i] : w.u32(op.a)[i];
    const uint64_t r = convert_scalar(bits, e.conversion);
    if (e.wide_destination) {
      w.u64(op.d)[i] = r;
    } else {
      w.u32(op.d)[i] = static_cast<uint32_t>(r);
    }
  }
  return Step::Next;
}

/// Two f32 to a pair of narrower numbers: a goes to the upper part.
Step convert_two(Warp& w, const Op& op, uint32_t lanes) {
  const auto& c = static_cast<const ConvertExtra*>(op.extra)->conversion;
  const uint32_t width = op.small;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    const uint64_t high = convert_float(float_value(w.u32(op.a)[i], c.from, c.ftz), c.to, c);
    const uint64_t low = convert_float(float_value(w.u32(op.b)[i], c.from, c.ftz), c.to, c);
    w.u32(op.d)[i] = static_cast<uint32_t>((high << width) | low);
  }
  return Step::Next;
}

/// A packed pair to a packed pair.
Step convert_pair(Warp& w, const Op& op, uint32_t lanes) {
  const auto& c = static_cast<const ConvertExtra*>(op.extra)->conversion;
  const uint32_t from = op.small & 0xff, to = op.small >> 8;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    const uint32_t bits = w.u32(op.a)[i];
    const uint32_t mask = (1u << from) - 1;
    const uint64_t high = convert_float(float_value((bits >> from) & mask, c.from, c.ftz), c.to, c);
    const uint64_t low = convert_float(float_value(bits & mask, c.from, c.ftz), c.to, c);
    w.u32(op.d)[i] = static_cast<uint32_t>((high << to) | low);
  }
  return Step::Next;
}

// --- the frequent pairs
// ----------------------------------------------------------------------------------------------------

inline uint32_t s32_to_f32(uint32_t a) {
  return to_bits(static_cast<float>(static_cast<int32_t>(a)));
}
inline uint32_t u32_to_f32(uint32_t a) {
  return to_bits(static_cast<float>(a));
}
inline uint64_t s32_to_f64(uint32_t a) {
  return to_bits(static_cast<double>(static_cast<int32_t>(a)));
}
inline uint64_t u32_to_f64(uint32_t a) {
  return to_bits(static_cast<double>(a));
}
inline uint32_t f32_to_s32(uint32_t a) {
  float x = to_f32(a);
  const bool high = x >= 0x1p31f, low = x < -0x1p31f;
  x = high || low || x != x ? 0.0f : x;
  const auto r = static_cast<uint32_t>(static_cast<int32_t>(x));
  return high ? 0x7fffffffu : (low ? 0x80000000u : r);
}
inline uint64_t f32_to_f64(uint32_t a) {
  const uint64_t nan =
      (uint64_t{a & 0x80000000u} << 32) | 0x7ff8000000000000ull | (uint64_t{a & 0x7fffffu} << 29);
  return is_nan_f32(a) ? nan : to_bits(static_cast<double>(to_f32(a)));
}
inline uint32_t f64_to_f32(uint64_t a) {
  const auto nan = static_cast<uint32_t>(((a >> 32) & 0x80000000u) | 0x7fc00000u | ((a >> 29) & 0x7fffffu));
  return is_nan_f64(a) ? nan : to_bits(static_cast<float>(to_f64(a)));
}
inline uint32_t low_word(uint64_t a) {
  return static_cast<uint32_t>(a);
}
inline uint64_t zero_extend(uint32_t a) {
  return a;
}
inline uint64_t sign_extend(uint32_t a) {
  return static_cast<uint64_t>(int64_t{static_cast<int32_t>(a)});
}
inline uint32_t low_half(uint32_t a) {
  return a & 0xffffu;
}
inline uint32_t same(uint32_t a) {
  return a;
}
inline uint32_t s16_to_s32(uint32_t a) {
  return static_cast<uint32_t>(int32_t{static_cast<int16_t>(a)});
}
inline uint32_t low_byte(uint32_t a) {
  return a & 0xffu;
}
inline uint32_t s8_to_s32(uint32_t a) {
  return static_cast<uint32_t>(int32_t{static_cast<int8_t>(a)});
}
inline uint32_t s8_to_s16(uint32_t a) {
  return static_cast<uint32_t>(int32_t{static_cast<int8_t>(a)}) & 0xffffu;
}
inline uint32_t f16_to_f32_cvt(uint32_t a) {
  const uint32_t r = f16_to_f32(a);
  return is_nan_f32(r) ? kNanF32 : r;
}
inline uint32_t two_f16(uint32_t a, uint32_t b) {
  return (f32_to_f16(a) << 16) | f32_to_f16(b);
}
inline uint32_t two_bf16(uint32_t a, uint32_t b) {
  return (f32_to_bf16(a) << 16) | f32_to_bf16(b);
}

/// A loop for the plain form of a pair (no .sat, no .ftz; registers as wide as the types), or null.
Handler frequent(const Conversion& c) {
  if (c.sat || c.ftz || c.relu || c.satfinite || c.to_integral) return nullptr;
  using T = ScalarType;
  const T to = c.to, from = c.from;
  const bool exact_width = c.register_bits == ptx::bits_of(to);
  if (!exact_width) return nullptr;
  const bool nearest = c.rounding == Rounding::Nearest, zero = c.rounding == Rounding::Zero;
  const uint32_t to_bits_ = ptx::bits_of(to), from_bits = ptx::bits_of(from);
  const bool integers = ptx::is_integer(to) && ptx::is_integer(from);
  if (integers) {
    if (to_bits_ == 32 && from_bits == 64) return map<low_word>;
    if (to_bits_ == 64 && from_bits == 32) return ptx::is_signed(from) ? map<sign_extend> : map<zero_extend>;
    if (to_bits_ == 16 && from_bits == 32) return map<low_half>;
    if (to_bits_ == 32 && from_bits == 32) return map<same>;
    if (to_bits_ == 32 && from_bits == 16) return ptx::is_signed(from) ? map<s16_to_s32> : map<low_half>;
    if (to_bits_ == 32 && from_bits == 8) return ptx::is_signed(from) ? map<s8_to_s32> : map<low_byte>;
    if (to_bits_ == 16 && from_bits == 8) return ptx::is_signed(from) ? map<s8_to_s16> : map<low_byte>;
    return nullptr;
  }
  if (to == T::f32 && nearest) {
    if (from == T::s32) return map<s32_to_f32>;
    if (from == T::u32) return map<u32_to_f32>;
    if (from == T::f64) return map<f64_to_f32>;
    if (from == T::f16) return map<f16_to_f32_cvt>;
    if (from == T::bf16) return map<bf16_to_f32>;
  }
  if (to == T::f64 && nearest) {
    if (from == T::s32) return map<s32_to_f64>;
    if (from == T::u32) return map<u32_to_f64>;
    if (from == T::f32) return map<f32_to_f64>;
  }
  if (from == T::f32) {
    if (to == T::f16 && nearest) return map<f32_to_f16>;
    if (to == T::bf16 && nearest) return map<f32_to_bf16>;
    if (to == T::s32 && zero) return map<f32_to_s32>;
  }
  return nullptr;
}

/// The register type of an operand where it is a register (it may be wider than the instruction's type).
ScalarType register_type(const Binder& b, const Operand& operand, ScalarType type) {
  return b.is_register(operand) ? b.reg(operand).type : type;
}

bool is_fp8_pair(ScalarType t) {
  return t == ScalarType::e4m3x2 || t == ScalarType::e5m2x2;
}
bool is_wide_pair(ScalarType t) {
  return t == ScalarType::f16x2 || t == ScalarType::bf16x2;
}

Result<Op> bind_cvt(Binder& b) {
  const ScalarType to = b.type(0), from = b.type(1);
  ConvertExtra e;
  Conversion& c = e.conversion;
  c.to = to;
  c.from = from;
  c.rounding = rounding_of(b);
  c.to_integral = b.has(Mod::rni) || b.has(Mod::rzi) || b.has(Mod::rmi) || b.has(Mod::rpi);
  c.ftz = b.has(Mod::ftz);
  c.sat = b.has(Mod::sat);
  c.satfinite = b.has(Mod::satfinite);
  c.relu = b.has(Mod::relu);

  // Packed destinations and sources.
  if (is_fp8_pair(to) || is_wide_pair(to)) {
    if (b.has(Mod::rs)) return b.unsupported("stochastic rounding needs sm_100a");
    const uint32_t width = is_fp8_pair(to) ? 8 : 16;
    if (from == ScalarType::f32) {
      Handler h = convert_two;
      if (width == 16 && !c.relu && !c.satfinite && c.rounding == Rounding::Nearest) {
        h = to == ScalarType::f16x2 ? map<two_f16> : map<two_bf16>;
      }
      SLUICE_ASSIGN_OR_RETURN(Op op, bind_sources(b, h, {ScalarType::f32, ScalarType::f32}));
      op.small = width;
      op.extra = b.extra(e);
      return op;
    }
    const bool from_wide = is_wide_pair(from);
    if ((width == 8 && from_wide) || (width == 16 && is_fp8_pair(from))) {
      SLUICE_ASSIGN_OR_RETURN(Op op,
                              bind_sources(b, convert_pair, {from_wide ? ScalarType::b32 : ScalarType::b16}));
      op.small = (from_wide ? 16u : 8u) | (width << 8);
      op.extra = b.extra(e);
      return op;
    }
    return b.unsupported("this pair of types is not executed");
  }
  const auto scalar = [](ScalarType t) {
    using T = ScalarType;
    return ptx::is_integer(t) || t == T::f16 || t == T::bf16 || t == T::f32 || t == T::f64 || t == T::tf32;
  };
  if (!scalar(to) || !scalar(from)) return b.unsupported("this pair of types is not executed on sm_90a");

  const ScalarType source = register_type(b, b.operand(1), from);
  const ScalarType destination =
      register_type(b, b.operand(0), to == ScalarType::tf32 ? ScalarType::b32 : to);
  c.register_bits = ptx::bits_of(destination);
  e.wide_source = word_bytes(source) == 8;
  e.wide_destination = word_bytes(destination) == 8;
  Handler h = convert_any;
  if (word_bytes(source) == word_bytes(from)) {
    if (const Handler loop = frequent(c)) h = loop;
  }
  Op op = b.op(h);
  op.d = b.destination(0);
  SLUICE_ASSIGN_OR_RETURN(op.a, b.source(1, source));
  op.extra = b.extra(e);
  return op;
}

Step cvt_pack(Warp& w, const Op& op, uint32_t lanes) {
  const uint32_t bits = op.small & 0xff;
  const bool is_signed = (op.small & 0x100) != 0;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    const uint32_t c = bits == 16 ? 0 : w.u32(op.c)[i];
    w.u32(op.d)[i] = convert_pack(static_cast<int32_t>(w.u32(op.a)[i]), static_cast<int32_t>(w.u32(op.b)[i]),
                                  c, bits, is_signed);
  }
  return Step::Next;
}
Result<Op> bind_cvt_pack(Binder& b) {
  const ScalarType to = b.type(0);
  const uint32_t bits = ptx::bits_of(to);
  Result<Op> bound = bits == 16
                         ? bind_sources(b, cvt_pack, {ScalarType::s32, ScalarType::s32})
                         : bind_sources(b, cvt_pack, {ScalarType::s32, ScalarType::s32, ScalarType::b32});
  if (!bound) return bound;
  bound->small = bits | (ptx::is_signed(to) ? 0x100u : 0u);
  return bound;
}

constexpr BindRow kRows[] = {
    {Opcode::cvt, bind_cvt},
    {Opcode::cvt_pack, bind_cvt_pack},
};

}  // namespace

std::span<const BindRow> convert_rows() {
  return kRows;
}

}  // namespace sluice::machine
