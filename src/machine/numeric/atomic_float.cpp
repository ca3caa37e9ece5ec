// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// 16-bit sums are formed in double, where they are exact, and rounded once.
#include "machine/numeric/atomic_float.hpp"

#include <bit>
#include <cmath>

namespace sluice::machine {
namespace {

/// A 16-bit format: sign, `kExponent` bits, the rest mantissa.
template <int kExponent>
double decode(uint16_t bits) {
  constexpr int kMantissa = 15 - kExponent;
  constexpr int kBias = (1 << (kExponent - 1)) - 1;
  const int exponent = (bits >> kMantissa) & ((1 << kExponent) - 1);
  const int mantissa = bits & ((1 << kMantissa) - 1);
  double value;
  if (exponent == (1 << kExponent) - 1)
    value = mantissa != 0 ? NAN : INFINITY;
  else if (exponent == 0)
    value = std::ldexp(mantissa, 1 - kBias - kMantissa);
  else
    value = std::ldexp(mantissa | (1 << kMantissa), exponent - kBias - kMantissa);
  return (bits & 0x8000) != 0 ? -value : value;
}

template <int kExponent>
uint16_t encode(double value) {
  constexpr int kMantissa = 15 - kExponent;
  constexpr int kBias = (1 << (kExponent - 1)) - 1;
  constexpr uint16_t kInfinity = ((1 << kExponent) - 1) << kMantissa;
  if (std::isnan(value)) return 0x7fff;
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  if (std::isinf(magnitude)) return sign | kInfinity;
  int exponent;
  std::frexp(magnitude, &exponent);  // magnitude = f * 2^exponent, 0.5 <= f < 1
  const int lowest = 1 - kBias - kMantissa;
  const int unit = std::max(exponent - 1 - kMantissa, lowest);
  const double scaled = std::nearbyint(std::ldexp(magnitude, -unit));
  const double rounded = std::ldexp(scaled, unit);
  if (rounded >= std::ldexp(1.0, kBias + 1)) return sign | kInfinity;
  std::frexp(rounded, &exponent);
  if (exponent - 1 < 1 - kBias) return sign | static_cast<uint16_t>(std::ldexp(rounded, -lowest));
  const auto mantissa = static_cast<uint16_t>(std::ldexp(rounded, kMantissa - (exponent - 1)));
  return static_cast<uint16_t>(sign | ((exponent - 1 + kBias) << kMantissa) |
                               (mantissa & ((1 << kMantissa) - 1)));
}

template <class T>
T combine(FloatAtomic operation, T a, T b) {
  switch (operation) {
    case FloatAtomic::Add:
      return a + b;
    case FloatAtomic::Min:
      return std::fmin(a, b);
    case FloatAtomic::Max:
      return std::fmax(a, b);
  }
  return a;
}

template <int kExponent>
uint16_t half(FloatAtomic operation, uint16_t old, uint16_t value) {
  return encode<kExponent>(combine(operation, decode<kExponent>(old), decode<kExponent>(value)));
}

template <int kExponent>
uint32_t pair(FloatAtomic operation, uint32_t old, uint32_t value) {
  const uint32_t low = half<kExponent>(operation, static_cast<uint16_t>(old), static_cast<uint16_t>(value));
  const uint32_t high =
      half<kExponent>(operation, static_cast<uint16_t>(old >> 16), static_cast<uint16_t>(value >> 16));
  return low | (high << 16);
}

}  // namespace

uint64_t float_atomic(FloatAtomic operation, ptx::ScalarType type, uint64_t old, uint64_t value) {
  using ptx::ScalarType;
  switch (type) {
    case ScalarType::f32: {
      const float sum = combine(operation, std::bit_cast<float>(static_cast<uint32_t>(old)),
                                std::bit_cast<float>(static_cast<uint32_t>(value)));
      return std::isnan(sum) ? 0x7fffffffu : std::bit_cast<uint32_t>(sum);
    }
    case ScalarType::f64:
      return std::bit_cast<uint64_t>(
          combine(operation, std::bit_cast<double>(old), std::bit_cast<double>(value)));
    case ScalarType::f16:
      return half<5>(operation, static_cast<uint16_t>(old), static_cast<uint16_t>(value));
    case ScalarType::bf16:
      return half<8>(operation, static_cast<uint16_t>(old), static_cast<uint16_t>(value));
    case ScalarType::f16x2:
      return pair<5>(operation, static_cast<uint32_t>(old), static_cast<uint32_t>(value));
    case ScalarType::bf16x2:
      return pair<8>(operation, static_cast<uint32_t>(old), static_cast<uint32_t>(value));
    default:
      return old;
  }
}

}  // namespace sluice::machine
