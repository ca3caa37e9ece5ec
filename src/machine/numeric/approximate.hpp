// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The approximate functions (.approx, .full). The ISA gives a largest error and the results for special
// inputs; these are the correctly rounded values wherever that is cheap, hence within every bound, but not
// the bits of a GPU.
#pragma once

#include <cmath>
#include <cstdint>

#include "machine/numeric/floating.hpp"
#include "machine/numeric/half.hpp"

namespace sluice::machine::numeric {

/// Rounds a double result to f32 and finishes it.
template <bool Ftz>
uint32_t finish_approx(double value) {
  return finish_f32<Ftz, false>(static_cast<float>(value));
}

template <bool Ftz>
uint32_t rcp_approx(uint32_t a) {
  return finish_f32<Ftz, false>(1.0f / load_f32<Ftz>(a));
}
template <bool Ftz>
uint32_t sqrt_approx(uint32_t a) {
  return finish_f32<Ftz, false>(__builtin_sqrtf(load_f32<Ftz>(a)));
}
template <bool Ftz>
uint32_t rsqrt_approx(uint32_t a) {
  return finish_approx<Ftz>(1.0 / __builtin_sqrt(static_cast<double>(load_f32<Ftz>(a))));
}

/// For divisors of 2^126 and more in magnitude the quotient is zero (NaN for an infinite dividend): the
/// reciprocal that the GPU multiplies with is flushed.
template <bool Ftz>
uint32_t div_approx(uint32_t a, uint32_t b) {
  const float x = load_f32<Ftz>(a), y = load_f32<Ftz>(b);
  const float huge = __builtin_fabsf(y);
  const float quotient = huge > 0x1p126f && huge < __builtin_inff() ? x * __builtin_copysignf(0.0f, y)
                                                                    : F32<Ftz, false>::quotient(x, y);
  return finish_f32<Ftz, false>(quotient);
}
template <bool Ftz>
uint32_t div_full(uint32_t a, uint32_t b) {
  return F32<Ftz, false>::div(a, b);
}

/// The angle as the GPU sees it: turns, in single precision, which is what makes large arguments inexact
/// there.
template <bool Ftz>
double reduced_angle(uint32_t a) {
  const float turns = load_f32<Ftz>(a) * 0x1.45f306p-3f;
  const auto exact = static_cast<double>(turns);
  return (exact - std::rint(exact)) * 6.283185307179586476925;
}
template <bool Ftz>
uint32_t sin_approx(uint32_t a) {
  return finish_approx<Ftz>(std::sin(reduced_angle<Ftz>(a)));
}
template <bool Ftz>
uint32_t cos_approx(uint32_t a) {
  return finish_approx<Ftz>(std::cos(reduced_angle<Ftz>(a)));
}
template <bool Ftz>
uint32_t lg2_approx(uint32_t a) {
  return finish_approx<Ftz>(std::log2(static_cast<double>(load_f32<Ftz>(a))));
}

/// 2^x: the integer part goes into the exponent, the rest through a polynomial whose error (below 2^-32) is
/// lost in the rounding to f32. No branches, so that softmax loops stay vector code.
inline double exp2_polynomial(double x) {
  x = x < -200.0 ? -200.0 : x;
  x = x > 200.0 ? 200.0 : x;
  const double shifted = x + 0x1.8p52;  // the nearest integer lands in the low bits
  const double whole = shifted - 0x1.8p52;
  const double r = (x - whole) * 0.69314718055994530942;
  double p = 1.0 / 3628800;
  p = p * r + 1.0 / 362880;
  p = p * r + 1.0 / 40320;
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  const uint64_t scale = (to_bits(shifted) + 1023) << 52;
  return p * to_f64(scale);
}
template <bool Ftz>
uint32_t ex2_approx(uint32_t a) {
  const float x = load_f32<Ftz>(a);
  const uint32_t r = finish_approx<Ftz>(exp2_polynomial(static_cast<double>(x)));
  return is_nan_f32(a) ? kNanF32 : r;
}
inline uint32_t tanh_approx(uint32_t a) {
  return finish_approx<false>(std::tanh(static_cast<double>(to_f32(a))));
}

/// Results have a zero low word.
inline uint64_t rcp_approx_f64(uint64_t a) {
  const uint64_t high = (a & 0x7ff0000000000000ull) == 0 ? a & 0x8000000000000000ull : a;
  const uint64_t r = finish_f64(1.0 / to_f64(high & 0xffffffff00000000ull), high & 0xffffffff00000000ull) &
                     0xffffffff00000000ull;
  return (r & 0x7ff0000000000000ull) == 0 ? r & 0x8000000000000000ull : r;
}
template <bool Ftz>
uint64_t rsqrt_approx_f64(uint64_t a) {
  const uint64_t x = Ftz && (a & 0x7ff0000000000000ull) == 0 ? a & 0x8000000000000000ull : a;
  if constexpr (!Ftz) return finish_f64(1.0 / __builtin_sqrt(to_f64(x)), x);
  return finish_f64(1.0 / __builtin_sqrt(to_f64(x & 0xffffffff00000000ull)), x & 0xffffffff00000000ull) &
         0xffffffff00000000ull;
}

template <class T>
uint32_t tanh_half(uint32_t a) {
  return T::narrow(finish_approx<false>(std::tanh(static_cast<double>(to_f32(T::widen(a))))));
}
template <class T, bool Ftz>
uint32_t ex2_half(uint32_t a) {
  using H = Half<T, Ftz>;
  return H::flush(T::narrow(ex2_approx<false>(T::widen(H::flush(a)))));
}

}  // namespace sluice::machine::numeric
