// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// f16 and bf16 instructions on one lane's value (16 bits in the low half of a word). Sums and products go
// through f32: with 24 bits there, rounding twice gives what rounding once would (24 >= 2 * 11 + 2). A fused
// multiply-add goes through f64 with the intermediate rounded to odd, which the final rounding cannot tell
// from the exact value (S. Boldo, G. Melquiond: Emulation of FMA and correctly rounded sums). All of it is
// free of branches.
#pragma once

#include <cstdint>

#include "machine/numeric/floating.hpp"

namespace sluice::machine::numeric {

inline constexpr uint32_t kNanHalf = 0x7fff;
/// MODEL: which NaN counts as "out of bounds" is not in the ISA's text; an H200 shows that it is none of
/// 0x7c01, 0x7e00, 0x7fff, 0xffff and their like. No pattern of 16 bits has this value: the rule is switched
/// off until it is known.
inline constexpr uint32_t kOutOfBounds = 0x1'0000;

inline uint32_t f16_to_f32(uint32_t h) {
  const uint32_t magnitude = h & 0x7fffu;
  const uint32_t sign = (h & 0x8000u) << 16;
  const uint32_t normal = (magnitude << 13) + (112u << 23);
  const uint32_t special = (magnitude << 13) | 0x7f800000u;
  const uint32_t subnormal = to_bits(static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24f);
  uint32_t r = magnitude < 0x400u ? subnormal : normal;
  r = magnitude >= 0x7c00u ? special : r;
  return r | sign;
}

/// To nearest even; NaN becomes the canonical one.
inline uint32_t f32_to_f16(uint32_t f) {
  const uint32_t magnitude = f & 0x7fffffffu;
  const uint32_t sign = (f >> 16) & 0x8000u;
  // Below 2^-14 the addition of 0.5 lets the host round at the place of the last bit.
  const uint32_t subnormal = to_bits(to_f32(magnitude) + 0.5f) - 0x3f000000u;
  const uint32_t normal = (magnitude + 0xc8000fffu + ((magnitude >> 13) & 1u)) >> 13;
  uint32_t r = magnitude < (113u << 23) ? subnormal : normal;
  r = magnitude >= (143u << 23) ? 0x7c00u : r;
  return magnitude > 0x7f800000u ? kNanHalf : r | sign;
}

inline uint32_t bf16_to_f32(uint32_t h) {
  return h << 16;
}

/// To nearest even; NaN becomes the canonical one.
inline uint32_t f32_to_bf16(uint32_t f) {
  const uint32_t r = (f + 0x7fffu + ((f >> 16) & 1u)) >> 16;
  return is_nan_f32(f) ? kNanHalf : r;
}

/// p + c rounded to odd in f64.
inline double add_to_odd(double p, double c) {
  const double s = p + c;
  const double part = s - p;
  const double error = (p - (s - part)) + (c - part);
  const uint64_t bits = to_bits(s);
  const bool same_side = (to_bits(error) >> 63) == (bits >> 63);
  const uint64_t odd = same_side ? (bits | 1) : bits - 1;
  const bool finite = (bits & 0x7ff0000000000000ull) != 0x7ff0000000000000ull;
  return to_f64(error != 0.0 && finite && (bits & 1) == 0 ? odd : bits);
}

/// An f64 in f32, rounded to odd.
inline uint32_t narrow_to_odd(double s) {
  const float f = static_cast<float>(s);
  const uint32_t bits = to_bits(f);
  const double back = static_cast<double>(f);
  const uint32_t odd = __builtin_fabs(back) > __builtin_fabs(s) ? bits - 1 : (bits | 1);
  return back != s && s == s && (bits & 1) == 0 ? odd : bits;
}

/// The two 16-bit formats.
struct F16 {
  static uint32_t widen(uint32_t h) { return f16_to_f32(h); }
  static uint32_t narrow(uint32_t f) { return f32_to_f16(f); }
  static constexpr uint32_t kInfinity = 0x7c00;
  static constexpr uint32_t kOne = 0x3c00;
};
struct Bf16 {
  static uint32_t widen(uint32_t h) { return bf16_to_f32(h); }
  static uint32_t narrow(uint32_t f) { return f32_to_bf16(f); }
  static constexpr uint32_t kInfinity = 0x7f80;
  static constexpr uint32_t kOne = 0x3f80;
};

/// Instructions of one format. Ftz and Sat as in the ISA (f16 alone has them).
template <class T, bool Ftz, bool Sat = false>
struct Half {
  using W = uint32_t;
  static bool is_nan(W a) { return (a & 0x7fff) > T::kInfinity; }
  static W flush(W a) {
    if constexpr (!Ftz) return a;
    return (a & T::kInfinity) == 0 ? a & 0x8000u : a;
  }
  static float load(W a) { return to_f32(T::widen(flush(a))); }
  static W finish(uint32_t f32_bits) {
    if constexpr (Sat) {
      const float value = to_f32(f32_bits);
      f32_bits = value > 0.0f ? f32_bits : 0u;
      f32_bits = value > 1.0f ? 0x3f800000u : f32_bits;
    }
    // Like f32's, .ftz looks at the result rounded as if there were no least exponent.
    if constexpr (Ftz) f32_bits = is_tiny(f32_bits & 0x7fffffffu) ? f32_bits & 0x80000000u : f32_bits;
    return T::narrow(f32_bits);
  }
  /// 2^-14, the least normal f16 (bf16 has no .ftz but for ex2, whose least normal number is f32's).
  static constexpr uint32_t kLeastNormal = T::kInfinity == 0x7c00 ? 113u << 23 : 1u << 23;
  /// Bits of f32's mantissa that the format lacks.
  static constexpr uint32_t kLost = T::kInfinity == 0x7c00 ? 13 : 16;
  static bool is_tiny(W magnitude) {
    return magnitude + ((1u << (kLost - 1)) - 1) + ((magnitude >> kLost) & 1) < kLeastNormal;
  }
  static W finish(float value) { return finish(to_bits(value)); }

