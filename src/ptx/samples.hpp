// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Text made from the instruction table: for a row and a choice of its modifiers, a statement that the row
// accepts, and a module to put statements into. So each form is parsed in tests without anybody having to
// list it.
#pragma once

#include "ptx/table.hpp"

#include <span>
#include <string>

namespace sluice::ptx::samples {

/// A statement of this form, with its semicolon: "add.rn.f32 %f0, %f1, %f2;".
std::string statement(const Form& form, const Mods& mods);

/// A module for `target` ("sm_90a") in ISA version `ptx` (90 is 9.0) with one kernel that holds the
/// statements, one a line; the first stands on line kFirstLine.
std::string module_with(std::span<const std::string> statements, const std::string& target, unsigned ptx);
inline constexpr unsigned kFirstLine = 33;

}  // namespace sluice::ptx::samples
