// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The text of lowered code.
#include <fmt/format.h>

#include "program/program.hpp"

namespace sluice::program {

using Kind = ptx::Operand::Kind;

namespace {

std::string dump_operand(const Function& function, const ptx::Operand& o) {
  const auto list = [&](std::string_view open, std::string_view close) {
    std::string text(open);
    bool first = true;
    for (const ptx::Operand& part : function.parts_of(o)) {
      if (!first) text += ", ";
      first = false;
      text += dump_operand(function, part);
    }
    return text + std::string(close);
  };
  switch (o.kind) {
    case Kind::Sink:
      return "_";
    case Kind::Register: {
      std::string name = fmt::format("{}{}", o.negate ? "!" : "", function.regs[o.index].name);
      if (o.index < function.location.size()) name += fmt::format("@{}", function.location[o.index]);
      return name;
    }
    case Kind::ImmInt:
      return fmt::format("{}", o.value);
    case Kind::ImmF32:
      return fmt::format("0f{:08X}", static_cast<uint32_t>(o.value));
    case Kind::ImmF64:
      return fmt::format("0d{:016X}", static_cast<uint64_t>(o.value));
    case Kind::Special:
      return std::string(ptx::spelling(static_cast<ptx::SpecialReg>(o.index)));
    case Kind::Variable:
      return (o.is_module ? function.module->variables[o.index] : function.source->variables[o.index]).name +
             (o.value != 0 ? fmt::format("+{}", o.value) : "");
    case Kind::Function:
      return function.module->functions[o.index].name;
    case Kind::Label:
      return fmt::format("->{}", function.label_target[o.index]);
    case Kind::BranchTable:
      return function.source->branch_tables[o.index].name;
    case Kind::CallTargets:
      return function.source->call_targets[o.index].name;
    case Kind::Prototype:
      return function.source->prototypes[o.index].name;
    case Kind::Address:
      return list("[", o.value != 0 ? fmt::format(" {:+}]", o.value) : "]");
    case Kind::Vector:
      return list("{", "}");
    case Kind::Pair:
      return list("", "");
  }
  return "?";
}

}  // namespace

std::string dump(const Function& function) {
  std::string text = fmt::format("{}: frame {} bytes, local {} bytes\n", function.source->name,
                                 function.frame_bytes, function.local_bytes);
  for (size_t i = 0; i < function.code.size(); ++i) {
    const ptx::Instruction& in = function.code[i];
    text += fmt::format("{:5}  ", i);
    if (in.guard.reg >= 0)
      text += fmt::format("@{}{} ", in.guard.negate ? "!" : "", function.regs[in.guard.reg].name);
    text += ptx::spelling(in.op);
    for (const ptx::Mod mod : in.mods.all()) text += fmt::format(".{}", ptx::spelling(mod));
    bool first = true;
    for (const ptx::Operand& operand : function.operands_of(in)) {
      text += first ? " " : ", ";
      first = false;
      text += dump_operand(function, operand);
    }
    text += "\n";
  }
  return text;
}

}  // namespace sluice::program
