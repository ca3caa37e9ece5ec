// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A second form of a function's code for launches that someone listens to: instructions that touch registers
// of a wgmma (accumulators, or A) tell so before they run. Without a listener the plain code runs and nothing
// is told. Functions without wgmma have no second form.
//
// Which registers those are: all that a wgmma names, and all that moves connect with them, since a compiler
// renames accumulators with moves that the assembler takes out again.
#pragma once

#include "machine/kernel.hpp"

namespace sluice::machine {

/// Makes `function.watched`, once.
void make_watched(const BoundFunction& function);

}  // namespace sluice::machine
