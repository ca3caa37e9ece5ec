// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The list of passes, and what they share: the storage of a register, how an instruction ends a block.
#include "program/program.hpp"

namespace sluice::program {

using ptx::Opcode;

RegisterClass class_of(ptx::ScalarType type) {
  if (type == ptx::ScalarType::pred) return RegisterClass::Predicate;
  const uint32_t bytes = ptx::size_of(type);
  return bytes <= 4 ? RegisterClass::Word : bytes <= 8 ? RegisterClass::Double : RegisterClass::Quad;
}

Flow flow_of(const ptx::Instruction& instruction) {
  switch (instruction.op) {
    case Opcode::bra:
      return Flow::Branches;
    case Opcode::brx_idx:
      return Flow::Indexed;
    case Opcode::ret:
    case Opcode::exit:
      return Flow::Ends;
    // A trap ends the launch, not only the thread; what follows it is still a block of its own.
    case Opcode::trap:
      return Flow::Ends;
    default:
      return Flow::Falls;
  }
}

Result<Function> lower(const ptx::Module& module, uint32_t index, const Observer& observer) {
  const ptx::Function& source = module.functions[index];
  Function function;
  function.module = &module;
  function.source = &source;
  function.module_index = index;
  function.code = source.code;
  function.operands = source.operands;
  function.regs = source.regs;
  for (const ptx::Label& label : source.labels) function.label_target.push_back(label.target);
  const auto done = [&](std::string_view pass) {
    if (observer) observer(pass, function);
  };
  done("import");
  expand_operands(function);
  done("expand_operands");
  if (Result<void> laid_out = layout_blocks(function); !laid_out) return std::move(laid_out).error();
  done("layout_blocks");
  free_stack(function);
  done("free_stack");
  place_variables(function);
  done("place_variables");
  place_registers(function);
  done("place_registers");
  return function;
}

}  // namespace sluice::program
