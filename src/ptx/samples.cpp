// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Sample statements: see samples.hpp. Registers are %c (8 bits), %h, %r, %l, %q (16 to 128 bits, untyped),
// %f, %d (f32, f64), %p (predicates); constants are such that the reference assembler accepts them.
#include "ptx/samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace sluice::ptx::samples {
namespace {

std::string reg(ScalarType type, unsigned number) {
  if (type == ScalarType::pred) return fmt::format("%p{}", number);
  if (type == ScalarType::f32) return fmt::format("%f{}", number);
  if (type == ScalarType::f64) return fmt::format("%d{}", number);
  switch (size_of(type)) {
    case 1:
      return fmt::format("%c{}", number);
    case 2:
      return fmt::format("%h{}", number);
    case 4:
      return fmt::format("%r{}", number);
    case 8:
      return fmt::format("%l{}", number);
    case 16:
      return fmt::format("%q{}", number);
    default:
      throw std::logic_error("no register for ." + std::string(spelling(type)));
  }
}

/// A constant that the operand of this name may have.
int constant(const Form& form, const OperandSpec& spec, const Mods& mods) {
  const std::string_view name = spec.name;
  if (name == "cp-size") return 16;
  if (name == "immLut") return 0x80;
  if (name == "imm-reg-count") return 40;
  if (name == "size") return 128;
  if (name.starts_with("imm-scale")) return 1;
  if (name == "align") return 8;
  if (name == "a" && form.opcode == Opcode::pmevent) return 1;
  if (name == "ord") return mods.has(Mod::global_stride) ? 1 : 2;
  return 0;
}

/// Registers behind one operand are numbered on from `next`.
std::string operand(const Form& form, const OperandSpec& spec, const Mods& mods, unsigned& next) {
  using Type = OperandSpec::Type;
  switch (spec.type) {
    case Type::Constant:
      return std::to_string(constant(form, spec, mods));
    case Type::Address: {
      const Space space = mods.space();
      const bool is_store = form.opcode == Opcode::st;
      if (space == Space::param || space == Space::param_entry)
        return is_store ? "[argument]" : "[parameter]";
      if (space == Space::param_func) return "[argument]";
      if (space == Space::const_) return "[constants]";
      return "[%l390]";
    }
    case Type::TensorAddress: {
      std::string text = "[%l390, {";
      for (uint32_t i = 0; i < tensor_coordinates(mods); ++i)
        text += (i == 0 ? "" : ", ") + fmt::format("%r{}", 380 + i);
      return text + "}]";
    }
    case Type::Label:
      return "done";
    case Type::Table:
      return "table";
    case Type::Callee:
      return "callee";
    case Type::Prototype:
      return "prototype";
    case Type::List:
      return "()";
    case Type::SinkOnly:
      return "_";
    case Type::AnyInt:
      return "%l391";
    default:
      break;
  }
  const ScalarType type = operand_type(spec, mods);
  if (spec.count == OperandSpec::Count::Pack) {
    const ScalarType parts[] = {ScalarType::b8, ScalarType::b16, ScalarType::b32, ScalarType::b64};
    for (ScalarType part : parts)
      if (2 * size_of(part) == size_of(type)) return fmt::format("{{{}, {}}}", reg(part, 50), reg(part, 51));
  }
  const OperandCount count = operand_count(form, spec, mods);
  std::string text;
  for (uint32_t i = 0; i < count.count; ++i) text += (i == 0 ? "" : ", ") + reg(type, next++);
  if (count.braces) text = "{" + text + "}";
  if (spec.has_pair) text += "|%p7";
  if (spec.may_select && spec.is_written && form.name.ends_with("_merge")) text += ".b1";
  return text;
}

}  // namespace

std::string statement(const Form& form, const Mods& mods) {
  std::string text(spelling(form.opcode));
  for (Mod mod : mods.all()) {
    if (mod == Mod::unified) continue;
    text += mod == Mod::shape ? fmt::format(".m{}n{}", mods.shape.m, mods.shape.n) +
                                    (mods.shape.k != 0 ? fmt::format("k{}", mods.shape.k) : "")
                              : "." + std::string(spelling(mod));
  }
  if (form.opcode == Opcode::call)
    return text + (form.operands.size() == 4 ? " %l0, prototype;" : " callee;");
  if (form.takes_anything) return text + " %r0;";
  unsigned next = 0;
  std::string separator = " ";
  for (const OperandSpec& spec : form.operands) {
    if (spec.has_condition && !mods.has(spec.condition)) continue;
    text += separator + operand(form, spec, mods, next);
    separator = ", ";
  }
  if (mods.has(Mod::unified)) text += ".unified";
  return text + ";";
}

std::string module_with(std::span<const std::string> statements, const std::string& target, unsigned ptx) {
  std::string text = fmt::format(R"(.version {}.{}
.target {}
.address_size 64
.const .align 16 .b8 constants[4096];
.func callee
{{
  ret;
}}
.func (.param .align 16 .b8 result[128]) function(.param .align 16 .b8 argument[128])
{{
  ret;
}}
.visible .entry kernel(.param .align 64 .b8 parameter[4096])
{{
  .reg .b8 %c<400>;
  .reg .b16 %h<400>;
  .reg .b32 %r<400>;
  .reg .b64 %l<400>;
  .reg .b128 %q<400>;
  .reg .f32 %f<400>;
  .reg .f64 %d<400>;
  .reg .pred %p<400>;
  .param .align 16 .b8 argument[4096];
)",
                                 ptx / 10, ptx % 10, target);
  text += "prototype: .callprototype _;\n";
  text += "table: .branchtargets done, done;\n";
  text += "  ld.param.b64 %l390, [parameter];\n";
  while (std::count(text.begin(), text.end(), '\n') + 1 < kFirstLine) text += "\n";
  for (const std::string& statement : statements) text += statement + "\n";
  return text + "done:\n  ret;\n}\n";
}

}  // namespace sluice::ptx::samples
