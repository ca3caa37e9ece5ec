// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What a called function takes with `alloca` ends with its activation: the function saves the stack pointer
// when it begins and restores it before each `ret`. A kernel's own ends with the thread.
#include <algorithm>

#include "program/program.hpp"
#include "ptx/table.hpp"

namespace sluice::program {
namespace {

using ptx::Opcode;

/// `stacksave.u64 reg` or `stackrestore.u64 reg` with the guard and the place of `model`.
ptx::Instruction stack_instruction(Function& function, const ptx::Instruction& model, Opcode op,
                                   uint32_t reg) {
  ptx::Instruction made = model;
  made.op = op;
  made.form =
      static_cast<uint16_t>(op == Opcode::stacksave ? ptx::FormId::stacksave : ptx::FormId::stackrestore);
  made.mods = {};
  made.mods.list[0] = ptx::Mod::u64;
  made.mods.count = 1;
  made.first_operand = static_cast<uint32_t>(function.operands.size());
  made.operand_count = 1;
  function.operands.push_back({.kind = ptx::Operand::Kind::Register, .index = reg});
  return made;
}

}  // namespace

void free_stack(Function& function) {
  const auto allocates = [](const ptx::Instruction& i) { return i.op == Opcode::alloca; };
  if (function.source->is_entry || std::none_of(function.code.begin(), function.code.end(), allocates))
    return;

  const auto reg = static_cast<uint32_t>(function.regs.size());
  function.regs.push_back(ptx::Reg{ptx::ScalarType::u64, "%sluice" + std::to_string(reg)});
  std::vector<ptx::Instruction> code;
  std::vector<uint32_t> new_index;
  ptx::Instruction begin = function.code.front();
  begin.guard = {};
  code.push_back(stack_instruction(function, begin, Opcode::stacksave, reg));
  for (const ptx::Instruction& instruction : function.code) {
    new_index.push_back(static_cast<uint32_t>(code.size()));
    if (instruction.op == Opcode::ret)
      code.push_back(stack_instruction(function, instruction, Opcode::stackrestore, reg));
    code.push_back(instruction);
  }
  new_index.push_back(static_cast<uint32_t>(code.size()));
  for (uint32_t& target : function.label_target) {
    if (target != ptx::kNone) target = new_index[target];
  }
  function.code = std::move(code);
}

}  // namespace sluice::program
