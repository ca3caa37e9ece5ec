// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The floating-point sum of a warp's tensor-core instruction (mma.sync and its kin), one result element at a
// time. As for wgmma (units/wgmma_multiply.hpp) all products of one step and the accumulator are cut, towards
// zero, to 25 bits below the largest exponent among them and added exactly; the sum is rounded towards zero
// to f32, or to nearest even to f16.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "machine/numeric/floating.hpp"
#include "machine/numeric/half.hpp"
#include "machine/numeric/round.hpp"

namespace sluice::machine::numeric {

/// A multiplicand: its value, and the exponent of its leading digit's place (subnormal numbers have the least
/// one of their format, zeros a very small one).
struct TensorNumber {
  double value = 0;
  int exponent = -1000;
};

inline TensorNumber tensor_number(uint64_t bits, const Format& format) {
  const Exact x = decode(bits, format);
  if (x.kind == Exact::Kind::Nan) return {__builtin_nan(""), 0};
  if (x.kind == Exact::Kind::Infinity) return {x.negative ? -__builtin_inf() : __builtin_inf(), 0};
  if (x.significand == 0) return {x.negative ? -0.0 : 0.0, -1000};
  const double magnitude = std::ldexp(static_cast<double>(x.significand), x.exponent);
  return {x.negative ? -magnitude : magnitude, x.exponent + format.mantissa};
}

enum class TensorResult : uint8_t { F32, F16 };

/// Rounds towards zero to f32.
inline uint32_t f32_toward_zero(double value) {
  const auto nearest = static_cast<float>(value);
  uint32_t bits = to_bits(nearest);
  if (std::fabs(static_cast<double>(nearest)) > std::fabs(value) && std::fabs(value) < 0x1p128) --bits;
  return bits;
}

/// The accumulator plus `count` products, in one step. `c` holds f32 or f16 bits.
inline uint32_t tensor_step(const TensorNumber* a, const TensorNumber* b, uint32_t count, uint32_t c,
                            TensorResult result) {
  constexpr int kFraction = 25;
  const bool half = result == TensorResult::F16;
  const TensorNumber start = tensor_number(half ? c & 0xffff : c, half ? kF16 : kF32);
  int most = start.exponent;
  double plain = start.value;
  for (uint32_t k = 0; k < count; ++k) {
    plain += a[k].value * b[k].value;
    if (a[k].exponent + b[k].exponent > most) most = a[k].exponent + b[k].exponent;
  }
  if (std::isnan(plain)) return half ? kNanHalf : kNanF32;
  if (std::isinf(plain)) return half ? (plain < 0 ? 0xfc00u : 0x7c00u) : to_bits(static_cast<float>(plain));
  if (most <= -900) most = -126;
  double sum = std::trunc(std::ldexp(start.value, kFraction - most));
  for (uint32_t k = 0; k < count; ++k)
    sum += std::trunc(std::ldexp(a[k].value * b[k].value, kFraction - most));
  const double total = std::ldexp(sum, most - kFraction);
  uint32_t bits = f32_toward_zero(total);
  if (!half) return bits;
  if (static_cast<double>(to_f32(bits)) != total && (bits & 0x7fffffffu) < 0x7f800000u) bits |= 1;
  return f32_to_f16(bits);
}

}  // namespace sluice::machine::numeric
