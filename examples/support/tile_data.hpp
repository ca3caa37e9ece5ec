// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The host's part of the job in tile_job.hpp: the matrix, and what the records of the device add up to.
#pragma once

#include <cstddef>
#include <vector>

#include "tile_job.hpp"

namespace example {

/// The matrix that holds `places` tiles side by side: 128 rows of 64 * `places` half, columns (K) contiguous.
inline std::vector<HalfBits> make_matrix(int places) {
  const int columns = places * kTileCols;
  std::vector<HalfBits> matrix(static_cast<std::size_t>(kTileRows) * columns);
  for (int row = 0; row < kTileRows; ++row) {
    for (int column = 0; column < columns; ++column) {
      matrix[static_cast<std::size_t>(row) * columns + column] =
          element_bits(column / kTileCols, row, column % kTileCols);
    }
  }
  return matrix;
}

/// Errors in the records of `ctas` CTAs: wrong elements, and elements that were verified not once but never
/// or twice.
inline long count_errors(const std::vector<TileRecord>& records, int tiles, int ctas) {
  long errors = 0;
  for (int cta = 0; cta < ctas; ++cta) {
    for (int tile = 0; tile < tiles; ++tile) {
      const TileRecord& record = records[static_cast<std::size_t>(cta) * (tiles + 1) + tile];
      const long off = static_cast<long>(record.verified) - kTileElements;
      errors += record.errors + (off < 0 ? -off : off);
    }
  }
  return errors;
}

}  // namespace example
