// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// From the syntax tree back to PTX text: for messages, dumps, and the round-trip tests. What is printed
// parses again to the same tree; names that scopes made ambiguous are told apart by their ids.
#pragma once

#include "ptx/ast.hpp"

#include <string>

namespace sluice::ptx {

/// One modifier: "mbarrier::complete_tx::bytes"; shapes with their numbers.
[[nodiscard]] std::string print(Mod mod, const Shape& shape);
/// The instruction's word: "ld.global.v4.b32".
[[nodiscard]] std::string print_word(const Instruction& instruction);
[[nodiscard]] std::string print(const Operand& operand, const Function& function, const Module& module);
/// The whole statement with guard and semicolon, in the row's order of modifiers.
[[nodiscard]] std::string print(const Instruction& instruction, const Function& function,
                                const Module& module);
/// A function with its declarations.
[[nodiscard]] std::string print(const Function& function, const Module& module);
/// A whole module that parses again.
[[nodiscard]] std::string print(const Module& module);

}  // namespace sluice::ptx
