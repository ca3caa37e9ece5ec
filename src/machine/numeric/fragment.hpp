// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the elements of a matrix lie in the registers of a warp (PTX ISA, "Matrix Fragments for mma"). One
// rule covers every shape of mma.m16 and m8 but m8n8k4 with f16: a group of four lanes holds a row of eight
// in turn, each lane a word of consecutive elements along K; further words go down the row tiles of a group
// first (sixteen rows of A, eight columns of B), then along K, then to the next group. Accumulators hold
// pairs of columns. wmma fragments, whose layout is not documented, follow the same rules on an H200; m8n32
// is the product of the transposed matrices there.
#pragma once

#include <cstdint>

namespace sluice::machine::numeric {

struct Position {
  uint32_t row = 0;     ///< of A, of C and D; the column of B
  uint32_t column = 0;  ///< along K; the column of C and D
};

/// How a multiplicand is spread: groups of `group` rows, K of `k` elements, `per_register` of them in a
/// register.
struct Spread {
  uint32_t group = 8;
  uint32_t k = 16;
  uint32_t per_register = 2;
};
/// A of m x k, and B of k x n.
inline Spread spread_of_a(uint32_t m, uint32_t k, uint32_t per_register) {
  return {m < 16 ? m : 16, k, per_register};
}
inline Spread spread_of_b(uint32_t m, uint32_t n, uint32_t k, uint32_t per_register) {
  return {m == 8 && n == 32 ? 16u : 8u, k, per_register};
}

inline Position multiplicand_position(const Spread& s, uint32_t lane, uint32_t reg, uint32_t element) {
  const uint32_t tiles = s.group / 8, words = s.k / (4 * s.per_register);
  const uint32_t group = reg / (tiles * words), rest = reg % (tiles * words);
  return {group * s.group + lane / 4 + 8 * (rest % tiles),
          (rest / tiles) * 4 * s.per_register + (lane % 4) * s.per_register + element};
}

/// Accumulator of m x n; `index` counts the lane's elements.
inline Position accumulator_position(uint32_t m, uint32_t n, uint32_t lane, uint32_t index) {
  const bool transposed = m == 8 && n == 32;
  const uint32_t tiles = (transposed ? n : m) / 8, pair = index / 2;
  const uint32_t row = lane / 4 + 8 * (pair % tiles),
                 column = (pair / tiles) * 8 + (lane % 4) * 2 + index % 2;
  return transposed ? Position{column, row} : Position{row, column};
}

// --- m8n8k4 with f16: four independent products; the quads {0, 4}, {1, 5}, {2, 6}, {3, 7} of lanes each form
// one ----------

/// Which of the four products a lane belongs to.
inline uint32_t quad_pair(uint32_t lane) {
  return (lane % 16) / 4;
}

/// A (8 x 4), by rows or by columns: element 0..3 of the lane.
inline Position quad_a_position(bool by_rows, uint32_t lane, uint32_t element) {
  const uint32_t upper = lane < 16 ? 0 : 4;
  if (by_rows) return {lane % 4 + upper, element};
  return {element + upper, lane % 4};
}
/// B (4 x 8): `row` is the column of B.
inline Position quad_b_position(bool by_rows, uint32_t lane, uint32_t element) {
  const uint32_t upper = lane < 16 ? 0 : 4;
  if (by_rows) return {element + upper, lane % 4};
  return {lane % 4 + upper, element};
}
/// C and D (8 x 8) of f16: eight elements, a row each.
inline Position quad_half_position(uint32_t lane, uint32_t element) {
  return {lane % 4 + (lane < 16 ? 0u : 4u), element};
}
/// C and D of f32.
inline Position quad_single_position(uint32_t lane, uint32_t element) {
  return {(lane & 1) + (element & 2) + (lane < 16 ? 0u : 4u), (element & 4) + (lane & 2) + (element & 1)};
}

// --- sparse A
// ------------------------------------------------------------------------------------------------------------------

/// The four bits of metadata of group `group` of `row`: which lane holds them and where. `selector` picks the
/// lanes where not all four of a quad are needed. Wide elements (16 and 32 bits): a lane has four groups of a
/// row and of the row eight below it. Narrow ones: a lane has eight groups of one row.
struct MetadataPlace {
  uint32_t lane = 0;
  uint32_t shift = 0;
};
inline MetadataPlace metadata_place(bool narrow, uint32_t groups, uint32_t selector, uint32_t row,
                                    uint32_t group) {
  if (narrow) return {(row % 8) * 4 + selector * 2 + row / 8 + 2 * (group / 8), (group % 8) * 4};
  const uint32_t lanes = groups / 4;  // of each quad that hold metadata: 1, 2 or 4
  const uint32_t lane = (row % 8) * 4 + selector * lanes + group / 4;
  return {lane, (row / 8) * 16 + (group % 4) * 4};
}

}  // namespace sluice::machine::numeric
