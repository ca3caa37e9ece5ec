// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Which lane holds which element: PTX ISA, "Register Fragments and Shared Memory Matrix Layouts".
#include "machine/units/wgmma_marks.hpp"

#include <algorithm>

namespace sluice::machine {

void ProductMarks::take_a(const RegisterMarks& marks, uint32_t base, const Location (&registers)[4],
                          uint32_t first) {
  if (!marks.any()) return;
  for (uint32_t r = 0; r < 4; ++r) {
    if ((registers[r] & kConstantBit) != 0) continue;
    const uint32_t undefined = marks.undefined(base, {registers[r], 4}, ~0u);
    for (uint32_t lane = 0; lane < 32; ++lane)
      if ((undefined >> lane & 1) != 0) a[first + lane / 4 + 8 * (r % 2)] = true;
  }
}

void ProductMarks::put(RegisterMarks& marks, uint32_t base, std::span<const Location> registers, bool half,
                       bool adds, uint32_t first, uint32_t origin) const {
  const bool any = std::any_of(a + first, a + first + 16, [](bool x) { return x; }) ||
                   std::any_of(std::begin(b), std::end(b), [](bool x) { return x; });
  if (!any && (adds || !marks.any())) return;
  const uint32_t per_block = half ? 2 : 4;  // registers for eight columns
  for (uint32_t v = 0; v < registers.size(); ++v) {
    const RegisterPlace place{registers[v], 4};
    const uint32_t lower_rows = half ? v % 2 : v % 4 / 2;
    for (uint32_t lane = 0; lane < 32; ++lane) {
      const bool row = a[first + lane / 4 + 8 * lower_rows];
      const uint32_t column = v / per_block * 8 + lane % 4 * 2;
      // A register holds two f16 results, or one of 32 bits: the even column or the odd one.
      for (uint32_t part = 0; part < 2; ++part) {
        const bool undefined = row || b[column + (half ? part : v % 2)];
        if (!undefined && adds) continue;
        const uint8_t mark = undefined ? kRegisterComputed : kRegisterDefined;
        const uint8_t two[2] = {mark, mark};
        marks.put(base, place, lane, 2 * part, 2, two);
      }
    }
    marks.settle(base, place, origin);
  }
}

}  // namespace sluice::machine
