// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// `cvt` as a function of one value, for every pair of types: exact, driven by a description instead of being
// compiled per pair. Frequent pairs have loops of their own in ops/convert.cpp, which a test compares with
// this.
#pragma once

#include <algorithm>
#include <cstdint>

#include "machine/numeric/round.hpp"
#include "ptx/types.hpp"

namespace sluice::machine::numeric {

struct Conversion {
  ptx::ScalarType to{};
  ptx::ScalarType from{};
  uint32_t register_bits = 32;  ///< of the destination: integers are extended to it
  Rounding rounding = Rounding::Nearest;
  bool to_integral = false;  ///< .rni and its kin between floating-point types
  bool ftz = false;
  bool sat = false;
  bool satfinite = false;
  bool relu = false;
};

inline const Format& format_of(ptx::ScalarType type) {
  using T = ptx::ScalarType;
  switch (type) {
    case T::f16:
    case T::f16x2:
      return kF16;
    case T::bf16:
    case T::bf16x2:
      return kBf16;
    case T::tf32:
      return kTf32;
    case T::f64:
      return kF64;
    case T::e4m3:
    case T::e4m3x2:
      return kE4m3;
    case T::e5m2:
    case T::e5m2x2:
      return kE5m2;
    default:
      return kF32;
  }
}

/// An integer register value of the type, from its low bits.
inline Exact integer_value(uint64_t bits, ptx::ScalarType type) {
  const uint32_t n = ptx::bits_of(type);
  const uint64_t low = n == 64 ? bits : bits & ((uint64_t{1} << n) - 1);
  if (!ptx::is_signed(type)) return exact_unsigned(low);
  return exact_signed(static_cast<int64_t>(low << (64 - n)) >> (64 - n));
}

/// The bits of an integral value (exponent >= 0) clamped to an integer type, in two's complement of 64 bits.
inline uint64_t clamp_integer(const Exact& x, ptx::ScalarType type) {
  const uint32_t n = ptx::bits_of(type);
  const bool is_signed = ptx::is_signed(type);
  const uint64_t largest =
      is_signed ? (uint64_t{1} << (n - 1)) - 1 : (n == 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1);
  const uint64_t most_negative = is_signed ? uint64_t{1} << (n - 1) : 0;  // as a magnitude
  bool huge = x.kind == Exact::Kind::Infinity;
  uint64_t magnitude = x.significand;
  if (!huge && magnitude != 0 && x.exponent > 0) {
    huge = x.exponent > std::countl_zero(magnitude);
    magnitude <<= std::min(x.exponent, 63);
  }
  const uint64_t limit = x.negative ? most_negative : largest;
  if (huge || magnitude > limit) magnitude = limit;
  return x.negative ? uint64_t{0} - magnitude : magnitude;
}

/// Cuts an integer to the destination type and extends it to the register.
inline uint64_t fit_register(uint64_t value, const Conversion& c) {
  const uint32_t n = ptx::bits_of(c.to);
  if (n < 64) {
    value = ptx::is_signed(c.to) ? static_cast<uint64_t>(static_cast<int64_t>(value << (64 - n)) >> (64 - n))
                                 : value & ((uint64_t{1} << n) - 1);
  }
  return c.register_bits == 64 ? value : value & ((uint64_t{1} << c.register_bits) - 1);
}

/// MODEL: what NaN becomes as an integer. On an H200 it is 0, but the top bit from f64 and to 64 bits.
inline uint64_t nan_as_integer(ptx::ScalarType to, ptx::ScalarType from) {
  if (ptx::bits_of(to) == 64 || from == ptx::ScalarType::f64) return uint64_t{1} << (ptx::bits_of(to) - 1);
  return 0;
}

/// MODEL: conversions that involve f64 keep sign and leading digits of a NaN and make it quiet; all others
/// give the canonical one.
inline uint64_t convert_nan(const Exact& x, const Format& to, bool keeps) {
  if (!keeps) return to.canonical_nan;
  const uint64_t quiet = (x.significand >> (52 - to.mantissa)) | (uint64_t{1} << (to.mantissa - 1));
  return (x.negative ? to.sign_bit() : 0) | to.exponent_mask() | quiet;
}

/// [0, 1] for .sat, with NaN to +0; values are in the destination's format.
inline uint64_t saturate_unit(uint64_t bits, const Format& f) {
  const uint64_t magnitude = bits & (f.sign_bit() - 1);
  if ((bits & f.sign_bit()) != 0 || magnitude > f.exponent_mask()) return 0;
  const uint64_t one = static_cast<uint64_t>(f.bias()) << f.mantissa;
  return std::min(magnitude, one);
}

/// The rounding of one number to a destination format with .ftz, .sat, .satfinite and .relu.
inline uint64_t convert_float(const Exact& x, ptx::ScalarType to, const Conversion& c) {
  const Format& f = format_of(to);
  const bool nan = x.kind == Exact::Kind::Nan;
  uint64_t r;
  if (to == ptx::ScalarType::tf32) {
    if (c.rounding == Rounding::NearestAway) {
      // Works on the bits: a NaN is cut off, and .satfinite steps down from everything with the largest
      // exponent.
      r = nan ? (x.negative ? 0x80000000u : 0) | 0x7f800000u | ((x.significand >> 29) & ~uint64_t{0x1fff})
              : round_to(x, f, c.rounding) << 13;
      return c.satfinite && (r & 0x7f800000u) == 0x7f800000u ? r - 0x2000 : r;
    }
    r = nan ? 0x7fffe000u : round_to(x, f, c.rounding, c.satfinite) << 13;
    if (c.relu && !nan && (r & 0x80000000u) != 0) r = 0;
    return r;
  }
  const bool keeps = (c.from == ptx::ScalarType::f64 || to == ptx::ScalarType::f64) &&
                     !(c.ftz && c.from == ptx::ScalarType::f32);
  r = nan ? convert_nan(x, f, keeps) : round_to(x, f, c.rounding, c.satfinite);
  if (nan && c.ftz && c.from == ptx::ScalarType::f32 && to == ptx::ScalarType::f64) r = 0x7fffffffe0000000ull;
  if (c.ftz && to == ptx::ScalarType::f32 && (r & f.exponent_mask()) == 0) r &= f.sign_bit();
  if (c.sat) r = saturate_unit(r, f);
  if (c.relu && !nan && (r & f.sign_bit()) != 0) r = 0;
  return r;
}

/// A floating-point source value.
inline Exact float_value(uint64_t bits, ptx::ScalarType from, bool ftz) {
  const Format& f = format_of(from);
  if (ftz && from == ptx::ScalarType::f32 && (bits & f.exponent_mask()) == 0) bits &= f.sign_bit();
  return decode(bits, f);
}

/// `cvt` of one scalar. `bits` is the source register's word.
inline uint64_t convert_scalar(uint64_t bits, const Conversion& c) {
  const bool from_float = ptx::is_float(c.from),
             to_float = ptx::is_float(c.to) || c.to == ptx::ScalarType::tf32;
  if (!from_float && !to_float) {
    const Exact x = integer_value(bits, c.from);
    if (c.sat) return fit_register(clamp_integer(x, c.to), c);
    return fit_register(x.negative ? uint64_t{0} - x.significand : x.significand, c);
  }
  if (!from_float) return convert_float(integer_value(bits, c.from), c.to, c);
  // Without anything to do the value is moved as it is, and bf16 is widened by a shift.
  const bool plain = !c.to_integral && !c.ftz && !c.sat && !c.relu && !c.satfinite;
  if (plain && c.to == c.from && ptx::bits_of(c.from) >= 32)
    return ptx::bits_of(c.from) == 64 ? bits : bits & 0xffffffffu;
  if (plain && c.to == ptx::ScalarType::f32 && c.from == ptx::ScalarType::bf16) return (bits & 0xffff) << 16;
  // MODEL: an H200 does not flush the source where the result is f16.
  Exact x = float_value(bits, c.from, c.ftz && c.to != ptx::ScalarType::f16);
  if (!to_float) {
    if (x.kind == Exact::Kind::Nan) return fit_register(nan_as_integer(c.to, c.from), c);
    return fit_register(clamp_integer(round_to_integer(x, c.rounding), c.to), c);
  }
  if (c.to_integral) x = round_to_integer(x, c.rounding);
  return convert_float(x, c.to, c);
}

/// `cvt.pack`: `high` and `low` saturated to `bits` bits each, in front of c.
inline uint32_t convert_pack(int32_t high, int32_t low, uint32_t c, uint32_t bits, bool is_signed) {
  const int32_t largest = is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
  const int32_t smallest = is_signed ? -(1 << (bits - 1)) : 0;
  const uint32_t mask = (1u << bits) - 1;
  const uint32_t h = static_cast<uint32_t>(std::clamp(high, smallest, largest)) & mask;
  const uint32_t l = static_cast<uint32_t>(std::clamp(low, smallest, largest)) & mask;
  const uint32_t rest = bits == 16 ? 0 : c << (2 * bits);
  return rest | (h << bits) | l;
}

}  // namespace sluice::machine::numeric
