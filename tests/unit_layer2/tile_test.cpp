// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Bytes, alignment and element places of tiles, and the fields of a wgmma descriptor.
#include <gtest/gtest.h>
#include <cstdint>
#include <set>
#include <vector>

#include "sluice/pipeline/tile.hpp"

namespace sluice {
namespace {

using Half = std::uint16_t;
using KMajor = Tile<Half, 128, 64, Swizzle::B128>;
using MnMajor = Tile<Half, 64, 128, Swizzle::B128, Major::MN>;

static_assert(KMajor::kBytes == 16384 && KMajor::kLines == 128 && KMajor::kLineBytes == 128);
static_assert(KMajor::kAlignment == 1024 && KMajor::kChunks == 1024);
static_assert(MnMajor::kBytes == 16384 && MnMajor::kLines == 128 && MnMajor::kLineBytes == 128);
static_assert(Tile<Half, 8, 32, Swizzle::B64>::kAlignment == 512);
static_assert(Tile<Half, 8, 16, Swizzle::B32>::kAlignment == 256);
static_assert(Row<float, 2048>::kBytes == 8192 && Row<float, 2048>::kAlignment == 128);
static_assert(Tile<char, 2, 8>::kBytes == 16);

template <class T>
class TilePlaces : public testing::Test {};
using Tiles = testing::Types<KMajor, MnMajor, Panels<KMajor, 2>, Panels<MnMajor, 3>,
                             Panels<Tile<float, 8, 4>, 3>, Tile<float, 32, 32, Swizzle::B128>,
                             Tile<float, 16, 16, Swizzle::B64>, Tile<char, 64, 32, Swizzle::B32>,
                             Tile<double, 5, 6>, Tile<int, 6, 10, Swizzle::None, Major::MN>>;
TYPED_TEST_SUITE(TilePlaces, Tiles);

TYPED_TEST(TilePlaces, every_element_has_a_place_of_its_own) {
  std::set<uint32_t> seen;
  for (int row = 0; row < TypeParam::kRows; ++row) {
    for (int column = 0; column < TypeParam::kColumns; ++column) {
      const uint32_t at = TypeParam::offset(row, column);
      EXPECT_EQ(at % sizeof(typename TypeParam::Element), 0u);
      EXPECT_LT(at, static_cast<uint32_t>(TypeParam::kBytes));
      EXPECT_TRUE(seen.insert(at).second) << row << ", " << column;
    }
  }
}

TYPED_TEST(TilePlaces, view_reads_the_element_that_was_written) {
  using Element = typename TypeParam::Element;
  alignas(1024) static Element memory[TypeParam::kElements];
  const TileView<TypeParam, Element> tile(memory);
  for (int row = 0; row < TypeParam::kRows; ++row) {
    for (int column = 0; column < TypeParam::kColumns; ++column) {
      tile(row, column) = static_cast<Element>((row * 131 + column) % 127);
    }
  }
  const TileView<TypeParam, const Element> read(memory);
  for (int row = 0; row < TypeParam::kRows; ++row) {
    for (int column = 0; column < TypeParam::kColumns; ++column) {
      ASSERT_EQ(read(row, column), static_cast<Element>((row * 131 + column) % 127));
    }
  }
}

TEST(Tile, k_major_rows_are_contiguous_and_mn_major_columns_are) {
  using Plain = Tile<float, 4, 8>;
  EXPECT_EQ(Plain::offset(0, 1), 4u);
  EXPECT_EQ(Plain::offset(1, 0), 32u);
  using Transposed = Tile<float, 4, 8, Swizzle::None, Major::MN>;
  EXPECT_EQ(Transposed::offset(1, 0), 4u);
  EXPECT_EQ(Transposed::offset(0, 1), 16u);
}

TEST(Tile, swizzled_row_one_starts_with_chunk_one) {
  EXPECT_EQ(KMajor::offset(0, 0), 0u);
  EXPECT_EQ(KMajor::offset(1, 0), 128u + 16u);
  EXPECT_EQ(KMajor::offset(1, 8), 128u);
  EXPECT_EQ(KMajor::offset(8, 0), 1024u);
  EXPECT_EQ(MnMajor::offset(0, 1), 128u + 16u);
}

TEST(Tile, vectors_are_neighbours_along_the_contiguous_dimension) {
  struct Quad {
    float x, y, z, w;
  };
  using Source = Tile<float, 16, 32, Swizzle::B128>;
  alignas(1024) static float memory[Source::kElements];
  const TileView<Source, float> tile(memory);
  for (int i = 0; i < 32; ++i) tile(5, i) = static_cast<float>(i);
  const Quad quad = tile.vector<Quad>(5, 12);
  EXPECT_EQ(quad.x, 12);
  EXPECT_EQ(quad.w, 15);
}

TEST(Tile, panels_lie_one_after_the_other) {
  using Wide = Panels<KMajor, 2>;
  static_assert(Wide::kRows == 128 && Wide::kColumns == 128 && Wide::kBytes == 32768 &&
                Wide::kAlignment == 1024);
  EXPECT_EQ(Wide::offset(0, 64), 16384u);
  EXPECT_EQ(Wide::offset(1, 64), 16384u + 128u + 16u);
  EXPECT_EQ(Wide::offset(5, 63), KMajor::offset(5, 63));
  using Tall = Panels<MnMajor, 2>;
  static_assert(Tall::kRows == 128 && Tall::kColumns == 128);
  EXPECT_EQ(Tall::offset(64, 0), 16384u);
  EXPECT_EQ(Tall::offset(64, 1), 16384u + 128u + 16u);
}

/// How far the start address moves from one descriptor to another. The field has 14 bits, and a host address
/// may stand anywhere in their range.
uint64_t start_step(uint64_t from, uint64_t to) {
  return (to - from) & 0x3FFF;
}

TEST(Tile, wgmma_descriptor_crosses_panels) {
  using Wide = Panels<KMajor, 2>;
  alignas(1024) static Half memory[Wide::kElements];
  const TileView<Wide, Half> wide(memory);
  EXPECT_EQ(start_step(wide.wgmma_descriptor(0), wide.wgmma_descriptor(64)), 16384u / 16);
  EXPECT_EQ(start_step(wide.wgmma_descriptor(64), wide.wgmma_descriptor(80)), 2u);
  using Tall = Panels<MnMajor, 2>;
  alignas(1024) static Half columns[Tall::kElements];
  const uint64_t descriptor = TileView<Tall, Half>(columns).wgmma_descriptor();
  EXPECT_EQ(descriptor >> 16 & 0x3FFF, 16384u / 16);
  EXPECT_EQ(descriptor >> 32 & 0x3FFF, 1024u / 16);
}

// PTX ISA, "Matrix Descriptor Format". A host address stands for the shared one; only its low bits count.
TEST(Tile, wgmma_descriptor_holds_start_stride_and_layout) {
  alignas(1024) static Half memory[KMajor::kElements];
  const TileView<KMajor, Half> tile(memory);
  const auto address = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(memory));
  for (int k : {0, 16, 48}) {
    const uint64_t descriptor = tile.wgmma_descriptor(k);
    EXPECT_EQ(descriptor & 0x3FFF, ((address + 2u * static_cast<uint32_t>(k)) & 0x3FFFF) >> 4);
    EXPECT_EQ(descriptor >> 32 & 0x3FFF, 1024u / 16);
    EXPECT_EQ(descriptor >> 49 & 7, 0u);
    EXPECT_EQ(descriptor >> 62, 1u);
  }
}

TEST(Tile, wgmma_descriptor_of_mn_major_steps_over_lines) {
  alignas(1024) static Half memory[MnMajor::kElements];
  const TileView<MnMajor, Half> tile(memory);
  EXPECT_EQ(start_step(tile.wgmma_descriptor(0), tile.wgmma_descriptor(16)), 16u * 128 / 16);
}

TEST(Tile, wgmma_descriptor_names_narrow_swizzles) {
  using Narrow = Tile<Half, 64, 32, Swizzle::B64>;
  alignas(1024) static Half memory[Narrow::kElements];
  const uint64_t descriptor = TileView<Narrow, Half>(memory).wgmma_descriptor();
  EXPECT_EQ(descriptor >> 62, 2u);
  EXPECT_EQ(descriptor >> 32 & 0x3FFF, 512u / 16);
}

}  // namespace
}  // namespace sluice
