// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What an instruction reads and writes, as the instruction table says it.
#include "program/program.hpp"
#include "ptx/table.hpp"

namespace sluice::program {
namespace {

using Kind = ptx::Operand::Kind;

void collect(const Function& function, const ptx::Operand& operand, uint32_t index, bool reads, bool writes,
             std::vector<Access>& out) {
  switch (operand.kind) {
    case Kind::Register:
      out.push_back(Access{operand.index, index, reads, writes});
      return;
    case Kind::Vector:
    case Kind::Pair:
      for (const ptx::Operand& part : function.parts_of(operand))
        collect(function, part, index, reads, writes, out);
      return;
    case Kind::Address:
      // What an address is made of is read, whatever happens at the address.
      for (const ptx::Operand& part : function.parts_of(operand))
        collect(function, part, index, true, false, out);
      return;
    default:
      return;
  }
}

}  // namespace

void collect_accesses(const Function& function, const ptx::Instruction& instruction,
                      std::vector<Access>& out) {
  if (instruction.guard.reg >= 0)
    out.push_back(Access{static_cast<uint32_t>(instruction.guard.reg), Access::kGuard, true, false});
  const std::span<const ptx::Operand> operands = function.operands_of(instruction);
  ptx::for_each_operand(ptx::form(instruction.form), instruction.mods, operands.size(),
                        [&](const ptx::OperandSpec& spec, size_t i) {
                          collect(function, operands[i], static_cast<uint32_t>(i), spec.is_read,
                                  spec.is_written, out);
                          return true;
                        });
}

}  // namespace sluice::program
