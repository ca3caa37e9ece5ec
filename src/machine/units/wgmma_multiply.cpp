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

#include "machine/numeric/half.hpp"

namespace sluice::machine {
namespace {

constexpr int32_t kZeroExponent = -1000;  ///< less than any sum of two exponents
constexpr uint32_t kNan = 0x7fffffff;
constexpr uint32_t kNanHalf = 0x7fff;

struct Element {
  float value;
  int32_t
      exponent;  ///< of the leading digit's place; the least of the type for subnormal numbers, not for zeros
  bool special;  ///< infinity or NaN
};

/// A type with an exponent of its own.
template <int Bytes, int ExponentBits, int MantissaBits, bool HasInfinity>
struct Format {
  static constexpr int kBytes = Bytes;

  static Element decode(uint32_t bits) {
    constexpr int kBias = (1 << (ExponentBits - 1)) - 1;
    constexpr uint32_t kMost = (1u << ExponentBits) - 1;
    constexpr uint32_t kMagnitude = (1u << (ExponentBits + MantissaBits)) - 1;
    const uint32_t magnitude = bits & kMagnitude;
    const uint32_t sign = (bits & ~kMagnitude) << (31 - ExponentBits - MantissaBits);
    const uint32_t field = magnitude >> MantissaBits;
    Element e;
    e.exponent = static_cast<int32_t>(std::max(field, 1u)) - kBias;
    e.exponent = magnitude == 0 ? kZeroExponent : e.exponent;
    // A multiplication by a power of two moves the exponent and makes subnormal numbers normal.
    constexpr float kScale = std::bit_cast<float>(static_cast<uint32_t>(254 - kBias) << 23);
    const float value = std::bit_cast<float>(magnitude << (23 - MantissaBits)) * kScale;
    uint32_t word = std::bit_cast<uint32_t>(value);
    e.special = HasInfinity ? field == kMost : magnitude == kMagnitude;
    const bool nan = !HasInfinity || magnitude > kMost << MantissaBits;
    word = e.special ? (nan ? 0x7fc00000u : 0x7f800000u) : word;
    e.value = std::bit_cast<float>(word | sign);
    return e;
  }
};

/// bf16 and TF32, whose exponents are those of f32.
template <int Bytes, int Shift, uint32_t Kept>
struct WideFormat {
  static constexpr int kBytes = Bytes;

