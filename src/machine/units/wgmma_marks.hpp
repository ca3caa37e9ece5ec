// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Undefined bytes through a matrix product: a row of the result is undefined where that row of A has
// undefined bytes, a column where that column of B has.
#pragma once

#include <cstdint>
#include <span>

#include "machine/op.hpp"
#include "machine/register_marks.hpp"
#include "machine/units/wgmma_multiply.hpp"

namespace sluice::machine {

struct ProductMarks {
  bool a[kWgmmaRows] = {};   ///< rows that have undefined bytes
  bool b[kWgmmaMostN] = {};  ///< columns

  /// A fragment of A in registers: rows [first, first + 16).
  void take_a(const RegisterMarks& marks, uint32_t base, const Location (&registers)[4], uint32_t first);
  /// The accumulators of the warp that holds rows [first, first + 16). `adds`: to what they were.
  void put(RegisterMarks& marks, uint32_t base, std::span<const Location> registers, bool half, bool adds,
           uint32_t first, uint32_t origin) const;
};

}  // namespace sluice::machine
