// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// wgmma's arithmetic against the stated rule worked out in wide integers, its descriptors against the
// canonical layouts, and whole products of small integers through a kernel.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <memory>
#include <set>

#include "engine_runner.hpp"
#include "machine/units/wgmma_descriptor.hpp"
#include "machine/units/wgmma_multiply.hpp"
#include "wgmma_cases.hpp"

namespace sluice::machine {
namespace {

using hardware::Random;

// --- the sum ------------------------------------------------------------------------------------------

/// sign, significand and exponent with value = significand * 2^(exponent - fraction).
struct Number {
  int64_t significand = 0;
  int exponent = 0;
  int fraction = 0;
};

Number split(uint64_t bits, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const auto field = static_cast<int>(bits >> mantissa_bits & ((1u << exponent_bits) - 1));
  Number n;
  n.significand = static_cast<int64_t>(bits & ((uint64_t{1} << mantissa_bits) - 1));
  if (field != 0) n.significand |= int64_t{1} << mantissa_bits;
  n.exponent = (field == 0 ? 1 : field) - bias;
  n.fraction = mantissa_bits;
  if (n.significand == 0) n.exponent = -126;
  if ((bits >> (exponent_bits + mantissa_bits) & 1) != 0) n.significand = -n.significand;
  return n;
}

/// significand * 2^(exponent - fraction), in units of 2^(most - kept), cut towards zero.
__int128 cut(__int128 significand, int exponent, int fraction, int most, int kept) {
  const int shift = exponent - fraction - most + kept;
  const bool negative = significand < 0;
  __int128 magnitude = negative ? -significand : significand;
  magnitude = shift >= 0 ? magnitude << shift : shift < -120 ? 0 : magnitude >> -shift;
  return negative ? -magnitude : magnitude;
}

/// The rule for f32 accumulators; finite operands.
uint32_t sum_by_rule(const std::vector<Number>& a, const std::vector<Number>& b, const Number& c, int kept) {
  int most = c.exponent;
  for (size_t k = 0; k < a.size(); ++k) most = std::max(most, a[k].exponent + b[k].exponent);
  __int128 sum = cut(c.significand, c.exponent, c.fraction, most, kept);
  for (size_t k = 0; k < a.size(); ++k) {
    sum += cut(static_cast<__int128>(a[k].significand) * b[k].significand, a[k].exponent + b[k].exponent,
               a[k].fraction + b[k].fraction, most, kept);
  }
  if (sum == 0) return 0;
  const uint32_t sign = sum < 0 ? 0x80000000u : 0;
  __int128 magnitude = sum < 0 ? -sum : sum;
  // Normalise to 24 bits, cutting.
  int exponent = most - kept + 23;
  while (magnitude >= __int128{1} << 24) magnitude >>= 1, ++exponent;
  while (magnitude < __int128{1} << 23 && exponent > -126) magnitude <<= 1, --exponent;
  if (exponent > 127) return sign | 0x7f800000;
  auto field = static_cast<uint32_t>(exponent + 127);
  if (magnitude < __int128{1} << 23) field = 0;
  uint32_t bits = sign | field << 23 | (static_cast<uint32_t>(magnitude) & 0x7fffff);
  return kept == 13 ? bits & ~0x3ffu : bits;
}

struct Layout {
  WgmmaType type;
  const char* name;
  int exponent_bits, mantissa_bits, width;
};

TEST(Wgmma, SumsByTheRule) {
  const Layout layouts[] = {{WgmmaType::F16, "f16", 5, 10, 2},
                            {WgmmaType::BF16, "bf16", 8, 7, 2},
                            {WgmmaType::TF32, "tf32", 8, 23, 4},
                            {WgmmaType::E4M3, "e4m3", 4, 3, 1},
                            {WgmmaType::E5M2, "e5m2", 5, 2, 1}};
  const auto o = std::make_unique<WgmmaOperands>();
  for (const Layout& layout : layouts) {
    for (int kind = 0; kind < 3; ++kind) {
      Random random(100 + static_cast<uint64_t>(kind));
      WgmmaForm form;
      form.a = form.b = layout.type;
      form.n = 24;
      for (auto& row : o->a) {
        const auto bytes = hardware::random_elements(random.next(), layout.name, kind, kWgmmaKBytes);
        std::copy(bytes.begin(), bytes.end(), row);
      }
      for (auto& column : o->b) {
        const auto bytes = hardware::random_elements(random.next(), layout.name, kind, kWgmmaKBytes);
        std::copy(bytes.begin(), bytes.end(), column);
      }
      wgmma_prepare(form, *o);
      const int kept = layout.width == 1 ? 13 : 25;
      const auto number = [&](const uint8_t* row, uint32_t k) {
        uint32_t bits = 0;
        std::memcpy(&bits, row + k * static_cast<uint32_t>(layout.width), static_cast<size_t>(layout.width));
        if (layout.type == WgmmaType::TF32) bits &= ~0x1fffu;
        return split(bits, layout.exponent_bits, layout.mantissa_bits);
      };
      for (uint32_t row = 0; row < kWgmmaRows; ++row) {
        uint32_t d[24], before[24];
        for (uint32_t& value : before) {
          value = static_cast<uint32_t>(hardware::random_element(random, "f32", kind == 1 ? 1 : 0));
        }
        std::copy(before, before + 24, d);
        wgmma_row(form, *o, row, false, d);
        for (uint32_t n = 0; n < form.n; ++n) {
          std::vector<Number> a, b;
          for (uint32_t k = 0; k < form.a_k(); ++k) {
            a.push_back(number(o->a[row], k));
            b.push_back(number(o->b[n], k));
          }
          const uint32_t expected = sum_by_rule(a, b, split(before[n], 8, 23), kept);
          ASSERT_EQ(d[n], expected) << layout.name << " kind " << kind << " row " << row << " column " << n;
        }
      }
    }
  }
}

TEST(Wgmma, InfinitiesAndNans) {
  const auto o = std::make_unique<WgmmaOperands>();
  WgmmaForm form;
  form.a = form.b = WgmmaType::F16;
  std::memset(o->a, 0, sizeof o->a);
  std::memset(o->b, 0, sizeof o->b);
  const auto put = [](uint8_t* row, uint32_t k, uint16_t bits) { std::memcpy(row + k * 2, &bits, 2); };
  for (uint32_t n = 0; n < 8; ++n) put(o->b[n], 0, 0x3c00);  // B: ones in place 0
  put(o->a[0], 0, 0x7c00);                                   // infinity times one
  put(o->a[1], 1, 0x7c00);                                   // infinity times zero
  put(o->a[2], 0, 0x7e00);                                   // NaN
  put(o->a[3], 0, 0xfc00);
  put(o->a[4], 0, 0x3c00);
  wgmma_prepare(form, *o);
  const auto row = [&](uint32_t r, float c) {
    uint32_t d[8];
    std::fill(d, d + 8, std::bit_cast<uint32_t>(c));
    wgmma_row(form, *o, r, false, d);
    return d[3];
  };
  EXPECT_EQ(row(0, 1.0f), 0x7f800000u);
  EXPECT_EQ(row(1, 1.0f), 0x7fffffffu);
  EXPECT_EQ(row(2, 1.0f), 0x7fffffffu);
  EXPECT_EQ(row(3, INFINITY), 0x7fffffffu);
  EXPECT_EQ(row(3, -INFINITY), 0xff800000u);
  EXPECT_EQ(row(4, 2.0f), std::bit_cast<uint32_t>(3.0f));
  EXPECT_EQ(row(5, -0.0f), 0u);
}

TEST(Wgmma, IntegersWrapOrSaturate) {
  const auto o = std::make_unique<WgmmaOperands>();
  std::memset(o->a, 0x7f, sizeof o->a);
  std::memset(o->b, 0x7f, sizeof o->b);
  WgmmaForm form;
  form.d = WgmmaResult::S32;
  form.a = form.b = WgmmaType::S8;
  wgmma_prepare(form, *o);
  uint32_t d[8];
  std::fill(d, d + 8, 0x7fffffffu);
  wgmma_row(form, *o, 0, false, d);
  EXPECT_EQ(d[0], 0x7fffffffu + 32u * 127 * 127);
  std::fill(d, d + 8, 0x7fffffffu);
  form.saturate = true;
  wgmma_row(form, *o, 0, false, d);
  EXPECT_EQ(d[0], 0x7fffffffu);
}

// --- descriptors --------------------------------------------------------------------------------------

TEST(Descriptor, KMajorTilesAreWhatATensorCopyWrites) {
  // A tile of 64 rows of 128 bytes as a copy with the 128-byte swizzle lays it out: chunk c of row r at c ^
  // (r % 8).
  const MatrixDescriptor d = MatrixDescriptor::decode(hardware::descriptor(2048, 16, 1024, 1));
  for (uint32_t r = 0; r < 64; ++r) {
    for (uint32_t step = 0; step < 4; ++step) {
      MatrixDescriptor moved = d;
      moved.start += step * 32;  // the way a kernel goes along K
      for (uint32_t c = 0; c < 2; ++c)
        EXPECT_EQ(moved.k_major(r, c), 2048 + r * 128 + (((step * 2 + c) ^ (r % 8)) * 16));
    }
  }
}

TEST(Descriptor, MnMajorTilesAreWhatATensorCopyWrites) {
  // 64 elements along mn are 128 bytes, K goes along the rows of the tile; further blocks of 64 lie `leading`
  // on.
  const MatrixDescriptor d = MatrixDescriptor::decode(hardware::descriptor(0, 4096, 1024, 1));
  for (uint32_t k = 0; k < 16; ++k) {
    for (uint32_t chunk = 0; chunk < 16; ++chunk) {
      EXPECT_EQ(d.mn_major(chunk, k), chunk / 8 * 4096 + k * 128 + ((chunk % 8) ^ (k % 8)) * 16);
    }
  }
}

TEST(Descriptor, ChunksOfATileNeverCollide) {
  for (const uint64_t swizzle : {0, 1, 2, 3}) {
    const uint32_t span = swizzle == 0 ? 16 : 256u >> swizzle;
    const MatrixDescriptor d = MatrixDescriptor::decode(hardware::descriptor(1024, 4096, 8 * span, swizzle));
    std::set<uint32_t> seen;
    for (uint32_t r = 0; r < 256; ++r) {
      for (uint32_t c = 0; c < 2; ++c)
        EXPECT_TRUE(seen.insert(d.k_major(r, c)).second) << swizzle << " " << r << " " << c;
    }
  }
}

// --- whole products -----------------------------------------------------------------------------------

/// m64n32k16 of small integers with the 32-byte swizzle, from a kernel, against a plain triple loop.
TEST(Wgmma, MultipliesInAKernel) {
  hardware::WgmmaShot shot;
  shot.name = "plain";
  shot.n = 32;
  shot.a = shot.b = "f16";
  shot.stage = hardware::Bytes(8192);
  Random random(42);
  int a[64][16], b[32][16];
  const auto place = [&](uint32_t base, uint32_t row, uint32_t k, int value) {
    const uint32_t chunk = k / 8 ^ (row / 4 % 2);  // rows of 32 bytes: bit 7 of the address is row bit 2
    const auto bits = static_cast<uint16_t>(value == 0             ? 0
                                            : std::abs(value) == 1 ? 0x3c00
                                            : std::abs(value) == 2 ? 0x4000
                                                                   : 0x4200);
    hardware::put(shot.stage, base + row * 32 + chunk * 16 + k % 8 * 2,
                  static_cast<uint16_t>(bits | (value < 0 ? 0x8000 : 0)));
  };
  for (uint32_t k = 0; k < 16; ++k) {
    for (uint32_t m = 0; m < 64; ++m) place(0, m, k, a[m][k] = random.between(-3, 3));
    for (uint32_t n = 0; n < 32; ++n) place(4096, n, k, b[n][k] = random.between(-3, 3));
  }
  shot.a_descriptor = hardware::descriptor(0, 16, 256, 3);
  shot.b_descriptor = hardware::descriptor(4096, 16, 256, 3);
  shot.accumulators = hardware::Bytes(size_t{128} * 16 * 4);
  std::vector<hardware::Case> cases;
  hardware::add_wgmma_shot(cases, shot);
  const hardware::Outcome outcome = hardware::run_on_engine(cases[0]);
  ASSERT_TRUE(outcome.refused.empty()) << outcome.refused;
  ASSERT_EQ(outcome.result.fault.kind, FaultKind::None) << outcome.result.fault.message;
  for (uint32_t thread = 0; thread < 128; ++thread) {
    for (uint32_t r = 0; r < 16; ++r) {
      const uint32_t m = thread / 32 * 16 + thread % 32 / 4 + r % 4 / 2 * 8;
      const uint32_t n = r / 4 * 8 + thread % 4 * 2 + r % 2;
      int expected = 0;
      for (uint32_t k = 0; k < 16; ++k) expected += a[m][k] * b[n][k];
      float value;
      std::memcpy(&value, outcome.outputs[0].data() + thread * 64 + r * 4, 4);
      ASSERT_EQ(value, static_cast<float>(expected)) << "row " << m << " column " << n;
    }
  }
}

}  // namespace
}  // namespace sluice::machine
