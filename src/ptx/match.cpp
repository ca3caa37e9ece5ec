// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The verifier: which row do these operands fit, and if none, why not. Rules of operand types follow the ISA
// sections "Instruction Operands" (type checking, operand size exceeding the instruction's) and the reference
// assembler where the text leaves room.
#include "ptx/parser.hpp"

#include <fmt/format.h>

#include <bit>

namespace sluice::ptx {
namespace {

bool say(std::string* why, std::string text) {
  if (why != nullptr && why->empty()) *why = std::move(text);
  return false;
}

/// Packed and narrow types have no registers of their own: they live in untyped ones of their size.
bool is_untyped_only(ScalarType type) {
  switch (type) {
    case ScalarType::f16x2:
    case ScalarType::bf16x2:
    case ScalarType::f32x2:
    case ScalarType::bf16:
    case ScalarType::tf32:
      return true;
    default:
      return type > ScalarType::tf32;
  }
}

/// Whether a register declared `reg` may hold a value of instruction type `type` of the same size.
bool same_size_compatible(ScalarType reg, ScalarType type) {
  if (reg == type || is_bits(reg) || is_bits(type)) return true;
  if (is_integer(reg) && is_integer(type)) return true;
  if (is_untyped_only(type)) return false;
  return is_float(reg) && is_float(type) && bits_of(reg) == bits_of(type);
}

std::string describe(const Operand& operand, const Function& function) {
  switch (operand.kind) {
    case Operand::Kind::Sink:
      return "'_'";
    case Operand::Kind::Register:
      return fmt::format("register '{}' of type .{}", function.regs[operand.index].name,
                         spelling(function.regs[operand.index].type));
    case Operand::Kind::ImmInt:
      return fmt::format("the integer {}", operand.value);
    case Operand::Kind::ImmF32:
      return "a 32-bit floating-point constant";
    case Operand::Kind::ImmF64:
      return "a 64-bit floating-point constant";
    case Operand::Kind::Special:
      return fmt::format("special register {}", spelling(static_cast<SpecialReg>(operand.index)));
    case Operand::Kind::Variable:
      return "a variable's address";
    case Operand::Kind::Function:
      return "a function";
    case Operand::Kind::Address:
      return "an address";
    case Operand::Kind::Vector:
      return "a vector";
    case Operand::Kind::Pair:
      return "a pair";
    default:
      return "a name";
  }
}

}  // namespace

bool Parser::register_fits(const OperandSpec& spec, ScalarType type, const Operand& leaf, std::string* why) {
  const ScalarType reg = function_->regs[leaf.index].type;
  const auto mismatch = [&] {
    return say(why, fmt::format("needs .{}, not {}", spelling(type), describe(leaf, *function_)));
  };
  if (leaf.negate) {
    if (type == ScalarType::pred && !spec.may_not) return say(why, "may not be negated");
    if (type != ScalarType::pred && !spec.may_minus) return say(why, "may not be negated");
  }
  if (leaf.component != Operand::kNoComponent && !spec.may_select) return say(why, "takes no selector");
  if ((reg == ScalarType::pred) != (type == ScalarType::pred)) return mismatch();
  if (reg == ScalarType::pred) return true;
  const uint32_t reg_size = size_of(reg);
  const uint32_t type_size = size_of(type);
  if (reg_size == type_size) {
    // The vector forms of atom and red take halves in any register of their size.
    const bool any =
        spec.count == OperandSpec::Count::Vec && (is_untyped_only(type) || type == ScalarType::f16);
    return any || same_size_compatible(reg, type) || mismatch();
  }
  if (!spec.may_be_wider || reg_size < type_size) return mismatch();
  // A wider register: its low part is read, or it is filled by extension. A floating-point register may only
  // take untyped data so.
  if (is_float(reg)) return is_bits(type) || mismatch();
  if (is_float(type)) return is_bits(reg) || mismatch();
  return true;
}

bool Parser::leaf_fits(const OperandSpec& spec, ScalarType type, Operand& leaf, std::string* why) {
  const auto mismatch = [&] {
    return say(why, fmt::format("needs .{}, not {}", spelling(type), describe(leaf, *function_)));
  };
  switch (leaf.kind) {
    case Operand::Kind::Sink:
      return spec.may_sink || mismatch();
    case Operand::Kind::Register:
      return register_fits(spec, type, leaf, why);
    default:
      break;
  }
  if (spec.is_written)
    return say(why,
               fmt::format("is a destination and must be a register, not {}", describe(leaf, *function_)));
  if (leaf.negate) return say(why, "may not be negated");
  switch (leaf.kind) {
    case Operand::Kind::ImmInt:
      // A `.pred` source takes 0 and 1; an integer is no floating-point value.
      return !is_float(type) || mismatch();
    case Operand::Kind::ImmF32:
      if (type == ScalarType::f64) {
        if (applying_) {
          leaf.kind = Operand::Kind::ImmF64;
          leaf.value = std::bit_cast<int64_t>(double(std::bit_cast<float>(uint32_t(leaf.value))));
        }
        return true;
      }
      return type == ScalarType::f32 || type == ScalarType::b32 || mismatch();
    case Operand::Kind::ImmF64:
      if (type == ScalarType::f32) {
        if (applying_) {
          leaf.kind = Operand::Kind::ImmF32;
          leaf.value = std::bit_cast<uint32_t>(float(std::bit_cast<double>(uint64_t(leaf.value))));
        }
        return true;
      }
      return type == ScalarType::f64 || type == ScalarType::b64 || mismatch();
    case Operand::Kind::Special: {
      if (!spec.any_source) return say(why, "may not be a special register");
      const ScalarType of = scalar_type(static_cast<SpecialReg>(leaf.index));
      if ((of == ScalarType::pred) != (type == ScalarType::pred) || is_float(type)) return mismatch();
      return size_of(of) == size_of(type) || size_of(type) < size_of(of) || mismatch();
    }
    case Operand::Kind::Variable:
      return (spec.or_variable && !is_float(type) && size_of(type) >= 4 && size_of(type) <= 8) || mismatch();
    case Operand::Kind::Function:
      return (spec.any_source && !is_float(type) && size_of(type) >= 4 && size_of(type) <= 8) || mismatch();
    default:
      return mismatch();
  }
}

bool Parser::operand_fits(const Form& form, const OperandSpec& spec, const Mods& mods,
                          PendingOperand& operand, std::string* why) {
  using Type = OperandSpec::Type;
  using Kind = Operand::Kind;
  Operand& head = operand.head;
  const auto needs = [&](std::string_view what) {
    return say(why, fmt::format("needs {}, not {}", what, describe(head, *function_)));
  };
  const auto is_address_register = [&](const Operand& o) {
    const ScalarType type = function_->regs[o.index].type;
    return (is_bits(type) || is_integer(type)) && (size_of(type) == 4 || size_of(type) == 8);
  };

  switch (spec.type) {
    case Type::Constant:
      return head.kind == Kind::ImmInt || needs("an integer constant");
    case Type::Label:
      return head.kind == Kind::Label || needs("a label");
    case Type::Table:
      return head.kind == Kind::BranchTable || needs("a list of branch targets");
    case Type::Prototype:
      return head.kind == Kind::Prototype || needs("a call prototype or a list of call targets");
    case Type::Callee:
      return head.kind == Kind::Function || needs("a function");
    case Type::List:
      return head.kind == Kind::Vector || needs("a list in parentheses");
    case Type::SinkOnly:
      return head.kind == Kind::Sink || needs("'_'");
    case Type::AnyInt:
      if (head.kind == Kind::ImmInt || (head.kind == Kind::Variable && !spec.is_written)) return true;
      return (head.kind == Kind::Register && is_address_register(head)) ||
             needs("a 32-bit or 64-bit integer register");
    case Type::Address:
    case Type::TensorAddress: {
      if (head.kind != Kind::Address) return needs("an address");
      const Operand& base = operand.parts[0];
      if (base.kind == Kind::Register && !is_address_register(base))
        return say(why, "needs a 32-bit or 64-bit integer register as address");
      const size_t coordinates = spec.type == Type::TensorAddress ? tensor_coordinates(mods) : 0;
      if (operand.parts.size() != 1 + coordinates)
        return say(why, coordinates == 0 ? std::string("takes no coordinates")
                                         : fmt::format("needs a tensor map and {} coordinates", coordinates));
      for (size_t i = 1; i < operand.parts.size(); ++i)
        if (!leaf_fits(spec, ScalarType::s32, operand.parts[i], why)) return false;
      return true;
    }
    default:
      break;
  }

  const ScalarType type = operand_type(spec, mods);
  if (spec.has_pair) {
    if (head.kind != Kind::Pair)
      return (spec.pair_optional && leaf_fits(spec, type, head, why)) || needs("a pair d|p");
    OperandSpec second = spec;
    second.may_sink = true;
    if (!leaf_fits(second, type, operand.parts[0], why)) return false;
    return leaf_fits(second, ScalarType::pred, operand.parts[1], why);
  }

  if (spec.count == OperandSpec::Count::Pack) {
    // `mov.b64 {lo, hi}, d`: two or four equal parts that make up the whole.
    if (head.kind != Kind::Vector) return needs("a vector");
    const size_t n = operand.parts.size();
    const uint32_t whole = size_of(type);
    if ((n != 2 && n != 4) || whole % n != 0) return say(why, "needs two or four parts");
    const uint32_t part_size = uint32_t(whole / n);
    ScalarType part = part_size == 1   ? ScalarType::b8
                      : part_size == 2 ? ScalarType::b16
                      : part_size == 4 ? ScalarType::b32
                                       : ScalarType::b64;
    OperandSpec leaf = spec;
    leaf.may_sink = spec.is_written;
    for (Operand& o : operand.parts)
      if (!leaf_fits(leaf, part, o, why)) return false;
    return true;
  }

  const OperandCount count = operand_count(form, spec, mods);
  if (!count.braces) {
    if (head.kind != Kind::Vector) return leaf_fits(spec, type, head, why);
    // `{%r1}` where one value is meant.
    if (operand.parts.size() != 1)
      return say(why, fmt::format("needs one .{}, not a vector", spelling(type)));
    if (!leaf_fits(spec, type, operand.parts[0], why)) return false;
    if (applying_) {
      head = operand.parts[0];
      operand.parts.clear();
    }
    return true;
  }
  if (head.kind != Kind::Vector) {
    if (count.count != 1) return needs(fmt::format("a vector of {}", count.count));
    if (!leaf_fits(spec, type, head, why)) return false;
    if (applying_) {
      operand.parts = {head};
      head = Operand{};
      head.kind = Kind::Vector;
    }
    return true;
  }
  if (operand.parts.size() != count.count)
    return say(why, fmt::format("needs a vector of {}, not of {}", count.count, operand.parts.size()));
  OperandSpec leaf = spec;
  leaf.may_sink |= spec.is_written;
  for (Operand& o : operand.parts)
    if (!leaf_fits(leaf, type, o, why)) return false;
  return true;
}

/// Whether the pending operands are those of the row. `why` and `where` tell the first reason against it.
bool Parser::fits(const Form& form, const Mods& mods, std::string* why, Mark* where) {
  if (form.takes_anything) return true;
  const OperandRange range = operand_range(form, mods);
  if (!range.holds(operand_count_))
    return say(why,
               fmt::format("takes {}{} operands, not {}", range.required,
                           range.optional != 0 ? fmt::format(" to {}", range.required + range.optional) : "",
                           operand_count_));
  return for_each_operand(form, mods, operand_count_, [&](const OperandSpec& spec, size_t i) {
    PendingOperand& operand = operands_[i];
    std::string reason;
    if (operand_fits(form, spec, mods, operand, why == nullptr ? nullptr : &reason)) return true;
    if (where != nullptr) *where = operand.mark;
    return say(why, fmt::format("operand {} ({}) {}", i + 1, spec.name, reason));
  });
}

bool Parser::target_allows(const Form& form, const Mods& mods, std::string* why) const {
  const uint32_t version = module_.version_major * 10u + module_.version_minor;
  const Requirement needed = requirement(form, mods);
  if (version < needed.ptx)
    return say(why, fmt::format("needs PTX {}.{}, the module is written in {}.{}", needed.ptx / 10,
                                needed.ptx % 10, module_.version_major, module_.version_minor));
  if (needed.removed_ptx != 0 && version >= needed.removed_ptx && module_.target.sm >= 70)
    return say(why, fmt::format("is gone since PTX {}.{}", needed.removed_ptx / 10, needed.removed_ptx % 10));
  if (module_.target.sm == 0) return true;  // `.target` may stand further down
  const Target& target = module_.target;
  const bool is_bound = needed.sm.suffix != 0;
  bool ok = target.sm >= needed.sm.number;
  // Warpgroup products exist on sm_90a alone; other architecture-specific forms go on in later ones, each
  // with a suffix.
  if (is_bound) ok &= target.suffix != 0 && (form.family != Family::Wgmma || target.sm == 90);
  if (ok) return true;
  return say(why, fmt::format("needs target sm_{}{}{}, the module's is {}", needed.sm.number,
                              is_bound ? std::string(1, needed.sm.suffix) : "", is_bound ? "" : " or higher",
                              target.name));
}

bool Parser::match(const KnownWord& word, Instruction& instruction, const Mark& begin,
                   std::string_view text) {
  for (const KnownWord::Candidate& candidate : word.candidates) {
    const Form& row = form(candidate.form);
    applying_ = false;
    if (!fits(row, candidate.mods, nullptr, nullptr)) continue;
    if (const std::string_view reason = conflict(row, candidate.mods); !reason.empty()) {
      if (&candidate != &word.candidates.back()) continue;
      return fail(begin, fmt::format("'{}': {}", text, reason));
    }
    std::string why;
    if (!target_allows(row, candidate.mods, &why)) return fail(begin, fmt::format("'{}' {}", text, why));
    applying_ = true;
    (void)fits(row, candidate.mods, nullptr, nullptr);
    instruction.form = candidate.form;
    instruction.mods = candidate.mods;
    if (!unified_seen_) return true;
    if (row.opcode != Opcode::ld || instruction.mods.count == Mods::kCapacity)
      return fail(begin, fmt::format("'{}' takes no '.unified'", text));
    instruction.mods.list[instruction.mods.count++] = Mod::unified;
    return true;
  }

  // None fits: tell why the row that came furthest does not.
  std::string best;
  Mark best_mark = begin;
  applying_ = false;
  for (const KnownWord::Candidate& candidate : word.candidates) {
    std::string why;
    Mark where = begin;
    (void)fits(form(candidate.form), candidate.mods, &why, &where);
    if (best.empty() || where.offset > best_mark.offset) {
      best = std::move(why);
      best_mark = where;
    }
  }
  return fail(best_mark, fmt::format("'{}': {}", text, best));
}

}  // namespace sluice::ptx
