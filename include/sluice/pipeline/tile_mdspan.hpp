// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A tile as a cuda::std::mdspan, for code that is written against mdspan: a layout that knows the swizzle. In
// a header of its own, because <cuda/std/mdspan> takes longer to compile than the rest of the library.
#pragma once

#include <cuda/std/mdspan>

#include "sluice/pipeline/tile.hpp"

namespace sluice {

/// The layout policy of a tile. Its mapping takes (row, column) to the element's number in memory: unique,
/// exhaustive, not strided.
template <class Tile>
struct TileLayout {
  template <class Extents>
  class mapping {
   public:
    using extents_type = Extents;
    using index_type = typename Extents::index_type;
    using size_type = typename Extents::size_type;
    using rank_type = typename Extents::rank_type;
    using layout_type = TileLayout;

    static_assert(Extents::rank() == 2 && Extents::static_extent(0) == Tile::kRows &&
                      Extents::static_extent(1) == Tile::kColumns,
                  "sluice: the extents of a tile's mdspan are the tile's rows and columns");

    SLUICE_HOST_DEVICE constexpr mapping() noexcept {}
    SLUICE_HOST_DEVICE constexpr mapping(const Extents&) noexcept {}

    SLUICE_HOST_DEVICE constexpr const Extents& extents() const noexcept { return extents_; }
    SLUICE_HOST_DEVICE constexpr index_type required_span_size() const noexcept { return Tile::kElements; }
    SLUICE_HOST_DEVICE constexpr index_type operator()(index_type row, index_type column) const noexcept {
      return static_cast<index_type>(Tile::offset(static_cast<int>(row), static_cast<int>(column)) /
                                     sizeof(typename Tile::Element));
    }

    SLUICE_HOST_DEVICE static constexpr bool is_always_unique() noexcept { return true; }
    SLUICE_HOST_DEVICE static constexpr bool is_always_exhaustive() noexcept { return true; }
    SLUICE_HOST_DEVICE static constexpr bool is_always_strided() noexcept { return false; }
    SLUICE_HOST_DEVICE constexpr bool is_unique() const noexcept { return true; }
    SLUICE_HOST_DEVICE constexpr bool is_exhaustive() const noexcept { return true; }
    SLUICE_HOST_DEVICE constexpr bool is_strided() const noexcept { return false; }

    SLUICE_HOST_DEVICE friend constexpr bool operator==(const mapping&, const mapping&) noexcept {
      return true;
    }

   private:
    Extents extents_{};
  };
};

/// The mdspan over a tile: `as_mdspan(tile)(row, column)` is the same element as `tile(row, column)`.
template <class Tile, class Element, TileRight Rights>
SLUICE_DEVICE auto as_mdspan(const TileView<Tile, Element, Rights>& tile) {
  using Extents = cuda::std::extents<int, Tile::kRows, Tile::kColumns>;
  return cuda::std::mdspan<Element, Extents, TileLayout<Tile>>(tile.data(), Extents{});
}

}  // namespace sluice
