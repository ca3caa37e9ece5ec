// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A tile's mdspan names the same elements as the tile itself. The layout is host code too, so this needs no
// GPU.
#include <gtest/gtest.h>

#include "sluice/pipeline/tile_mdspan.hpp"

namespace sluice {
namespace {

template <class Tile>
void expect_same_places() {
  using Extents = cuda::std::extents<int, Tile::kRows, Tile::kColumns>;
  using Mapping = typename TileLayout<Tile>::template mapping<Extents>;
  const Mapping mapping{Extents{}};
  std::vector<typename Tile::Element> memory(Tile::kElements);
  cuda::std::mdspan<typename Tile::Element, Extents, TileLayout<Tile>> span(memory.data(), Extents{});
  EXPECT_EQ(span.extent(0), Tile::kRows);
  EXPECT_EQ(span.extent(1), Tile::kColumns);
  EXPECT_EQ(mapping.required_span_size(), Tile::kElements);
  for (int row = 0; row < Tile::kRows; ++row) {
    for (int column = 0; column < Tile::kColumns; ++column) {
      ASSERT_EQ(mapping(row, column) * static_cast<int>(sizeof(typename Tile::Element)),
                static_cast<int>(Tile::offset(row, column)));
      ASSERT_EQ(&span(row, column), &memory[static_cast<std::size_t>(mapping(row, column))]);
    }
  }
}

TEST(TileMdspan, names_the_elements_of_a_swizzled_tile) {
  expect_same_places<Tile<unsigned short, 32, 64, Swizzle::B128>>();
  expect_same_places<Tile<float, 16, 16, Swizzle::B64>>();
}
TEST(TileMdspan, names_the_elements_of_an_mn_major_tile) {
  expect_same_places<Tile<float, 32, 24, Swizzle::B128, Major::MN>>();
}
TEST(TileMdspan, names_the_elements_of_a_plain_tile) {
  expect_same_places<Tile<double, 6, 10>>();
}

using Swizzled = TileLayout<Tile<float, 8, 32, Swizzle::B128>>::mapping<cuda::std::extents<int, 8, 32>>;
static_assert(Swizzled::is_always_unique() && Swizzled::is_always_exhaustive() &&
              !Swizzled::is_always_strided());

}  // namespace
}  // namespace sluice