  static W add(W a, W b) { return finish(load(a) + load(b)); }
  static W sub(W a, W b) { return finish(load(a) - load(b)); }
  static W mul(W a, W b) { return finish(load(a) * load(b)); }
  static W fma(W a, W b, W c) {
    const double product = static_cast<double>(load(a)) * static_cast<double>(load(b));
    return finish(narrow_to_odd(add_to_odd(product, static_cast<double>(load(c)))));
  }
  static W relu(W a) { return is_nan(a) ? kNanHalf : (a & 0x8000u ? 0u : a); }
  static W fma_relu(W a, W b, W c) { return relu(fma(a, b, c)); }
  /// The NaN that a tensor copy fills with when asked for zeros makes the result zero.
  static bool is_oob(W a) { return a == kOutOfBounds; }
  static W fma_oob(W a, W b, W c) { return is_oob(a) || is_oob(b) ? 0u : fma(a, b, c); }
  static W fma_oob_relu(W a, W b, W c) { return relu(fma_oob(a, b, c)); }
  static W abs(W a) { return is_nan(a) ? kNanHalf : flush(a) & 0x7fffu; }
  static W neg(W a) { return is_nan(a) ? kNanHalf : flush(a) ^ 0x8000u; }

  static int32_t order(W a) {
    return a & 0x8000u ? -1 - static_cast<int32_t>(a & 0x7fffu) : static_cast<int32_t>(a);
  }
  template <bool Max, bool Nan, bool XorSign>
  static W min_max(W a, W b) {
    a = flush(a);
    b = flush(b);
    const W sign = XorSign ? (a ^ b) & 0x8000u : 0;
    if constexpr (XorSign) {
      a &= 0x7fffu;
      b &= 0x7fffu;
    }
    const bool less = order(a) < order(b);
    const W chosen = less != Max ? a : b;
    const bool nan_a = is_nan(a), nan_b = is_nan(b);
    if constexpr (Nan) return nan_a || nan_b ? kNanHalf : chosen | sign;
    const W number = nan_a ? b : (nan_b ? a : chosen);
    return nan_a && nan_b ? kNanHalf : number | sign;
  }

  static bool eq(W a, W b) { return load(a) == load(b); }
  static bool lt(W a, W b) { return load(a) < load(b); }
  static bool le(W a, W b) { return load(a) <= load(b); }
  static bool num(W a, W b) { return !is_nan(a) && !is_nan(b); }
  static bool ne(W a, W b) { return num(a, b) && !eq(a, b); }
};

}  // namespace sluice::machine::numeric