  static Element decode(uint32_t bits) {
    const uint32_t word = bits << Shift & Kept;
    const uint32_t field = word >> 23 & 0xff;
    const int32_t exponent = static_cast<int32_t>(std::max(field, 1u)) - 127;
    return {std::bit_cast<float>(word), (word & 0x7fffffff) == 0 ? kZeroExponent : exponent, field == 0xff};
  }
};

using F16 = Format<2, 5, 10, true>;
using E4M3 = Format<1, 4, 3, false>;
using E5M2 = Format<1, 5, 2, true>;
using BF16 = WideFormat<2, 16, 0xffffffff>;
using TF32 = WideFormat<4, 0, 0xffffe000>;
using F32 = WideFormat<4, 0, 0xffffffff>;

template <class F>
uint32_t load_bits(const uint8_t* at) {
  if constexpr (F::kBytes == 1) {
    return *at;
  } else if constexpr (F::kBytes == 2) {
    uint16_t bits;
    std::memcpy(&bits, at, 2);
    return bits;
  } else {
    uint32_t bits;
    std::memcpy(&bits, at, 4);
    return bits;
  }
}

template <class F>
void prepare_a(const WgmmaForm& form, WgmmaOperands& o) {
  const float sign = form.negate_a ? -1.0f : 1.0f;
  for (uint32_t row = 0; row < kWgmmaRows; ++row) {
    bool special = false;
    for (uint32_t k = 0; k < kWgmmaKBytes / F::kBytes; ++k) {
      const Element e = F::decode(load_bits<F>(o.a[row] + k * F::kBytes));
      o.a_value[row][k] = e.value * sign;
      o.a_exponent[row][k] = e.exponent;
      special |= e.special;
    }
    o.a_special[row] = special;
    o.any_special |= special;
  }
}

template <class F>
void prepare_b(const WgmmaForm& form, WgmmaOperands& o) {
  const float sign = form.negate_b ? -1.0f : 1.0f;
  const uint32_t count = form.b_bytes() / F::kBytes;
  uint32_t special[kWgmmaMostN] = {};
  for (uint32_t k = 0; k < count; ++k) {
    for (uint32_t i = 0; i < form.n; ++i) {
      const Element e = F::decode(load_bits<F>(o.b[i] + k * F::kBytes));
      o.b_value[k][i] = e.value * sign;
      o.b_exponent[k][i] = e.exponent;
      special[i] |= e.special ? 1u : 0u;
    }
  }
  for (uint32_t i = 0; i < form.n; ++i) {
    o.b_special[i] = special[i] != 0;
    o.any_special |= o.b_special[i];
  }
}

int32_t decode_integer(WgmmaType type, uint8_t byte) {
  return type == WgmmaType::S8 ? static_cast<int8_t>(byte) : byte;
}

bool is_integer(const WgmmaForm& form) {
  return form.d == WgmmaResult::S32;
}

/// Bits below the largest exponent that take part in the sum.
int fraction_bits(const WgmmaForm& form) {
  return form.element_bits() == 8 ? 13 : 25;
}

// --- the sum ------------------------------------------------------------------------------------------

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
  if (bits == 0x80000000) return 0;  // what is cut to zero has no sign
  return fraction_bits(form) == 13 ? bits & ~uint32_t{0x3ff} : bits;
}

Element accumulator(const WgmmaForm& form, uint32_t bits) {
  return form.d == WgmmaResult::F16 ? F16::decode(bits & 0xffff) : F32::decode(bits);
}

/// B's position along K that stored element `k` of the row meets.
uint32_t meets(const WgmmaForm& form, const WgmmaOperands& o, uint32_t row, uint32_t k) {
  return form.sparse ? o.index[row][k] : k;
}

/// One element, whatever its size.
uint32_t sum_slowly(const WgmmaForm& form, const WgmmaOperands& o, uint32_t row, uint32_t column,
                    const Element& c) {
  const uint32_t count = form.a_k();
  if (c.special || o.a_special[row] || o.b_special[column]) {
    double sum = c.value;
    for (uint32_t k = 0; k < count; ++k) {
      sum += double{o.a_value[row][k]} * double{o.b_value[meets(form, o, row, k)][column]};
    }
    // Without special numbers among the terms of this very element the sum below applies.
    if (std::isnan(sum)) return form.d == WgmmaResult::F16 ? kNanHalf : kNan;
    if (std::isinf(sum))
      return form.d == WgmmaResult::F16 ? (sum < 0 ? 0xfc00 : 0x7c00)
                                        : std::bit_cast<uint32_t>(static_cast<float>(sum));
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

// Bounds between which the vector path is exact: products neither overflow nor lose digits that count in
// single precision, and the scale is a normal number.
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
    scale[i] = std::bit_cast<float>(
        static_cast<uint32_t>(127 + fraction - std::clamp(most[i], kLeastFast, kMostFast)) << 23);
    sum[i] = 0;
  }

  // Terms in units of the last place that counts; the conversion cuts towards zero. Terms of columns that are
  // summed slowly may be anything, and do not count.
  const bool all_fast = low >= kLeastFast && high <= kMostFast && !special;
  for (uint32_t k = 0; k < count; ++k) {
    const float* const b = o.b_value[meets(form, o, row, k)];
    const float a = o.a_value[row][k];
    if (all_fast) {
      for (uint32_t i = 0; i < n; ++i) sum[i] += static_cast<int32_t>(a * b[i] * scale[i]);
      continue;
    }
    const auto beyond = static_cast<float>(4u << fraction);  // all terms of the other columns stay below
    for (uint32_t i = 0; i < n; ++i) {
      const float term = a * b[i] * scale[i];
      sum[i] += std::fabs(term) < beyond ? static_cast<int32_t>(term) : 0;
    }
  }
  if (all_fast && high < kMostFast - 6 && form.d == WgmmaResult::F32) {
    // As below, without a branch: no sum reaches 2^128.
    const uint32_t kept = fraction == 13 ? ~uint32_t{0x3ff} : ~uint32_t{0};
    for (uint32_t i = 0; i < n; ++i) {
      const double units =
          static_cast<double>(sum[i]) + static_cast<double>(static_cast<int32_t>(c[i] * scale[i]));
      const double value = units / static_cast<double>(scale[i]);
      const auto nearest = static_cast<float>(value);
      const bool beyond = std::fabs(static_cast<double>(nearest)) > std::fabs(value);
      d[i] = (std::bit_cast<uint32_t>(nearest) - (beyond ? 1u : 0u)) & kept;
    }
    return;
  }
  for (uint32_t i = 0; i < n; ++i) {
    if (!all_fast && (most[i] < kLeastFast || most[i] > kMostFast || o.a_special[row] || o.b_special[i] ||
                      !std::isfinite(c[i]))) {
      Element e{0.0f, kZeroExponent, false};
      if (!overwrite) e = accumulator(form, d[i]);
      d[i] = sum_slowly(form, o, row, i, e);
      continue;
    }
    const double units =
        static_cast<double>(sum[i]) + static_cast<double>(static_cast<int32_t>(c[i] * scale[i]));
    const double unit = std::bit_cast<double>(static_cast<uint64_t>(1023 + most[i] - fraction) << 52);
    d[i] = finish(form, units * unit);
  }
}

// --- integers -----------------------------------------------------------------------------------------

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
  if (is_integer(form)) {
    for (uint32_t k = 0; k < form.b_k(); ++k) {
      for (uint32_t i = 0; i < form.n; ++i) o.b_integer[k][i] = decode_integer(form.b, o.b[i][k]);
    }
    return;
  }
  o.any_special = false;
  switch (form.a) {
    case WgmmaType::F16:
      prepare_a<F16>(form, o);
      break;
    case WgmmaType::BF16:
      prepare_a<BF16>(form, o);
      break;
    case WgmmaType::TF32:
      prepare_a<TF32>(form, o);
      break;
    case WgmmaType::E4M3:
      prepare_a<E4M3>(form, o);
      break;
    default:
      prepare_a<E5M2>(form, o);
      break;
  }
  switch (form.b) {
    case WgmmaType::F16:
      prepare_b<F16>(form, o);
      break;
    case WgmmaType::BF16:
      prepare_b<BF16>(form, o);
      break;
    case WgmmaType::TF32:
      prepare_b<TF32>(form, o);
      break;
    case WgmmaType::E4M3:
      prepare_b<E4M3>(form, o);
      break;
    default:
      prepare_b<E5M2>(form, o);
      break;
  }
}

void wgmma_row(const WgmmaForm& form, const WgmmaOperands& operands, uint32_t row, bool overwrite,
               uint32_t* d) {
  if (form.a == WgmmaType::B1)
    bit_row(form, operands, row, overwrite, d);
  else if (is_integer(form))
    integer_row(form, operands, row, overwrite, d);
  else
    float_row(form, operands, row, overwrite, d);
}

}  // namespace sluice::machine
