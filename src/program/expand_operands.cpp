// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Special registers and addresses of variables may stand wherever a source operand may. After this pass they
// stand only as the source of a `mov` (or `cvta`), whose result the instruction uses instead. Addresses
// `[variable + offset]` stay: the machine resolves them without a register.
#include "program/program.hpp"
#include "ptx/table.hpp"

namespace sluice::program {
namespace {

using ptx::Opcode;
using Kind = ptx::Operand::Kind;

bool must_move(const ptx::Operand& operand) {
  return operand.kind == Kind::Special || operand.kind == Kind::Variable;
}

/// Instructions that take such operands as they are.
bool takes_directly(const ptx::Instruction& instruction) {
  switch (instruction.op) {
    case Opcode::mov:
    case Opcode::cvta:
    case Opcode::call:
    case Opcode::ret:
    case Opcode::bra:
    case Opcode::brx_idx:
      return true;
    default:
      return false;
  }
}

ptx::ScalarType value_type(const Function& function, const ptx::Operand& operand) {
  if (operand.kind == Kind::Special) return ptx::scalar_type(static_cast<ptx::SpecialReg>(operand.index));
  const auto& variable = operand.is_module ? function.module->variables[operand.index]
                                           : function.source->variables[operand.index];
  const bool narrow = variable.space == ptx::Space::shared || variable.space == ptx::Space::shared_cta;
  return narrow ? ptx::ScalarType::b32 : ptx::ScalarType::b64;
}

}  // namespace

void expand_operands(Function& function) {
  std::vector<ptx::Instruction> code;
  std::vector<uint32_t> new_index(function.code.size() + 1);
  code.reserve(function.code.size());

  for (size_t i = 0; i < function.code.size(); ++i) {
    new_index[i] = static_cast<uint32_t>(code.size());
    ptx::Instruction instruction = function.code[i];

    // Puts the operand at pool index `at` into a fresh register, with a mov under the same guard.
    const auto move_out = [&](uint32_t at) {
      const ptx::Operand from = function.operands[at];
      const auto reg = static_cast<uint32_t>(function.regs.size());
      const ptx::ScalarType type = value_type(function, from);
      function.regs.push_back(ptx::Reg{type, "%sluice" + std::to_string(reg)});
      const ptx::Operand to{.kind = Kind::Register, .index = reg};

      ptx::Instruction mov = instruction;
      mov.op = Opcode::mov;
      mov.form = static_cast<uint16_t>(ptx::FormId::mov);
      mov.mods = {};
      mov.mods.list[0] = type == ptx::ScalarType::pred ? ptx::Mod::pred
                         : ptx::size_of(type) == 8     ? ptx::Mod::b64
                                                       : ptx::Mod::b32;
      mov.mods.count = 1;
      mov.first_operand = static_cast<uint32_t>(function.operands.size());
      mov.operand_count = 2;
      function.operands.push_back(to);
      function.operands.push_back(from);
      code.push_back(mov);
      function.operands[at] = to;
    };

    if (!takes_directly(instruction)) {
      for (uint32_t k = 0; k < instruction.operand_count; ++k) {
        const uint32_t at = instruction.first_operand + k;
        if (must_move(function.operands[at])) move_out(at);
        const ptx::Operand compound = function.operands[at];
        const bool has_parts =
            compound.kind == Kind::Vector || compound.kind == Kind::Pair || compound.kind == Kind::Address;
        if (!has_parts) continue;
        for (uint32_t p = 0; p < compound.count; ++p) {
          const uint32_t part = compound.first + p;
          // The base of an address may be a variable; further parts (coordinates) may not stay one.
          if (compound.kind == Kind::Address && p == 0 && function.operands[part].kind == Kind::Variable)
            continue;
          if (must_move(function.operands[part])) move_out(part);
        }
      }
    } else if (instruction.op == Opcode::mov && instruction.operand_count == 2) {
      // mov d, {%tid.x, ...}
      const ptx::Operand source = function.operands[instruction.first_operand + 1];
      if (source.kind == Kind::Vector) {
        for (uint32_t p = 0; p < source.count; ++p) {
          if (must_move(function.operands[source.first + p])) move_out(source.first + p);
        }
      }
    }
    code.push_back(instruction);
  }
  new_index[function.code.size()] = static_cast<uint32_t>(code.size());

  for (uint32_t& target : function.label_target) {
    if (target != ptx::kNone) target = new_index[target];
  }
  function.code = std::move(code);
}

}  // namespace sluice::program
