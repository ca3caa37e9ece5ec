// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The number functions against definitions written another way: rounding against long division by hand,
// halves against the one generic rounding, every 16-bit value.
#include <gtest/gtest.h>

#include <cmath>

#include "machine/numeric/convert.hpp"
#include "machine/numeric/fragment.hpp"
#include "machine/numeric/half.hpp"
#include "machine/numeric/integer.hpp"
#include "machine/numeric/tensor_sum.hpp"
#include "machine/numeric/video.hpp"

namespace sluice::machine::numeric {
namespace {

/// A cheap generator, the same everywhere.
struct Sequence {
  uint64_t state = 0x1234'5678'9abc'def1ull;
  uint32_t next() {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<uint32_t>(state >> 32);
  }
};

TEST(Half, every_f16_survives_widening_and_narrowing) {
  for (uint32_t h = 0; h < 0x10000; ++h) {
    const bool nan = (h & 0x7fff) > 0x7c00;
    EXPECT_EQ(f32_to_f16(f16_to_f32(h)), nan ? kNanHalf : h) << std::hex << h;
  }
}

TEST(Half, narrowing_agrees_with_generic_rounding) {
  Sequence s;
  for (int i = 0; i < 200'000; ++i) {
    uint32_t f = s.next();
    // Half of the values near the exponents of f16.
    if (i & 1) f = (f & 0x807fffffu) | ((100 + f % 50) << 23);
    EXPECT_EQ(f32_to_f16(f), convert(f, kF32, kF16, Rounding::Nearest)) << std::hex << f;
    EXPECT_EQ(f32_to_bf16(f), convert(f, kF32, kBf16, Rounding::Nearest)) << std::hex << f;
  }
}

/// The exact fused multiply-add of two halves, through integers of 128 bits.
uint32_t exact_fma(uint32_t a, uint32_t b, uint32_t c, const Format& format) {
  const Exact x = decode(a, format), y = decode(b, format), z = decode(c, format);
  if (x.significand == 0 || y.significand == 0) {
    if (z.significand != 0) return c;
    const bool negative = x.negative != y.negative;
    return negative && z.negative ? static_cast<uint32_t>(format.sign_bit()) : 0;
  }
  // Both terms in units of the smaller exponent; far apart terms keep a sticky bit.
  __int128 product = static_cast<__int128>(x.significand * y.significand),
           sum = static_cast<__int128>(z.significand);
  int pe = x.exponent + y.exponent, ze = z.exponent;
  if (x.negative != y.negative) product = -product;
  if (z.negative) sum = -sum;
  if (sum == 0) ze = pe;
  const int distance = pe - ze;
  if (distance > 60) {
    product = (product << 60) + (sum > 0 ? 1 : sum < 0 ? -1 : 0);
    pe -= 60;
  } else if (distance < -60) {
    product = (sum << 60) + (product > 0 ? 1 : -1);
    pe = ze - 60;
  } else if (distance >= 0) {
    product = (product << distance) + sum;
    pe = ze;
  } else {
    product += sum << -distance;
  }
  if (product == 0) return 0;
  Exact r;
  r.negative = product < 0;
  unsigned __int128 magnitude =
      product < 0 ? static_cast<unsigned __int128>(-product) : static_cast<unsigned __int128>(product);
  bool sticky = false;
  while (magnitude >> 62 != 0) {
    sticky |= (magnitude & 1) != 0;
    magnitude >>= 1;
    ++pe;
  }
  r.significand = static_cast<uint64_t>(magnitude) << 1 | (sticky ? 1 : 0);
  r.exponent = pe - 1;
  return static_cast<uint32_t>(round_to(r, format, Rounding::Nearest));
}

template <class T>
void compare_fma(const Format& format) {
  Sequence s;
  for (int i = 0; i < 300'000; ++i) {
    const uint32_t r = s.next(), q = s.next();
    const uint32_t a = r & 0xffff, b = r >> 16, c = q & 0xffff;
    const auto special = [&](uint32_t h) { return (h & 0x7fff) >= T::kInfinity; };
    if (special(a) || special(b) || special(c)) continue;
    const uint32_t got = Half<T, false>::fma(a, b, c);
    EXPECT_EQ(got, exact_fma(a, b, c, format)) << std::hex << a << ' ' << b << ' ' << c;
  }
}
TEST(Half, fma_of_f16_rounds_once) {
  compare_fma<F16>(kF16);
}
TEST(Half, fma_of_bf16_rounds_once) {
  compare_fma<Bf16>(kBf16);
}

TEST(Round, directions_at_a_tie) {
  // 1 + 2^-11 lies between two f16.
  const Exact tie{.exponent = -11, .significand = (1u << 11) + 1};
  EXPECT_EQ(round_to(tie, kF16, Rounding::Nearest), 0x3c00u);
  EXPECT_EQ(round_to(tie, kF16, Rounding::NearestAway), 0x3c01u);
  EXPECT_EQ(round_to(tie, kF16, Rounding::Up), 0x3c01u);
  EXPECT_EQ(round_to(tie, kF16, Rounding::Down), 0x3c00u);
  EXPECT_EQ(round_to(tie, kF16, Rounding::Zero), 0x3c00u);
  Exact negative = tie;
  negative.negative = true;
  EXPECT_EQ(round_to(negative, kF16, Rounding::Down), 0xbc01u);
  EXPECT_EQ(round_to(negative, kF16, Rounding::Up), 0xbc00u);
}

TEST(Round, overflow_follows_the_direction) {
  const Exact large{.exponent = 16, .significand = 1};
  EXPECT_EQ(round_to(large, kF16, Rounding::Nearest), 0x7c00u);
  EXPECT_EQ(round_to(large, kF16, Rounding::Zero), 0x7bffu);
  EXPECT_EQ(round_to(large, kF16, Rounding::Nearest, true), 0x7bffu);
  EXPECT_EQ(round_to(large, kE4m3, Rounding::Nearest), 0x7eu);
}

TEST(Convert, float_to_integer_clamps) {
  Conversion c{.to = ptx::ScalarType::s8,
               .from = ptx::ScalarType::f32,
               .register_bits = 32,
               .rounding = Rounding::Zero};
  EXPECT_EQ(convert_scalar(to_bits(300.5f), c), 127u);
  EXPECT_EQ(convert_scalar(to_bits(-300.5f), c), 0xffffff80u);
  EXPECT_EQ(convert_scalar(to_bits(-1.9f), c), 0xffffffffu);
  EXPECT_EQ(convert_scalar(0x7fc00000u, c), 0u);
}

TEST(Integer, bit_fields_against_loops) {
  Sequence s;
  for (int i = 0; i < 50'000; ++i) {
    const uint32_t a = s.next(), b = s.next(), position = s.next() % 40, length = s.next() % 40;
    uint32_t want_extract = 0, want_insert = b;
    const uint32_t top = std::min(position + length - 1, 31u);
    const uint32_t sign = length == 0 ? 0 : (a >> top) & 1;
    for (uint32_t bit = 0; bit < 32; ++bit) {
      const bool inside = bit < length && position + bit <= 31;
      want_extract |= (inside ? (a >> (position + bit)) & 1 : sign) << bit;
      if (inside)
        want_insert = (want_insert & ~(1u << (position + bit))) | (((a >> bit) & 1) << (position + bit));
    }
    EXPECT_EQ(Int<int32_t>::bfe(a, position, length), want_extract) << a << ' ' << position << ' ' << length;
    EXPECT_EQ(Int<uint32_t>::bfi(a, b, position, length), want_insert)
        << a << ' ' << position << ' ' << length;
  }
}

TEST(Integer, division_at_the_edges) {
  EXPECT_EQ(Int<int32_t>::div(0x80000000u, 0xffffffffu), 0x80000000u);
  EXPECT_EQ(Int<int32_t>::rem(0x80000000u, 0xffffffffu), 0u);
  EXPECT_EQ(Int<uint32_t>::div(7, 0), 0xffffffffu);
  EXPECT_EQ(Int<int64_t>::rem(static_cast<uint64_t>(-9), 0), static_cast<uint64_t>(-9));
}

TEST(Fragment, every_element_has_one_place) {
  // A of m16n8k16 and the accumulators of m16n8, and the wmma shapes.
  bool seen[32][32] = {};
  for (uint32_t lane = 0; lane < 32; ++lane) {
    for (uint32_t reg = 0; reg < 8; ++reg) {
      for (uint32_t e = 0; e < 2; ++e) {
        const Position p = multiplicand_position(spread_of_a(32, 16, 2), lane, reg, e);
        EXPECT_FALSE(seen[p.row][p.column]);
        seen[p.row][p.column] = true;
      }
    }
  }
  bool accumulated[8][32] = {};
  for (uint32_t lane = 0; lane < 32; ++lane) {
    for (uint32_t i = 0; i < 8; ++i) {
      const Position p = accumulator_position(8, 32, lane, i);
      EXPECT_FALSE(accumulated[p.row][p.column]);
      accumulated[p.row][p.column] = true;
    }
  }
}

TEST(TensorSum, small_terms_are_cut_towards_zero) {
  // 1 + 2^-25 - 2^-25 is exact, 1 + (2^-26) loses the term, whatever the sign.
  const TensorNumber one = tensor_number(0x3c00, kF16);
  const TensorNumber tiny{0x1p-13, -13};
  const TensorNumber a[2] = {one, tiny}, b[2] = {one, tiny};
  EXPECT_EQ(tensor_step(a, b, 2, 0, TensorResult::F32), 0x3f800000u);
  const TensorNumber minus{-0x1p-13, -13};
  const TensorNumber c[2] = {one, minus};
  EXPECT_EQ(tensor_step(c, b, 2, 0, TensorResult::F32), 0x3f800000u);
}

}  // namespace
}  // namespace sluice::machine::numeric
