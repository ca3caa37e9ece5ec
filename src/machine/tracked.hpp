// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A third form of a function's code, for checks that follow definedness: every instruction runs through a
// DefinednessWatch, with what it does to its registers worked out beforehand.
#pragma once

#include <vector>

#include "machine/kernel.hpp"
#include "machine/register_marks.hpp"
#include "program/roles.hpp"

namespace sluice::machine {

struct Tracked {
  Op op;  ///< what runs
  ptx::Opcode opcode{};
  program::Role role{};
  bool is_guarded = false;
  bool compares = false;    ///< the result is a decision about its operands: undefined if one of them is
  bool moves = false;       ///< the result is made of its operands' bits
  bool transposed = false;  ///< matrices of 8 x 8
  bool sign_extends = false;
  bool replaces = false;  ///< an atomic operation whose operand takes the place of what was there
  RegisterPlace guard;
  std::vector<RegisterPlace> steering, values, writes;
  // A comparison that a predicate decides alone where it has this value.
  bool is_combined = false, deciding = false;
  RegisterPlace combined;
  // Of loads and stores: the parts that lie one behind the other in memory, `kNowhere` for no register.
  static constexpr uint32_t kNowhere = ~0u;
  uint32_t element_bytes = 0;
  std::vector<RegisterPlace> elements;
};

/// Makes `function.tracked`, once.
void make_tracked(const BoundFunction& function);

}  // namespace sluice::machine
