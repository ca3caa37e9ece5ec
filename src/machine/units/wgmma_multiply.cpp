// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Decoding and multiplication. The inner loops run over the columns of a row and vectorise.
#include "machine/units/wgmma_multiply.hpp"

// The loops over columns are what a matrix product costs.
#pragma GCC optimize("O3")

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "machine/numeric/half.hpp"

namespace sluice::machine {
namespace {

constexpr int32_t kZeroExponent = -126;
constexpr uint32_t kNan = 0x7fffffff;

struct Element {
  float value;
  int32_t exponent;  ///< of the leading digit's place; subnormal numbers have the least exponent of their type
  bool special;      ///< infinity or NaN
};

/// A number with `exponent_bits` and `mantissa_bits`.
template <int ExponentBits, int MantissaBits, bool HasInfinity>
Element decode_small(uint32_t bits) {
  constexpr int kBias = (1 << (ExponentBits - 1)) - 1;
  constexpr uint32_t kMost = (1u << ExponentBits) - 1;
  const uint32_t sign = bits >> (ExponentBits + MantissaBits) & 1;
  const uint32_t field = bits >> MantissaBits & kMost;
  const uint32_t mantissa = bits & ((1u << MantissaBits) - 1);
  Element e;
  e.special = HasInfinity ? field == kMost : field == kMost && mantissa == (1u << MantissaBits) - 1;
  e.exponent = static_cast<int>(field == 0 ? 1 : field) - kBias;
  if (e.special) {
    const bool nan = !HasInfinity || mantissa != 0;
    e.value = nan ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
    if (sign != 0) e.value = -e.value;
    return e;
  }
  if (field != 0) {
    e.value = std::bit_cast<float>(sign << 31 | static_cast<uint32_t>(static_cast<int>(field) - kBias + 127) << 23 |
                                   mantissa << (23 - MantissaBits));
  } else {
    if (mantissa == 0) e.exponent = kZeroExponent;
    const float magnitude = static_cast<float>(mantissa) * std::bit_cast<float>(static_cast<uint32_t>(128 - kBias - MantissaBits) << 23);
    e.value = sign != 0 ? -magnitude : magnitude;
  }
  return e;
}

/// bf16 and TF32, whose exponents are those of f32.
Element decode_wide(uint32_t bits) {
  Element e;
  const uint32_t field = bits >> 23 & 0xff;
  e.value = std::bit_cast<float>(bits);
  e.special = field == 0xff;
  e.exponent = static_cast<int>(field == 0 ? 1 : field) - 127;
  return e;
}

Element decode(WgmmaType type, const uint8_t* row, uint32_t k) {
  switch (type) {
    case WgmmaType::F16: {
      uint16_t bits;
      std::memcpy(&bits, row + k * 2, 2);
      return decode_small<5, 10, true>(bits);
    }
    case WgmmaType::BF16: {
      uint16_t bits;
      std::memcpy(&bits, row + k * 2, 2);
      return decode_wide(uint32_t{bits} << 16);
    }
    case WgmmaType::TF32: {
      uint32_t bits;
      std::memcpy(&bits, row + k * 4, 4);
      return decode_wide(bits & ~uint32_t{0x1fff});
    }
    case WgmmaType::E4M3: return decode_small<4, 3, false>(row[k]);
    case WgmmaType::E5M2: return decode_small<5, 2, true>(row[k]);
    default: return {};
  }
}

int32_t decode_integer(WgmmaType type, uint8_t byte) { return type == WgmmaType::S8 ? static_cast<int8_t>(byte) : byte; }

bool is_integer(const WgmmaForm& form) { return form.d == WgmmaResult::S32; }

/// Bits below the largest exponent that take part in the sum.
int fraction_bits(const WgmmaForm& form) { return form.element_bits() == 8 ? 13 : 25; }

// --- the sum ------------------------------------------------------------------------------------------------------------

/// Towards zero. Numbers of 2^128 and beyond are infinite.
uint32_t to_f32_toward_zero(double value) {
  const auto nearest = static_cast<float>(value);
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  const bool beyond = std::fabs(static_cast<double>(nearest)) > std::fabs(value);
  if (beyond && std::fabs(value) < 0x1p128) --bits;
  return bits;
}

/// To nearest even, through f32 rounded to odd.
uint32_t to_f16(double value) {
  uint32_t bits = to_f32_toward_zero(value);
  if (static_cast<double>(std::bit_cast<float>(bits)) != value && (bits & 0x7fffffff) < 0x7f800000) bits |= 1;
  return numeric::f32_to_f16(bits);
}

uint32_t finish(const WgmmaForm& form, double value) {
  if (form.d == WgmmaResult::F16) return to_f16(value);
  const uint32_t bits = to_f32_toward_zero(value);
  return fraction_bits(form) == 13 ? bits & ~uint32_t{0x3ff} : bits;
}

Element accumulator(const WgmmaForm& form, uint32_t bits) {
  if (form.d == WgmmaResult::F16) return decode_small<5, 10, true>(bits & 0xffff);
  return decode_wide(bits);
}

/// B's position along K that stored element `k` of the row meets.
uint32_t meets(const WgmmaForm& form, const WgmmaOperands& o, uint32_t row, uint32_t k) {
  return form.sparse ? o.index[row][k] : k;
}

/// One element, whatever its size.
uint32_t sum_slowly(const WgmmaForm& form, const WgmmaOperands& o, uint32_t row, uint32_t column, const Element& c) {
  const uint32_t count = form.a_k();
  if (c.special || o.a_special[row] || o.b_special[column]) {
    double sum = c.value;
    for (uint32_t k = 0; k < count; ++k) {
      sum += double{o.a_value[row][k]} * double{o.b_value[meets(form, o, row, k)][column]};
    }
    // Without special numbers among the terms of this very element the sum below applies.
    if (std::isnan(sum)) return form.d == WgmmaResult::F16 ? kNan & 0xffff : kNan;
    if (std::isinf(sum)) return form.d == WgmmaResult::F16 ? (sum < 0 ? 0xfc00 : 0x7c00) : std::bit_cast<uint32_t>(static_cast<float>(sum));
  }
  const int fraction = fraction_bits(form);
  int32_t most = c.exponent;
  for (uint32_t k = 0; k < count; ++k) {
    most = std::max(most, o.a_exponent[row][k] + o.b_exponent[meets(form, o, row, k)][column]);
  }
  double sum = std::trunc(std::ldexp(double{c.value}, fraction - most));
  for (uint32_t k = 0; k < count; ++k) {
    const double product = double{o.a_value[row][k]} * double{o.b_value[meets(form, o, row, k)][column]};
    sum += std::trunc(std::ldexp(product, fraction - most));
  }
  return finish(form, std::ldexp(sum, most - fraction));
}

// Bounds between which the vector path is exact: products neither overflow nor lose digits that count in single
// precision, and the scale is a normal number.
constexpr int32_t kLeastFast = -100;
constexpr int32_t kMostFast = 126;

void float_row(const WgmmaForm& form, const WgmmaOperands& o, uint32_t row, bool overwrite, uint32_t* d) {
  const uint32_t n = form.n;
  const uint32_t count = form.a_k();
  const int fraction = fraction_bits(form);
  alignas(64) float c[kWgmmaMostN];
  alignas(64) int32_t most[kWgmmaMostN];
  alignas(64) float scale[kWgmmaMostN];
  alignas(64) int32_t sum[kWgmmaMostN];
  bool special = o.any_special;
  if (overwrite) {
    std::fill_n(c, n, 0.0f);
    std::fill_n(most, n, kZeroExponent);
  } else {
    for (uint32_t i = 0; i < n; ++i) {
      const Element e = accumulator(form, d[i]);
      c[i] = e.value;
      most[i] = e.exponent;
      special |= e.special;
    }
  }

  // The largest exponent of each column's terms.
  for (uint32_t k = 0; k < count; ++k) {
    const int32_t* const b = o.b_exponent[meets(form, o, row, k)];
    const int32_t a = o.a_exponent[row][k];
    for (uint32_t i = 0; i < n; ++i) most[i] = std::max(most[i], a + b[i]);
  }
  int32_t low = most[0], high = most[0];
  for (uint32_t i = 0; i < n; ++i) {
    low = std::min(low, most[i]);
    high = std::max(high, most[i]);
    scale[i] = std::bit_cast<float>(static_cast<uint32_t>(127 + fraction - std::clamp(most[i], kLeastFast, kMostFast)) << 23);
    sum[i] = 0;
  }

  // Terms in units of the last place that counts; the conversion cuts towards zero.
  for (uint32_t k = 0; k < count; ++k) {
    const float* const b = o.b_value[meets(form, o, row, k)];
    const float a = o.a_value[row][k];
    for (uint32_t i = 0; i < n; ++i) sum[i] += static_cast<int32_t>(a * b[i] * scale[i]);
  }
  const bool all_fast = low >= kLeastFast && high <= kMostFast && !special;
  for (uint32_t i = 0; i < n; ++i) {
    if (!all_fast && (most[i] < kLeastFast || most[i] > kMostFast || o.a_special[row] || o.b_special[i] || !std::isfinite(c[i]))) {
      Element e{0.0f, kZeroExponent, false};
      if (!overwrite) e = accumulator(form, d[i]);
      d[i] = sum_slowly(form, o, row, i, e);
      continue;
    }
    const double units = static_cast<double>(sum[i]) + static_cast<double>(static_cast<int32_t>(c[i] * scale[i]));
    const double unit = std::bit_cast<double>(static_cast<uint64_t>(1023 + most[i] - fraction) << 52);
    d[i] = finish(form, units * unit);
  }
}

// --- integers -------------------------------------------------------------------------------------------------------------

void integer_row(const WgmmaForm& form, const WgmmaOperands& o, uint32_t row, bool overwrite, uint32_t* d) {
  alignas(64) int32_t sum[kWgmmaMostN] = {};
  const uint32_t n = form.n;
  for (uint32_t k = 0; k < form.a_k(); ++k) {
    const int32_t a = decode_integer(form.a, o.a[row][k]);
    const int32_t* const b = o.b_integer[meets(form, o, row, k)];
    for (uint32_t i = 0; i < n; ++i) sum[i] += a * b[i];
  }
  for (uint32_t i = 0; i < n; ++i) {
    const int64_t total = int64_t{sum[i]} + (overwrite ? 0 : static_cast<int32_t>(d[i]));
    d[i] = static_cast<uint32_t>(form.saturate ? std::clamp<int64_t>(total, INT32_MIN, INT32_MAX) : total);
  }
}

void bit_row(const WgmmaForm& form, const WgmmaOperands& o, uint32_t row, bool overwrite, uint32_t* d) {
  uint64_t a[4], b[4];
  std::memcpy(a, o.a[row], sizeof a);
  for (uint32_t i = 0; i < form.n; ++i) {
    std::memcpy(b, o.b[i], sizeof b);
    uint32_t ones = overwrite ? 0 : d[i];
    for (int word = 0; word < 4; ++word) ones += static_cast<uint32_t>(std::popcount(a[word] & b[word]));
    d[i] = ones;
  }
}

}  // namespace

void wgmma_prepare(const WgmmaForm& form, WgmmaOperands& o) {
  if (form.a == WgmmaType::B1) return;
  const uint32_t b_count = form.b_k();
  if (is_integer(form)) {
    for (uint32_t i = 0; i < form.n; ++i) {
      for (uint32_t k = 0; k < b_count; ++k) o.b_integer[k][i] = decode_integer(form.b, o.b[i][k]);
    }
    return;
  }
  o.any_special = false;
  for (uint32_t row = 0; row < kWgmmaRows; ++row) {
    bool special = false;
    for (uint32_t k = 0; k < form.a_k(); ++k) {
      const Element e = decode(form.a, o.a[row], k);
      o.a_value[row][k] = form.negate_a ? -e.value : e.value;
      o.a_exponent[row][k] = e.exponent;
      special |= e.special;
    }
    o.a_special[row] = special;
    o.any_special |= special;
  }
  for (uint32_t i = 0; i < form.n; ++i) {
    bool special = false;
    for (uint32_t k = 0; k < b_count; ++k) {
      const Element e = decode(form.b, o.b[i], k);
      o.b_value[k][i] = form.negate_b ? -e.value : e.value;
      o.b_exponent[k][i] = e.exponent;
      special |= e.special;
    }
    o.b_special[i] = special;
    o.any_special |= special;
  }
}

void wgmma_row(const WgmmaForm& form, const WgmmaOperands& operands, uint32_t row, bool overwrite, uint32_t* d) {
  if (form.a == WgmmaType::B1) bit_row(form, operands, row, overwrite, d);
  else if (is_integer(form)) integer_row(form, operands, row, overwrite, d);
  else float_row(form, operands, row, overwrite, d);
}

}  // namespace sluice::machine
