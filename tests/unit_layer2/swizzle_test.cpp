// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The swizzle function against tables written down from the PTX ISA's description ("Tensor Swizzle Modes"): a
// table row is a 128-byte line of shared memory, an entry the number of the 16-byte chunk of the unswizzled
// tile that it holds.
#include <gtest/gtest.h>
#include <set>

#include "sluice/pipeline/tile_swizzle.hpp"

namespace sluice {
namespace {

constexpr int kChunkBytes = 16;
constexpr int kChunksPerLine = 8;

struct Table {
  Swizzle swizzle;
  int lines;  ///< after which the pattern repeats
  int chunk[8][kChunksPerLine];
};

// 128 bytes: the chunks of line r stand at their place xor r.
constexpr Table kTable128{Swizzle::B128,
                          8,
                          {{0, 1, 2, 3, 4, 5, 6, 7},
                           {9, 8, 11, 10, 13, 12, 15, 14},
                           {18, 19, 16, 17, 22, 23, 20, 21},
                           {27, 26, 25, 24, 31, 30, 29, 28},
                           {36, 37, 38, 39, 32, 33, 34, 35},
                           {45, 44, 47, 46, 41, 40, 43, 42},
                           {54, 55, 52, 53, 50, 51, 48, 49},
                           {63, 62, 61, 60, 59, 58, 57, 56}}};

// 64 bytes: two rows of four chunks in a line, both permuted alike.
constexpr Table kTable64{Swizzle::B64,
                         4,
                         {{0, 1, 2, 3, 4, 5, 6, 7},
                          {9, 8, 11, 10, 13, 12, 15, 14},
                          {18, 19, 16, 17, 22, 23, 20, 21},
                          {27, 26, 25, 24, 31, 30, 29, 28}}};

// 32 bytes: four rows of two chunks in a line.
constexpr Table kTable32{Swizzle::B32, 2, {{0, 1, 2, 3, 4, 5, 6, 7}, {9, 8, 11, 10, 13, 12, 15, 14}}};

class SwizzleTable : public testing::TestWithParam<Table> {};

TEST_P(SwizzleTable, holds_for_every_chunk_of_four_patterns) {
  const Table& table = GetParam();
  for (int line = 0; line < 4 * table.lines; ++line) {
    for (int place = 0; place < kChunksPerLine; ++place) {
      const int pattern = line / table.lines;
      const int chunk = table.chunk[line % table.lines][place] + pattern * table.lines * kChunksPerLine;
      EXPECT_EQ(swizzled(table.swizzle, static_cast<uint32_t>(chunk * kChunkBytes)),
                static_cast<uint32_t>((line * kChunksPerLine + place) * kChunkBytes))
          << "line " << line << ", place " << place;
    }
  }
}

TEST_P(SwizzleTable, repeats_after_its_alignment) {
  const Table& table = GetParam();
  EXPECT_EQ(swizzle_alignment_bytes(table.swizzle), static_cast<uint32_t>(table.lines * 128));
  const uint32_t period = swizzle_alignment_bytes(table.swizzle);
  for (uint32_t offset = 0; offset < period; offset += kChunkBytes) {
    EXPECT_EQ(swizzled(table.swizzle, offset + period), swizzled(table.swizzle, offset) + period);
  }
}

TEST_P(SwizzleTable, is_its_own_inverse_and_keeps_16_bytes_together) {
  const Swizzle swizzle = GetParam().swizzle;
  std::set<uint32_t> seen;
  for (uint32_t offset = 0; offset < 4096; ++offset) {
    const uint32_t to = swizzled(swizzle, offset);
    EXPECT_EQ(swizzled(swizzle, to), offset);
    EXPECT_EQ(to % kChunkBytes, offset % kChunkBytes);
    EXPECT_TRUE(seen.insert(to).second);
  }
}

TEST_P(SwizzleTable, stays_within_its_span) {
  const Swizzle swizzle = GetParam().swizzle;
  const uint32_t span = swizzle_span_bytes(swizzle);
  for (uint32_t offset = 0; offset < 4096; ++offset)
    EXPECT_EQ(swizzled(swizzle, offset) / span, offset / span);
}

// Reading one chunk column of eight consecutive rows touches as many different bank groups as the mode can
// spread.
TEST_P(SwizzleTable, spreads_a_column_over_banks) {
  const Swizzle swizzle = GetParam().swizzle;
  const uint32_t span = swizzle_span_bytes(swizzle);
  std::set<uint32_t> banks;
  for (uint32_t row = 0; row < 8; ++row) banks.insert(swizzled(swizzle, row * span) % 128 / kChunkBytes);
  EXPECT_EQ(banks.size(), 8u);
}

INSTANTIATE_TEST_SUITE_P(Modes, SwizzleTable, testing::Values(kTable32, kTable64, kTable128),
                         [](const auto& info) {
                           return "B" + std::to_string(swizzle_span_bytes(info.param.swizzle));
                         });

TEST(Swizzle, none_changes_nothing) {
  for (uint32_t offset = 0; offset < 4096; ++offset) EXPECT_EQ(swizzled(Swizzle::None, offset), offset);
  EXPECT_EQ(swizzle_alignment_bytes(Swizzle::None), 128u);
}

}  // namespace
}  // namespace sluice
