// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// From spellings to the vocabularies of types.hpp; used by the table compiler and the parser.
#pragma once

#include "ptx/ast.hpp"
#include "ptx/types.hpp"

#include <optional>
#include <string_view>

namespace sluice::ptx {

/// The modifier spelled `text` (no dot). Shapes and unknown tokens are not found.
[[nodiscard]] std::optional<Mod> find_mod(std::string_view text);

/// A matrix shape: m64n128k16, m8n8.
[[nodiscard]] std::optional<Shape> find_shape(std::string_view text);

/// The special register spelled `text` without `%` and without component: tid, envreg7 (number 7).
struct SpecialName {
  SpecialReg reg{};
  uint32_t number = 0;
};
[[nodiscard]] std::optional<SpecialName> find_special(std::string_view text);

/// The opcode whose spelling is `text`, whole.
[[nodiscard]] std::optional<Opcode> find_opcode(std::string_view text);

/// The longest opcode that a dotted word starts with, ending at a dot or at the end.
struct OpcodePrefix {
  Opcode opcode{};
  size_t length = 0;
};
[[nodiscard]] std::optional<OpcodePrefix> find_opcode_prefix(std::string_view text);

}  // namespace sluice::ptx
