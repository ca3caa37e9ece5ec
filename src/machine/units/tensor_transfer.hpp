// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Moves the rows of a box between global and shared memory: fills what lies outside the tensor, applies the
// swizzle, and what the element type asks for (flush to zero, rounding to TF32).
#pragma once

#include <cstdint>

#include "machine/units/reduce.hpp"
#include "machine/units/tensor_walk.hpp"

namespace sluice::machine {

constexpr uint32_t kMostRowBytes = 256 * 8;

/// The element type as a scalar of the machine, for reductions.
ptx::ScalarType scalar_of(TensorType type);

/// Writes to `out` what a copy reads for a row: `from` is the row's inside part in global memory (null when
/// there is none).
void read_row(const TensorMapInfo& map, const TensorShape& shape, const TensorRow& row, const uint8_t* from,
              uint8_t* out);

/// Copies a row of `bytes` to shared memory at `offset` (from the start of the CTA's shared memory),
/// swizzled.
void put_row(uint8_t* shared, uint32_t offset, const uint8_t* row, uint32_t bytes, uint8_t swizzle);

/// The reverse.
void get_row(const uint8_t* shared, uint32_t offset, uint8_t* row, uint32_t bytes, uint8_t swizzle);

/// Bytes that a store writes of a row: its inside part up to the end of the 16-byte chunk in which that ends.
/// What lies behind the tensor in its last chunk is padding, since strides are multiples of 16.
uint32_t written_bytes(const TensorShape& shape, const TensorRow& row);

/// Stores (or reduces) the inside part of a row to global memory at `to`.
void write_row(const TensorMapInfo& map, const TensorShape& shape, const TensorRow& row, const uint8_t* bytes,
               uint8_t* to, Reduction reduction);

}  // namespace sluice::machine
