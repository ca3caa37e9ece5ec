// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// f32 and f64 instructions on one lane's value. Arithmetic is the host's, which is IEEE 754 like the GPU's
// and follows the host's rounding mode (directed modes are set around the whole loop, see ops/float.cpp); on
// top come the GPU's canonical NaN, .ftz and .sat. Relies on -ffp-contract=off and on a host that keeps
// subnormals.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace sluice::machine::numeric {

inline constexpr uint32_t kNanF32 = 0x7fffffffu;
inline constexpr uint64_t kNanF64 = 0xfff8000000000000ull;

inline float to_f32(uint32_t bits) {
  return std::bit_cast<float>(bits);
}
inline double to_f64(uint64_t bits) {
  return std::bit_cast<double>(bits);
}
inline uint32_t to_bits(float value) {
  return std::bit_cast<uint32_t>(value);
}
inline uint64_t to_bits(double value) {
  return std::bit_cast<uint64_t>(value);
}

inline bool is_nan_f32(uint32_t a) {
  return (a & 0x7fffffffu) > 0x7f800000u;
}
inline bool is_nan_f64(uint64_t a) {
  return (a & 0x7fffffffffffffffull) > 0x7ff0000000000000ull;
}

/// A subnormal becomes a zero of its sign.
inline uint32_t flush(uint32_t a) {
  return (a & 0x7f800000u) == 0 ? a & 0x80000000u : a;
}

template <bool Ftz>
float load_f32(uint32_t a) {
  return to_f32(Ftz ? flush(a) : a);
}

/// What every f32 result passes: canonical NaN, then flushing, then saturation to [0, 1] (a NaN becomes +0).
template <bool Ftz, bool Sat>
uint32_t finish_f32(float value) {
  uint32_t r = to_bits(value);
  if constexpr (Sat) {
    // Zeros, negative numbers and NaN fail the comparison.
    r = value > 0.0f ? r : 0u;
    r = value > 1.0f ? 0x3f800000u : r;
  } else {
    r = is_nan_f32(r) ? kNanF32 : r;
  }
  return Ftz ? flush(r) : r;
}

/// .ftz looks at a result that is rounded as if there were no least exponent: what becomes the least normal
/// number only because subnormals have fewer digits becomes zero too. `scaled` is the result times 2^64.
template <bool Ftz>
float flush_tiny(float rounded, float scaled) {
  if constexpr (!Ftz) return rounded;
  return __builtin_fabsf(scaled) < 0x1p-62f ? __builtin_copysignf(0.0f, rounded) : rounded;
}

template <bool Ftz, bool Sat>
struct F32 {
  using W = uint32_t;
  static constexpr float kScale = 0x1p64f;
  static float product(float x, float y) { return flush_tiny<Ftz>(x * y, x * kScale * y); }
  static float multiply_add(float x, float y, float z) {
    return flush_tiny<Ftz>(__builtin_fmaf(x, y, z), __builtin_fmaf(x * kScale, y, z * kScale));
  }
  static float quotient(float x, float y) { return flush_tiny<Ftz>(x / y, x * kScale / y); }
  static W add(W a, W b) { return finish_f32<Ftz, Sat>(load_f32<Ftz>(a) + load_f32<Ftz>(b)); }
  static W sub(W a, W b) { return finish_f32<Ftz, Sat>(load_f32<Ftz>(a) - load_f32<Ftz>(b)); }
  static W mul(W a, W b) { return finish_f32<Ftz, Sat>(product(load_f32<Ftz>(a), load_f32<Ftz>(b))); }
  static W fma(W a, W b, W c) {
    return finish_f32<Ftz, Sat>(multiply_add(load_f32<Ftz>(a), load_f32<Ftz>(b), load_f32<Ftz>(c)));
  }
  static W div(W a, W b) { return finish_f32<Ftz, Sat>(quotient(load_f32<Ftz>(a), load_f32<Ftz>(b))); }
  static W rcp(W a) { return finish_f32<Ftz, Sat>(quotient(1.0f, load_f32<Ftz>(a))); }
  static W sqrt(W a) { return finish_f32<Ftz, Sat>(__builtin_sqrtf(load_f32<Ftz>(a))); }
};

inline uint64_t quiet_f64(uint64_t a) {
  return a | 0x0008000000000000ull;
}

/// NaN results of f64 arithmetic: an input NaN comes through, quiet; a NaN of the operation itself is the
/// canonical one. MODEL: of several the first one listed here comes through.
inline uint64_t finish_f64(double value, uint64_t a) {
  const uint64_t r = to_bits(value);
  return is_nan_f64(r) ? (is_nan_f64(a) ? quiet_f64(a) : kNanF64) : r;
}
inline uint64_t finish_f64(double value, uint64_t first, uint64_t second) {
  const uint64_t r = to_bits(value);
  const uint64_t nan =
      is_nan_f64(first) ? quiet_f64(first) : (is_nan_f64(second) ? quiet_f64(second) : kNanF64);
  return is_nan_f64(r) ? nan : r;
}
inline uint64_t finish_f64(double value, uint64_t first, uint64_t second, uint64_t third) {
  const uint64_t r = to_bits(value);
  uint64_t nan = is_nan_f64(third) ? quiet_f64(third) : kNanF64;
  nan = is_nan_f64(second) ? quiet_f64(second) : nan;
  nan = is_nan_f64(first) ? quiet_f64(first) : nan;
  return is_nan_f64(r) ? nan : r;
}

