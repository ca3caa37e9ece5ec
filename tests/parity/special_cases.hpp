// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels of rows that touch memory: loads, stores, atomics, matrix loads and stores, wmma, address windows.
#pragma once

#include "kernel_text.hpp"
#include "ptx/table.hpp"

namespace sluice::parity {

/// Whether rows like this one have a shape of their own.
bool has_special_case(const ptx::Form& form);
/// Writes the case; false where this choice of modifiers has no meaning outside a larger program.
/// `repetition` 1 is another case of the same choice.
bool write_special_case(KernelText& k, const ptx::Form& form, const ptx::Mods& mods, uint32_t choice,
                        uint32_t repetition);

}  // namespace sluice::parity
