// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensor maps that follow from a tile's type: box, swizzle and order of dimensions are the tile's, the caller
// adds the matrix in global memory. For an operand of a ring the box is the part that one CTA loads.
//
//   auto map = sluice::operand_map<Loads, 0>(pointer, rows, columns).encode();
#pragma once

#if __cplusplus < 202002L
#error \
    "sluice/host/tile_map.hpp (typed rings, layer 2) needs C++20: compile with -std=c++20, or use layer 1, sluice/pipeline.hpp"
#else

#include "sluice/host/tensor_map.hpp"
#include "sluice/pipeline/ring_facts.hpp"

namespace sluice {

namespace host::detail {

template <class Tile, class T>
TensorMapBuilder matrix_map(T* address, std::uint64_t rows, std::uint64_t columns, std::uint64_t pitch_bytes,
                            int shares) {
  static_assert(sizeof(T) == sizeof(typename Tile::Element),
                "sluice: the elements in global memory have another size than the tile's");
  constexpr bool kRowsInside = Tile::kMajor == Major::MN;
  const std::uint64_t inner = kRowsInside ? rows : columns;
  // A tile of one line is divided along the line, others into groups of lines.
  const int inner_shares = Tile::kLines == 1 ? shares : 1;
  const int outer_shares = Tile::kLines == 1 ? 1 : shares;
  TensorMapBuilder builder = tensor_map(address);
  builder.shape({inner, kRowsInside ? columns : rows})
      .strides({pitch_bytes != 0 ? pitch_bytes : inner * sizeof(T)})
      .box({static_cast<std::uint32_t>(Tile::kLineElements / inner_shares),
            static_cast<std::uint32_t>(Tile::kLines / outer_shares)})
      .swizzle(Tile::kSwizzle);
  return builder;
}

}  // namespace host::detail

/// The description of a `rows` x `columns` matrix that is copied in boxes of `Tile`. Its contiguous dimension
/// is the tile's: rows lie `pitch_bytes` apart (columns, for an MN-major tile); dense without it. Host only.
template <class Tile, class T>
TensorMapBuilder tile_map(T* address, std::uint64_t rows, std::uint64_t columns,
                          std::uint64_t pitch_bytes = 0) {
  static_assert(sluice::detail::kIsTile<Tile>, "sluice: tile_map<Tile<...>>(address, rows, columns)");
  return host::detail::matrix_map<Tile>(address, rows, columns, pitch_bytes, 1);
}

/// The same for tile `I` of the stages of `Ring`: a multicast tile's box is the share that one CTA loads.
template <class Ring, int I, class T>
TensorMapBuilder operand_map(T* address, std::uint64_t rows, std::uint64_t columns,
                             std::uint64_t pitch_bytes = 0) {
  using Facts = typename Ring::Facts;
  using Operand = typename Facts::template Operand<I>;
  constexpr int kShares =
      Operand::kMulticast ? sluice::detail::multicast_ctas<typename Facts::Cluster>(Operand::kAlong) : 1;
  return host::detail::matrix_map<typename Operand::Tile>(address, rows, columns, pitch_bytes, kShares);
}

}  // namespace sluice

#endif
