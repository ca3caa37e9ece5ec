// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What the engine executes of the instruction table, asked of the bind functions themselves: sample
// statements of each row, in a spread of its modifiers, are lowered and bound as a kernel's would be.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::machine {

enum class Support : uint8_t {
  Executed,    ///< every sample
  Partly,      ///< some samples
  Missing,     ///< none
  OutOfScope,  ///< not meant to be: textures, surfaces, other architectures
};
/// "yes", "partly", "no", "out of scope".
[[nodiscard]] std::string_view spelling(Support support);

struct RowSupport {
  Support support = Support::OutOfScope;
  std::string refused;  ///< the first sample that is not executed, and why
};

/// All rows, index = FormId.
[[nodiscard]] std::vector<RowSupport> row_support();

}  // namespace sluice::machine
