// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of a table of origins that a module knows: files, inlined functions, places, text.
#pragma once

#include <span>

#include "event/origins.hpp"
#include "ptx/ast.hpp"

namespace sluice::ptx {

/// A table without instructions and symbols.
[[nodiscard]] event::Origins origins_of(const Module& module);

/// Appends one entry per instruction, in order.
void append_origins(std::span<const Instruction> code, event::Origins& origins);

}  // namespace sluice::ptx
