// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Printing: see print.hpp.
#include "ptx/print.hpp"

#include "ptx/table.hpp"

#include <fmt/format.h>

#include <map>
#include <string_view>

namespace sluice::ptx {
namespace {

/// Registers and labels print with their id, since scopes may use a name twice.
std::string reg_name(const Function& function, uint32_t index) {
  const Reg& reg = function.regs[index];
  // A parameter in a register keeps its name only in the head.
  std::string name = reg.name;
  for (char& c : name)
    if (c == '.') c = '_';
  return fmt::format("{}_{}", name, index);
}

std::string variable_name(const Function& function, uint32_t index) {
  for (const Param& param : function.params)
    if (!param.is_reg && param.index == index) return function.variables[index].name;
  for (const Param& param : function.results)
    if (!param.is_reg && param.index == index) return function.variables[index].name;
  return fmt::format("{}_{}", function.variables[index].name, index);
}

std::string label_name(const Function& function, uint32_t index) {
  return fmt::format("{}_{}", function.labels[index].name, index);
}

std::string with_offset(std::string name, int64_t offset) {
  if (offset != 0) name += fmt::format("+{}", offset);
  return name;
}

std::string selector(uint16_t component) {
  std::string text = Selector::is_byte(component) ? ".b" : ".h";
  for (unsigned i = Selector::digits(component); i-- > 0;) text += char('0' + Selector::lane(component, i));
  return text;
}

std::string join(std::span<const Operand> parts, const Function& function, const Module& module) {
  std::string text;
  for (const Operand& part : parts) text += (text.empty() ? "" : ", ") + print(part, function, module);
  return text;
}

std::string dims(const Variable& v) {
  std::string text;
  for (size_t i = 0; i < v.dims.size(); ++i)
    text += i == 0 && v.is_array_unsized ? std::string("[]") : fmt::format("[{}]", v.dims[i]);
  return text;
}

std::string_view linkage(Linkage l) {
  switch (l) {
    case Linkage::visible:
      return ".visible ";
    case Linkage::external:
      return ".extern ";
    case Linkage::weak:
      return ".weak ";
    case Linkage::common:
      return ".common ";
    case Linkage::none:
      break;
  }
  return "";
}

std::string declaration(const Variable& v, std::string_view name, bool is_parameter) {
  std::string text;
  if (v.space == Space::const_ && v.const_bank != 0) {
    text = fmt::format(".const[{}]", v.const_bank);
  } else if (v.space == Space::reg) {
    return fmt::format(".reg .{} {}", spelling(v.type), name);
  } else {
    text = fmt::format(".{}", spelling(v.space));
  }
  if (v.is_managed) text += " .attribute(.managed)";
  text += fmt::format(" .align {}", v.align);
  if (v.vector > 1) text += fmt::format(" .v{}", v.vector);
  text += fmt::format(" .{}", spelling(v.type));
  if (is_parameter && v.is_pointer) {
    text += " .ptr";
    if (v.pointee_space != Space::none) text += fmt::format(" .{}", spelling(v.pointee_space));
    if (v.pointee_align != 0) text += fmt::format(" .align {}", v.pointee_align);
  }
  return text + fmt::format(" {}{}", name, dims(v));
}

std::string params(const std::vector<Param>& list, const Function& function) {
  std::string text = "(";
  for (const Param& param : list) {
    if (text.size() > 1) text += ", ";
    if (param.is_reg) {
      text += fmt::format(".reg .{} {}", spelling(function.regs[param.index].type),
                          reg_name(function, param.index));
    } else {
      const Variable& v = function.variables[param.index];
      text += declaration(v, v.name, true);
    }
  }
  return text + ")";
}

std::string prototype(const Prototype& p) {
  const auto list = [](const std::vector<Variable>& variables) {
    std::string text = "(";
    for (const Variable& v : variables) text += (text.size() > 1 ? ", " : "") + declaration(v, v.name, true);
    return text + ")";
  };
  return fmt::format("{}: .callprototype {} _ {}{};\n", p.name, list(p.results), list(p.params),
                     p.is_noreturn ? " .noreturn" : "");
}

std::string directives(const Directives& d) {
  std::string text;
  const auto three = [&](const char* name, const std::array<uint32_t, 3>& v) {
    if (v[0] != 0) text += fmt::format(" .{} {}, {}, {}", name, v[0], v[1], v[2]);
  };
  const auto one = [&](const char* name, uint32_t v) {
    if (v != 0) text += fmt::format(" .{} {}", name, v);
  };
  three("maxntid", d.maxntid);
  three("reqntid", d.reqntid);
  three("reqnctapercluster", d.reqnctapercluster);
  one("minnctapersm", d.minnctapersm);
  one("maxnctapersm", d.maxnctapersm);
  one("maxnreg", d.maxnreg);
  one("maxclusterrank", d.maxclusterrank);
  if (d.explicitcluster) text += " .explicitcluster";
  if (d.blocksareclusters) text += " .blocksareclusters";
  if (d.noreturn) text += " .noreturn";
  for (const std::string& pragma : d.pragmas) text += fmt::format(" .pragma \"{}\";", pragma);
  return text;
}

std::string initialiser(const Variable& v, const Module& module) {
  // A flat list of scalars with relocations in their places, nested for vectors and inner dimensions.
  std::map<uint64_t, const Relocation*> at;
  for (const Relocation& r : v.relocations) at[r.offset] = &r;
  const uint32_t size = size_of(v.type);
  uint64_t count = v.size / size;
  uint64_t element = 0;
  const auto scalar = [&]() -> std::string {
    const uint64_t offset = element++ * size;
    if (const auto found = at.find(offset); found != at.end()) {
      const Relocation& r = *found->second;
      const std::string& name = r.target == Relocation::Target::Function ? module.functions[r.index].name
                                                                         : module.variables[r.index].name;
      std::string inner = r.is_generic ? fmt::format("generic({})", name) : name;
      if (r.size == 1) return fmt::format("{}({})", uint64_t(0xff) << r.shift, inner);
      return with_offset(inner, r.addend);
    }
    uint64_t bits = 0;
    for (uint32_t i = 0; i < size && i < 8 && offset + i < v.init.size(); ++i)
      bits |= uint64_t(v.init[offset + i]) << (8 * i);
    if (v.type == ScalarType::f32) return fmt::format("0f{:08X}", bits);
    if (v.type == ScalarType::f64) return fmt::format("0d{:016X}", bits);
    return fmt::format("{}", bits);
  };
  std::vector<uint64_t> extents = v.dims;
  if (v.vector > 1) extents.push_back(v.vector);
  if (extents.empty()) return scalar();
  (void)count;
  const auto level = [&](auto&& self, size_t depth) -> std::string {
    if (depth == extents.size()) return scalar();
    std::string text = "{";
    for (uint64_t i = 0; i < extents[depth]; ++i) text += (i == 0 ? "" : ", ") + self(self, depth + 1);
    return text + "}";
  };
  return level(level, 0);
}

}  // namespace

std::string print(Mod mod, const Shape& shape) {
  if (mod != Mod::shape) return std::string(spelling(mod));
  std::string text = fmt::format("m{}n{}", shape.m, shape.n);
  if (shape.k != 0) text += fmt::format("k{}", shape.k);
  return text;
}

std::string print_word(const Instruction& instruction) {
  std::string text(spelling(instruction.op));
  for (Mod mod : instruction.mods.all())
    if (mod != Mod::unified) text += "." + print(mod, instruction.mods.shape);
  return text;
}

std::string print(const Operand& operand, const Function& function, const Module& module) {
  const auto parts = function.parts_of(operand);
  switch (operand.kind) {
    case Operand::Kind::Sink:
      return "_";
    case Operand::Kind::Register: {
      std::string text = reg_name(function, operand.index);
      if (operand.negate) text = (function.regs[operand.index].type == ScalarType::pred ? "!" : "-") + text;
      if (operand.component != Operand::kNoComponent) text += selector(operand.component);
      return text;
    }
    case Operand::Kind::ImmInt:
      return fmt::format("{}", operand.value);
    case Operand::Kind::ImmF32:
      return fmt::format("0f{:08X}", uint32_t(operand.value));
    case Operand::Kind::ImmF64:
      return fmt::format("0d{:016X}", uint64_t(operand.value));
    case Operand::Kind::Special: {
      const auto reg = static_cast<SpecialReg>(operand.index);
      std::string text(spelling(reg));
      if (reg == SpecialReg::envreg || reg == SpecialReg::pm) text += std::to_string(operand.value);
      if (reg == SpecialReg::pm_64) text = fmt::format("%pm{}_64", operand.value);
      if (operand.component != Operand::kNoComponent)
        text += fmt::format(".{}", "xyzw"[operand.component & 3]);
      return text;
    }
    case Operand::Kind::Variable:
      return with_offset(
          operand.is_module ? module.variables[operand.index].name : variable_name(function, operand.index),
          operand.value);
    case Operand::Kind::Function:
      return module.functions[operand.index].name;
    case Operand::Kind::Label:
      return label_name(function, operand.index);
    case Operand::Kind::BranchTable:
      return function.branch_tables[operand.index].name;
    case Operand::Kind::CallTargets:
      return function.call_targets[operand.index].name;
    case Operand::Kind::Prototype:
      return function.prototypes[operand.index].name;
    case Operand::Kind::Address: {
      std::string text = "[";
      if (parts[0].kind == Operand::Kind::ImmInt) {
        text += std::to_string(operand.value);
      } else {
        text += with_offset(print(parts[0], function, module), operand.value);
      }
      if (parts.size() > 1) text += ", {" + join(parts.subspan(1), function, module) + "}";
      return text + "]";
    }
    case Operand::Kind::Vector:
      return "{" + join(parts, function, module) + "}";
    case Operand::Kind::Pair:
      return print(parts[0], function, module) + "|" + print(parts[1], function, module);
  }
  return "?";
}

std::string print(const Instruction& instruction, const Function& function, const Module& module) {
  std::string text;
  if (instruction.guard.reg >= 0)
    text = fmt::format("@{}{} ", instruction.guard.negate ? "!" : "",
                       reg_name(function, uint32_t(instruction.guard.reg)));
  text += print_word(instruction);
  const auto operands = function.operands_of(instruction);
  const bool is_call = instruction.op == Opcode::call;
  std::string separator = " ";
  for (size_t i = 0; i < operands.size(); ++i) {
    std::string operand = print(operands[i], function, module);
    if (is_call && (i == 0 || i == 2)) {
      if (operands[i].count == 0) continue;
      operand.front() = '(';
      operand.back() = ')';
    }
    text += separator + operand;
    separator = ", ";
  }
  if (instruction.mods.has(Mod::unified)) text += ".unified";
  return text + ";";
}

std::string print(const Function& function, const Module& module) {
  std::string text(linkage(function.linkage));
  text += function.is_entry ? ".entry " : ".func ";
  if (!function.results.empty()) text += params(function.results, function) + " ";
  text += function.name + " " + params(function.params, function) + directives(function.directives);
  if (!function.is_defined) return text + ";\n";
  text += "\n{\n";
  std::vector<bool> in_head(function.variables.size());
  std::vector<bool> reg_in_head(function.regs.size());
  for (const auto* list : {&function.params, &function.results})
    for (const Param& param : *list) (param.is_reg ? reg_in_head : in_head)[param.index] = true;
  for (uint32_t i = 0; i < function.regs.size(); ++i)
    if (!reg_in_head[i])
      text += fmt::format(".reg .{} {};\n", spelling(function.regs[i].type), reg_name(function, i));
  for (uint32_t i = 0; i < function.variables.size(); ++i) {
    const Variable& v = function.variables[i];
    if (!in_head[i])
      text += fmt::format("{}{};\n", linkage(v.linkage), declaration(v, variable_name(function, i), false));
  }
  for (const Prototype& p : function.prototypes) text += prototype(p);
  for (const CallTargets& set : function.call_targets) {
    text += set.name + ": .calltargets ";
    for (size_t i = 0; i < set.functions.size(); ++i)
      text += (i == 0 ? "" : ", ") + module.functions[set.functions[i]].name;
    text += ";\n";
  }
  for (const BranchTable& table : function.branch_tables) {
    text += table.name + ": .branchtargets ";
    for (size_t i = 0; i < table.labels.size(); ++i)
      text += (i == 0 ? "" : ", ") + label_name(function, table.labels[i]);
    text += ";\n";
  }
  std::multimap<uint32_t, uint32_t> labels;
  for (uint32_t i = 0; i < function.labels.size(); ++i) labels.emplace(function.labels[i].target, i);
  const auto print_labels = [&](uint32_t at) {
    for (auto [it, end] = labels.equal_range(at); it != end; ++it)
      text += label_name(function, it->second) + ":\n";
  };
  for (uint32_t i = 0; i < function.code.size(); ++i) {
    print_labels(i);
    text += "  " + print(function.code[i], function, module) + "\n";
  }
  print_labels(uint32_t(function.code.size()));
  return text + "}\n";
}

std::string print(const Module& module) {
  std::string text = fmt::format(".version {}.{}\n.target {}", module.version_major, module.version_minor,
                                 module.target.name);
  for (const std::string& option : module.target.options) text += ", " + option;
  text += fmt::format("\n.address_size {}\n", module.address_size);
  // Names first, so that initialisers and calls may refer to what comes later.
  for (const Function& function : module.functions)
    if (!function.is_entry) {
      Function head = function;
      head.is_defined = false;
      head.directives.pragmas.clear();
      text += print(head, module);
    }
  for (const Variable& v : module.variables) {
    text += fmt::format("{}{}", linkage(v.linkage), declaration(v, v.name, false));
    const bool is_opaque =
        v.type == ScalarType::texref || v.type == ScalarType::samplerref || v.type == ScalarType::surfref;
    if (v.is_initialised && !is_opaque) text += " = " + initialiser(v, module);
    text += ";\n";
  }
  for (const Function& function : module.functions)
    if (function.is_defined || function.is_entry) text += print(function, module);
  for (const Function& function : module.functions)
    if (!function.alias_of.empty()) text += fmt::format(".alias {}, {};\n", function.name, function.alias_of);
  return text;
}

}  // namespace sluice::ptx
