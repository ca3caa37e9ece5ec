// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What an instruction does with its operands, for whoever follows values through a program: which of them
// decide something, which become part of a result, and where results go.
#pragma once

#include <cstdint>

#include "program/program.hpp"

namespace sluice::program {

/// How an instruction uses its operands.
enum class Role : uint8_t {
  Value,       ///< results come from operands
  Load,        ///< results come from memory
  Store,       ///< operands go to memory
  Combine,     ///< operands are combined with memory (red)
  Atomic,      ///< the same, with a result from memory
  AsyncStore,  ///< operands go to memory later; what lands there counts as payload
  Product,     ///< wgmma: accumulators that are not computed
  Collective,  ///< a value from all lanes; the last operand says which
  Reduction,   ///< a barrier with a value: the last operand
  Steers,      ///< control flow, synchronisation, copies: no operand may be payload
};

Role role_of(ptx::Opcode op);

/// Whether registers of the operand `index` decide something (where control goes, which bytes are accessed,
/// how threads synchronise), and are not values that become part of a result. Guards are left to the caller.
bool steers_through(const Function& function, const ptx::Instruction& instruction, uint32_t index);

}  // namespace sluice::program
