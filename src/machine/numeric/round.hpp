// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Floating-point formats as parameters, and one exact rounding for all of them: a value is a sign, a 64-bit
// significand and a power of two (Exact); `round_to` brings it to a format in any rounding mode. Used
// wherever the host has no instruction for it: narrow formats, directed modes, integers to halves.
#pragma once

#include <bit>
#include <cstdint>

namespace sluice::machine::numeric {

enum class Rounding : uint8_t {
  Nearest,  ///< to nearest, ties to even
  Zero,
  Down,
  Up,
  NearestAway,  ///< to nearest, ties away from zero
};

/// A binary floating-point format: sign, `exponent` bits, `mantissa` bits.
struct Format {
  int exponent;
  int mantissa;
  bool has_infinity = true;  ///< e4m3 has none: its largest exponent holds numbers, all ones is NaN
  uint64_t canonical_nan = 0;
  constexpr int bias() const { return (1 << (exponent - 1)) - 1; }
  constexpr uint64_t sign_bit() const { return uint64_t{1} << (exponent + mantissa); }
  constexpr uint64_t exponent_mask() const { return ((uint64_t{1} << exponent) - 1) << mantissa; }
  constexpr uint64_t mantissa_mask() const { return (uint64_t{1} << mantissa) - 1; }
  /// The largest finite value.
  constexpr uint64_t largest() const {
    return has_infinity ? exponent_mask() - 1 : (exponent_mask() | mantissa_mask()) - 1;
  }
};

inline constexpr Format kF16{5, 10, true, 0x7fff};
inline constexpr Format kBf16{8, 7, true, 0x7fff};
inline constexpr Format kF32{8, 23, true, 0x7fffffff};
inline constexpr Format kF64{11, 52, true, 0xfff8000000000000};
inline constexpr Format kTf32{8, 10, true, 0x3ffff};
inline constexpr Format kE4m3{4, 3, false, 0x7f};
inline constexpr Format kE5m2{5, 2, true, 0x7f};

/// significand * 2^exponent, or one of the special values. The lowest bit may be sticky: set when anything
/// below it was dropped.
struct Exact {
  enum class Kind : uint8_t { Finite, Infinity, Nan } kind = Kind::Finite;
  bool negative = false;
  int exponent = 0;
  uint64_t significand = 0;  ///< of a NaN: its fraction, in the place that f64 has it
};

/// The value of `bits` in a format.
constexpr Exact decode(uint64_t bits, const Format& format) {
  Exact x;
  x.negative = (bits & format.sign_bit()) != 0;
  const auto e = static_cast<int>((bits & format.exponent_mask()) >> format.mantissa);
  const uint64_t m = bits & format.mantissa_mask();
  const int top = (1 << format.exponent) - 1;
  if (format.has_infinity && e == top) {
    x.kind = m == 0 ? Exact::Kind::Infinity : Exact::Kind::Nan;
    x.significand = m << (52 - format.mantissa);
  } else if (!format.has_infinity && e == top && m == format.mantissa_mask()) {
    x.kind = Exact::Kind::Nan;
  } else {
    x.significand = e == 0 ? m : m | (uint64_t{1} << format.mantissa);
    x.exponent = (e == 0 ? 1 : e) - format.bias() - format.mantissa;
  }
  return x;
}

/// An integer's value.
constexpr Exact exact_unsigned(uint64_t value) {
  return {.significand = value};
}
constexpr Exact exact_signed(int64_t value) {
  return {
      .negative = value < 0,
      .significand = value < 0 ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value)};
}

/// Shifts right by n > 0, keeping what falls out as a sticky lowest bit.
constexpr uint64_t shift_right_sticky(uint64_t value, int n) {
  if (n >= 64) return value != 0;
  return (value >> n) | ((value & ((uint64_t{1} << n) - 1)) != 0);
}

/// Whether the kept part goes up by one, from the dropped bits: `half` is the first dropped bit, `rest` the
/// others.
constexpr bool rounds_up(Rounding mode, bool negative, bool odd, bool half, bool rest) {
  switch (mode) {
    case Rounding::Nearest:
      return half && (rest || odd);
    case Rounding::NearestAway:
      return half;
    case Rounding::Zero:
      return false;
    case Rounding::Down:
      return negative && (half || rest);
    case Rounding::Up:
      return !negative && (half || rest);
  }
  return false;
}

/// The bits of `x` in a format. Overflow gives infinity or the largest value as the mode asks, or always the
/// largest value where `saturate` holds or the format has no infinity.
constexpr uint64_t round_to(const Exact& x, const Format& format, Rounding mode, bool saturate = false) {
  const uint64_t sign = x.negative ? format.sign_bit() : 0;
  if (x.kind == Exact::Kind::Nan) return format.canonical_nan;
  if (x.kind == Exact::Kind::Infinity) {
    return sign | (saturate || !format.has_infinity ? format.largest() : format.exponent_mask());
  }
  if (x.significand == 0) return sign;
  const int top = 63 - std::countl_zero(x.significand);
  int exponent = x.exponent + top;  // of the leading bit
  const int lowest = 1 - format.bias();
  if (exponent < lowest) exponent = lowest;
  const int unit = exponent - format.mantissa;  // exponent of the last kept bit
  const int drop = unit - x.exponent;
  uint64_t kept;
  if (drop <= 0) {
    kept = x.significand << -drop;
  } else {
    kept = drop >= 64 ? 0 : x.significand >> drop;
    const bool half = drop <= 64 && ((x.significand >> (drop - 1)) & 1) != 0;
    const bool rest =
        drop > 64 ? x.significand != 0 : (x.significand & ((uint64_t{1} << (drop - 1)) - 1)) != 0;
    if (rounds_up(mode, x.negative, kept & 1, half, rest)) ++kept;
  }
  // A carry out of the mantissa, and a subnormal that became normal, fall out of the addition.
  uint64_t bits = kept;
  if (kept >> format.mantissa) {
    bits = (static_cast<uint64_t>(exponent + format.bias() - 1) << format.mantissa) + kept;
  }
  if (bits > format.largest()) {
    const bool to_largest = saturate || !format.has_infinity || mode == Rounding::Zero ||
                            (mode == Rounding::Down && !x.negative) || (mode == Rounding::Up && x.negative);
    bits = to_largest ? format.largest() : format.exponent_mask();
  }
  return sign | bits;
}

/// Converts between formats.
constexpr uint64_t convert(uint64_t bits, const Format& from, const Format& to, Rounding mode,
                           bool saturate = false) {
  return round_to(decode(bits, from), to, mode, saturate);
}

/// Rounds to an integer in place: the result's exponent is >= 0 or its significand is that of an integer with
/// exponent 0.
constexpr Exact round_to_integer(Exact x, Rounding mode) {
  if (x.kind != Exact::Kind::Finite || x.exponent >= 0 || x.significand == 0) return x;
  const int drop = -x.exponent;
  const uint64_t kept = drop >= 64 ? 0 : x.significand >> drop;
  const bool half = drop <= 64 && ((x.significand >> (drop - 1)) & 1) != 0;
  const bool rest = drop > 64 ? x.significand != 0 : (x.significand & ((uint64_t{1} << (drop - 1)) - 1)) != 0;
  x.significand = kept + (rounds_up(mode, x.negative, kept & 1, half, rest) ? 1 : 0);
  x.exponent = 0;
  return x;
}

}  // namespace sluice::machine::numeric