struct F64 {
  using W = uint64_t;
  static W add(W a, W b) { return finish_f64(to_f64(a) + to_f64(b), b, a); }
  static W sub(W a, W b) { return finish_f64(to_f64(a) - to_f64(b), b, a); }
  static W mul(W a, W b) { return finish_f64(to_f64(a) * to_f64(b), b, a); }
  static W fma(W a, W b, W c) { return finish_f64(__builtin_fma(to_f64(a), to_f64(b), to_f64(c)), b, c, a); }
  static W div(W a, W b) { return finish_f64(to_f64(a) / to_f64(b), a, b); }
  static W rcp(W a) { return finish_f64(1.0 / to_f64(a), a); }
  static W sqrt(W a) { return finish_f64(__builtin_sqrt(to_f64(a)), a); }
  static W abs(W a) { return is_nan_f64(a) ? quiet_f64(a) : a & 0x7fffffffffffffffull; }
  static W neg(W a) { return is_nan_f64(a) ? quiet_f64(a) : a ^ 0x8000000000000000ull; }
};

template <bool Ftz>
uint32_t abs_f32(uint32_t a) {
  return is_nan_f32(a) ? kNanF32 : (Ftz ? flush(a) : a) & 0x7fffffffu;
}
template <bool Ftz>
uint32_t neg_f32(uint32_t a) {
  return is_nan_f32(a) ? kNanF32 : (Ftz ? flush(a) : a) ^ 0x80000000u;
}

/// Orders numbers as integers: -0 lies below +0.
inline int32_t order_f32(uint32_t a) {
  return static_cast<int32_t>(a) < 0 ? static_cast<int32_t>(~a ^ 0x80000000u) : static_cast<int32_t>(a);
}
inline int64_t order_f64(uint64_t a) {
  return static_cast<int64_t>(a) < 0 ? static_cast<int64_t>(~a ^ 0x8000000000000000ull)
                                     : static_cast<int64_t>(a);
}

/// min and max. A NaN gives way to a number unless `Nan` holds. XorSign: of the magnitudes, with the
/// product's sign.
template <bool Max, bool Ftz, bool Nan, bool XorSign>
uint32_t min_max_f32(uint32_t a, uint32_t b) {
  if constexpr (Ftz) {
    a = flush(a);
    b = flush(b);
  }
  const uint32_t sign = XorSign ? (a ^ b) & 0x80000000u : 0;
  if constexpr (XorSign) {
    a &= 0x7fffffffu;
    b &= 0x7fffffffu;
  }
  const bool less = order_f32(a) < order_f32(b);
  const uint32_t chosen = less != Max ? a : b;
  const bool nan_a = is_nan_f32(a), nan_b = is_nan_f32(b);
  if constexpr (Nan) return nan_a || nan_b ? kNanF32 : chosen | sign;
  const uint32_t number = nan_a ? b : (nan_b ? a : chosen);
  return nan_a && nan_b ? kNanF32 : number | sign;
}
template <bool Max>
uint64_t min_max_f64(uint64_t a, uint64_t b) {
  const bool less = order_f64(a) < order_f64(b);
  const uint64_t chosen = less != Max ? a : b;
  const bool nan_a = is_nan_f64(a), nan_b = is_nan_f64(b);
  const uint64_t number = nan_a ? b : (nan_b ? a : chosen);
  return nan_a && nan_b ? quiet_f64(b) : number;
}

inline uint32_t copysign_f32(uint32_t a, uint32_t b) {
  return (a & 0x80000000u) | (b & 0x7fffffffu);
}
inline uint64_t copysign_f64(uint64_t a, uint64_t b) {
  return (a & 0x8000000000000000ull) | (b & 0x7fffffffffffffffull);
}

// --- comparisons (as bits, without the order of NaN)
// ---------------------------------------------------------------------

template <bool Ftz>
struct CompareF32 {
  using W = uint32_t;
  static bool eq(W a, W b) { return load_f32<Ftz>(a) == load_f32<Ftz>(b); }
  static bool lt(W a, W b) { return load_f32<Ftz>(a) < load_f32<Ftz>(b); }
  static bool le(W a, W b) { return load_f32<Ftz>(a) <= load_f32<Ftz>(b); }
  static bool num(W a, W b) { return !is_nan_f32(a) && !is_nan_f32(b); }
  static bool ne(W a, W b) { return num(a, b) && !eq(a, b); }
};
struct CompareF64 {
  using W = uint64_t;
  static bool eq(W a, W b) { return to_f64(a) == to_f64(b); }
  static bool lt(W a, W b) { return to_f64(a) < to_f64(b); }
  static bool le(W a, W b) { return to_f64(a) <= to_f64(b); }
  static bool num(W a, W b) { return !is_nan_f64(a) && !is_nan_f64(b); }
  static bool ne(W a, W b) { return num(a, b) && !eq(a, b); }
};

}  // namespace sluice::machine::numeric
