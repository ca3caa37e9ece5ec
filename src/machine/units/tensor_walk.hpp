// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Which bytes a tensor copy touches. A box is a sequence of rows: in tile mode one for each combination of
// the outer coordinates, in im2col mode one for each pixel, in an interleaved layout one for each slice. A
// row lies in one piece in shared memory and, where it is inside the tensor, in one piece in global memory.
// Pure functions. PTX ISA, "Tensors": "Tiled Mode", "Im2col Mode", "Interleaved layout".
#pragma once

#include <algorithm>
#include <cstdint>

#include "machine/tensor_map.hpp"

namespace sluice::machine {

/// A box as a copy names it.
struct TensorBox {
  TensorMapInfo map;
  int32_t start[5] = {};
  uint16_t offset[3] = {};  ///< im2col loads: distance of the filter's tap in each spatial dimension
};

/// The part of a row that lies inside the tensor, counted in units of the row.
struct TensorRow {
  uint32_t first = 0;    ///< units before it lie outside
  uint32_t count = 0;    ///< units inside; 0 when the whole row is outside
  uint64_t address = 0;  ///< global address of unit `first`
};

/// Shape of a box in shared memory.
struct TensorShape {
  uint32_t rows = 1;
  uint32_t row_units = 1;
  uint32_t unit_bytes = 1;       ///< of what dimension 0 counts: an element, or a slice of several
  uint32_t pitch = 1;            ///< from row to row in shared memory
  unsigned first_dimension = 1;  ///< tile mode: rows follow each other along this dimension and those above
  uint32_t extent[5] = {1, 1, 1, 1, 1};  ///< tile mode: positions along each dimension
  uint32_t row_bytes() const { return row_units * unit_bytes; }
  /// What a copy moves, parts outside the tensor included.
  uint32_t bytes() const { return rows * row_bytes(); }
  /// Bytes of shared memory that the box takes, gaps behind narrow rows included.
  uint32_t span() const { return rows * pitch; }
};

/// Bytes of a slice in an interleaved layout, where dimension 0 counts positions in a row of slices; 0 in a
/// layout that is none.
inline uint32_t slice_bytes(const TensorMapInfo& map) {
  return map.interleave == 0 ? 0 : map.interleave == 1 ? 16 : 32;
}

/// im2col: the innermost spatial dimension. The others follow it; behind them comes the dimension that counts
/// slices, where there is one, and at last the batch.
inline unsigned first_spatial(const TensorMapInfo& map) {
  return map.interleave == 0 ? 1 : 0;
}

inline TensorShape shape_of(const TensorMapInfo& map) {
  TensorShape shape;
  const uint32_t slice = slice_bytes(map);
  shape.unit_bytes = slice != 0 ? slice : element_bits(map.type) / 8;
  if (map.im2col) {
    shape.rows = map.pixels;
    shape.row_units = slice != 0 ? 1 : map.channels;
  } else {
    for (unsigned d = 0; d < map.rank; ++d) shape.extent[d] = (map.box[d] + map.steps[d] - 1) / map.steps[d];
    if (slice != 0) {
      // A copy takes one slice of the dimension that counts slices, whatever the box says.
      shape.extent[map.rank - 2] = 1;
      shape.first_dimension = 0;
    } else {
      // The innermost element stride is ignored.
      shape.row_units = map.box[0];
    }
    for (unsigned d = shape.first_dimension; d < map.rank; ++d) shape.rows *= shape.extent[d];
  }
  // A row narrower than the swizzle's span still takes a whole span.
  shape.pitch = std::max(shape.row_bytes(), swizzle_span(map.swizzle));
  return shape;
}

/// The row at coordinates `at` (dimension 0: where the row starts).
inline TensorRow row_at(const TensorMapInfo& map, const TensorShape& shape, const int64_t (&at)[5]) {
  TensorRow row;
  uint64_t address = map.address;
  for (unsigned d = 1; d < map.rank; ++d) {
    if (at[d] < 0 || static_cast<uint64_t>(at[d]) >= map.dims[d]) return row;
    address += static_cast<uint64_t>(at[d]) * map.strides[d - 1];
  }
  const int64_t begin = std::max<int64_t>(at[0], 0);
  const int64_t end = std::min<int64_t>(at[0] + shape.row_units, static_cast<int64_t>(map.dims[0]));
  if (begin >= end) return row;
  row.first = static_cast<uint32_t>(begin - at[0]);
  row.count = static_cast<uint32_t>(end - begin);
  row.address = address + static_cast<uint64_t>(begin) * shape.unit_bytes;
  return row;
}

/// Goes through the rows of a box in the order in which they lie in shared memory.
class TensorWalk {
 public:
  TensorWalk(const TensorBox& box, const TensorShape& shape, uint32_t first_row) : box_(box), shape_(shape) {
    for (unsigned d = 0; d < 5; ++d) at_[d] = box.start[d];
    if (box.map.im2col) {
      for (uint32_t i = 0; i < first_row; ++i) next_pixel();
      return;
    }
    for (unsigned d = shape.first_dimension; d < box.map.rank; ++d) {
      position_[d] = first_row % shape.extent[d];
      first_row /= shape.extent[d];
      at_[d] += int64_t{position_[d]} * box.map.steps[d];
    }
  }

  TensorRow row() const {
    if (!box_.map.im2col) return row_at(box_.map, shape_, at_);
    int64_t at[5];
    for (unsigned d = 0; d < 5; ++d) at[d] = at_[d];
    for (unsigned s = 0; s + 2 < box_.map.rank; ++s) at[first_spatial(box_.map) + s] += box_.offset[s];
    return row_at(box_.map, shape_, at);
  }

  void next() {
    if (box_.map.im2col) return next_pixel();
    for (unsigned d = shape_.first_dimension; d < box_.map.rank; ++d) {
      at_[d] += box_.map.steps[d];
      if (++position_[d] < shape_.extent[d]) return;
      position_[d] = 0;
      at_[d] = box_.start[d];
    }
  }

 private:
  /// Pixels follow each other along the innermost spatial dimension, from edge to edge of the bounding box,
  /// then along the next one, at last along the batch.
  void next_pixel() {
    const TensorMapInfo& map = box_.map;
    for (unsigned s = 0; s + 2 < map.rank; ++s) {
      const unsigned d = first_spatial(map) + s;
      at_[d] += map.steps[d];
      if (at_[d] <= static_cast<int64_t>(map.dims[d]) - 1 + map.upper[s]) return;
      at_[d] = map.lower[s];
    }
    ++at_[map.rank - 1];
  }

  const TensorBox& box_;
  const TensorShape& shape_;
  int64_t at_[5] = {};
  uint32_t position_[5] = {};
};

}  // namespace sluice::machine
