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

/// The low word of a register of 32 or 64 bits: that of a pair may be wider than the pair.
struct Word {
  Location at = 0;
  bool wide = false;
};
uint32_t read(Warp& w, Word word, int lane) {
  return word.wide ? static_cast<uint32_t>(w.u64(word.at)[lane]) : w.u32(word.at)[lane];
}
void write(Warp& w, Word word, int lane, uint32_t value) {
  if (word.wide) {
    w.u64(word.at)[lane] = value;
  } else {
    w.u32(word.at)[lane] = value;
  }
}

/// What the handlers of pairs work with.
struct Pairing {
  Conversion conversion;
  uint32_t from_bits = 0, to_bits = 0;  ///< of one of the two
  Word d = {}, a = {}, b = {}, c = {};
};

/// d = f(lane's a, b, c).
template <uint32_t (*F)(const Pairing&, uint32_t, uint32_t, uint32_t)>
Step pair(Warp& w, const Op& op, uint32_t lanes) {
  const auto& p = *static_cast<const Pairing*>(op.extra);
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    write(w, p.d, i, F(p, read(w, p.a, i), read(w, p.b, i), read(w, p.c, i)));
  }
  return Step::Next;
}

/// Two f32 to a pair of narrower numbers: a goes to the upper part.
uint32_t pair_of(const Pairing& p, uint32_t a, uint32_t b, uint32_t) {
  const Conversion& c = p.conversion;
  const uint64_t high = convert_float(float_value(a, c.from, c.ftz), c.to, c);
  const uint64_t low = convert_float(float_value(b, c.from, c.ftz), c.to, c);
  return static_cast<uint32_t>((high << p.to_bits) | low);
}
/// A packed pair to a packed pair.
uint32_t pair_from_pair(const Pairing& p, uint32_t a, uint32_t, uint32_t) {
  const uint32_t mask = (1u << p.from_bits) - 1;
  return pair_of(p, (a >> p.from_bits) & mask, a & mask, 0);
}
uint32_t pack(const Pairing& p, uint32_t a, uint32_t b, uint32_t c) {
  return convert_pack(static_cast<int32_t>(a), static_cast<int32_t>(b), c, p.to_bits,
                      ptx::is_signed(p.conversion.to));
}

/// A handler of pairs with destination 0 and the sources behind it.
Result<Op> bind_pair(Binder& b, Handler handler, Pairing p, std::initializer_list<ScalarType> sources) {
  const auto wide = [&](uint32_t i) {
    return b.is_register(b.operand(i)) && word_bytes(b.reg(b.operand(i)).type) == 8;
  };
  p.d = {b.destination(0), wide(0)};
  Word* const words[] = {&p.a, &p.b, &p.c};
  uint32_t i = 0;
  for (const ScalarType type : sources) {
    SLUICE_ASSIGN_OR_RETURN(words[i]->at, b.source(i + 1, type));
    words[i]->wide = wide(i + 1);
    ++i;
  }
  for (; i < 3; ++i) *words[i] = p.a;  // not looked at
  Op op = b.op(handler);
  op.extra = b.extra(p);
  return op;
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

/// Whether no register is wider than 32 bits.
bool all_words(const Binder& b) {
  for (uint32_t i = 0; i < b.count(); ++i) {
    if (word_bytes(register_type(b, b.operand(i), ScalarType::b32)) == 8) return false;
  }
  return true;
}

bool is_fp8_pair(ScalarType t) {
  return t == ScalarType::e4m3x2 || t == ScalarType::e5m2x2;
}
bool is_wide_pair(ScalarType t) {
  return t == ScalarType::f16x2 || t == ScalarType::bf16x2;
}

/// Packed destinations.
Result<Op> bind_cvt_pair(Binder& b, const Conversion& c) {
  if (b.has(Mod::rs)) return b.unsupported("stochastic rounding needs sm_100a");
  Pairing p{.conversion = c,
            .from_bits = is_wide_pair(c.from) ? 16u : 8u,
            .to_bits = is_wide_pair(c.to) ? 16u : 8u};
  if (c.from == ScalarType::f32) {
    const bool plain = p.to_bits == 16 && !c.relu && !c.satfinite && c.rounding == Rounding::Nearest;
    if (plain && all_words(b))
      return bind_sources(b, c.to == ScalarType::f16x2 ? map<two_f16> : map<two_bf16>, {c.from, c.from});
    return bind_pair(b, pair<pair_of>, p, {c.from, c.from});
  }
  if (is_fp8_pair(c.from) ? is_fp8_pair(c.to) : !is_wide_pair(c.from) || is_wide_pair(c.to))
    return b.unsupported("this pair of types is not executed");
  return bind_pair(b, pair<pair_from_pair>, p, {is_wide_pair(c.from) ? ScalarType::b32 : ScalarType::b16});
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

  if (is_fp8_pair(to) || is_wide_pair(to)) return bind_cvt_pair(b, c);
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

Result<Op> bind_cvt_pack(Binder& b) {
  Pairing p;
  p.conversion.to = b.type(0);
  p.to_bits = ptx::bits_of(b.type(0));
  if (p.to_bits == 16) return bind_pair(b, pair<pack>, p, {ScalarType::s32, ScalarType::s32});
  return bind_pair(b, pair<pack>, p, {ScalarType::s32, ScalarType::s32, ScalarType::b32});
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
