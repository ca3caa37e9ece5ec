// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// From rows of the table to cases. Most rows work on registers alone and are written by one function from the
// row's operand rules; memory, matrix and address rows have shapes of their own (special_cases.cpp).
#include "cases.hpp"

#include <algorithm>
#include <set>

#include "kernel_text.hpp"
#include "special_cases.hpp"

namespace sluice::parity {
namespace {

using ptx::Family;
using ptx::Form;
using ptx::Mod;
using ptx::Mods;
using ptx::Opcode;
using ptx::OperandSpec;
using ptx::ScalarType;

/// Whether every operand is a register or a constant.
bool works_on_registers(const Form& form) {
  switch (form.family) {
    case Family::Integer:
    case Family::Carry:
    case Family::Float:
    case Family::Half:
    case Family::Compare:
    case Family::Logic:
    case Family::Move:
    case Family::Convert:
    case Family::Warp:
    case Family::Mma:
    case Family::Video:
      break;
    default:
      return form.opcode == Opcode::bar_red || form.opcode == Opcode::barrier_red;
  }
  if (form.opcode == Opcode::wmma_mma || form.opcode == Opcode::mapa || form.opcode == Opcode::getctarank ||
      form.opcode == Opcode::cvta || form.opcode == Opcode::isspacep) {
    return false;
  }
  return std::none_of(form.operands.begin(), form.operands.end(), [](const OperandSpec& spec) {
    using Type = OperandSpec::Type;
    return spec.type != Type::Fixed && spec.type != Type::TypeMod && spec.type != Type::Wide &&
           spec.type != Type::Fragment && spec.type != Type::Constant && spec.type != Type::SinkOnly;
  });
}

/// How many choices of modifiers a row gets.
size_t variant_limit(const Form& form) {
  switch (form.family) {
    case Family::Convert:
      return 160;
    case Family::Compare:
      return 28;
    case Family::Memory:
      return 40;
    case Family::Atomic:
      return 28;
    case Family::Mma:
      return 24;
    case Family::Video:
      return 12;
    default:
      return 48;
  }
}

/// How many times each choice is written, with other constants, selectors or register widths.
uint32_t repetitions(const Form& form) {
  if (form.opcode == Opcode::lop3) return 12;
  if (form.family == Family::Convert) return 2;
  if (form.family == Family::Video) return 3;
  if (form.opcode == Opcode::mov || form.opcode == Opcode::isspacep) return 2;
  if (form.family == Family::Float || form.family == Family::Half) return 2;
  return 1;
}

Flavour flavour_of(const Form& form, const OperandSpec& spec, bool special) {
  if (special && (form.family == Family::Float || form.family == Family::Half)) return Flavour::Special;
  if (form.family == Family::Mma) return Flavour::Moderate;
  switch (form.opcode) {
    case Opcode::shfl:
    case Opcode::shfl_sync:
      return spec.name == "b" ? Flavour::Lane : Flavour::Any;
    case Opcode::shl:
    case Opcode::shr:
    case Opcode::shf:
    case Opcode::szext:
    case Opcode::bmsk:
    case Opcode::bfe:
    case Opcode::bfi:
    case Opcode::vshl:
    case Opcode::vshr:
      return spec.type == OperandSpec::Type::Fixed ? Flavour::Amount : Flavour::Any;
    default:
      return Flavour::Any;
  }
}

/// Two of four (or one of two) positions per group, as mma.sp wants its metadata.
uint64_t make_metadata(Random& random) {
  constexpr uint32_t kPairs[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
  uint64_t value = 0;
  for (int i = 0; i < 8; ++i) value |= uint64_t{kPairs[random.below(6)]} << (4 * i);
  return value;
}
uint64_t make_metadata_tf32(Random& random) {
  uint64_t value = 0;
  for (int i = 0; i < 8; ++i) value |= uint64_t{random.below(2) != 0 ? 0x4u : 0xeu} << (4 * i);
  return value;
}
uint64_t make_position(Random& random) {
  return random.below(32);
}
uint64_t make_offset(Random& random) {
  return static_cast<uint32_t>(static_cast<int32_t>(random.below(67)) - 33);
}
uint64_t make_clamp(Random& random) {
  return random.below(32) | (random.below(4) == 0 ? random.below(32) << 8 : 0);
}
uint64_t make_carry(Random& random) {
  return random.below(2);
}

/// ".b2" and the like, for video operands.
std::string selector(const Form& form, const OperandSpec& spec, uint32_t choice) {
  const std::string_view op = ptx::spelling(form.opcode);
  const bool two = op.ends_with('2'), four = op.ends_with('4');
  if (two) {
    if (spec.is_written) {
      constexpr const char* kMasks[] = {"", ".h0", ".h1", ".h10"};
      return kMasks[choice % 4];
    }
    constexpr const char* kPairs[] = {"", ".h01", ".h32", ".h13", ".h20", ".h30"};
    return kPairs[choice % 6];
  }
  if (four) {
    if (spec.is_written) {
      constexpr const char* kMasks[] = {"", ".b0", ".b31", ".b210", ".b3210", ".b2"};
      return kMasks[choice % 6];
    }
    constexpr const char* kBytes[] = {"", ".b0123", ".b7654", ".b5140", ".b3333", ".b6420"};
    return kBytes[choice % 6];
  }
  constexpr const char* kOne[] = {".b0", ".h1", ".b3", ".h0", ".b1", ".b2"};
  if (spec.is_written) return kOne[choice % 6];
  return choice % 3 == 0 ? "" : kOne[(choice / 2) % 6];
}

/// One register operand: declares, loads or stores it, and returns its text.
std::string register_operand(KernelText& k, const Form& form, const Mods& mods, const OperandSpec& spec,
                             uint32_t choice, bool special) {
  const ScalarType type = ptx::operand_type(spec, mods);
  const ptx::OperandCount count = ptx::operand_count(form, spec, mods);
  const bool fragment = spec.type == OperandSpec::Type::Fragment;
  const ScalarType element = fragment ? mods.type(spec.type_index) : type;
  uint32_t bits = type == ScalarType::pred ? 1 : std::max(16u, ptx::size_of(type) * 8);
  if (spec.may_be_wider && bits < 64 && choice % 2 == 1) bits *= 2;

  std::string text;
  for (uint32_t i = 0; i < count.count; ++i) {
    std::string reg;
    if (spec.is_read && !spec.is_written) {
      if (form.opcode == Opcode::fns && spec.name == "base") {
        reg = k.input_made(32, make_position);
      } else if (form.opcode == Opcode::fns && spec.name == "offset") {
        reg = k.input_made(32, make_offset);
      } else if ((form.opcode == Opcode::shfl_sync || form.opcode == Opcode::shfl) && spec.name == "c") {
        reg = k.input_made(32, make_clamp);
      } else if (form.family == Family::Mma && spec.name == "e") {
        reg = k.input_made(32, mods.type(1) == ScalarType::tf32 ? make_metadata_tf32 : make_metadata);
      } else if (fragment && ptx::bits_of(element) < 32) {
        reg = k.packed_input(element, 32);
      } else {
        reg = k.input(type, flavour_of(form, spec, special), bits);
      }
    } else {
      reg = k.declare(bits);
      k.output(reg, bits, fragment ? element : type);
    }
    text += (i == 0 ? "" : ", ") + reg;
  }
  return count.braces ? "{" + text + "}" : text;
}

std::string constant_operand(const Form& form, const Mods& mods, const OperandSpec& spec, uint32_t choice) {
  if (spec.name == "immLut") {
    constexpr uint32_t kTables[] = {0x96, 0x80, 0xfe, 0xca, 0xea, 0x6a, 0xe8, 0x1b, 0x2d, 0x00, 0xff, 0x74};
    return std::to_string(kTables[choice % 12]);
  }
  if (form.family == Family::Mma && spec.name == "f") {
    // Which threads hold the metadata: larger shapes use all of them.
    const uint32_t bits = ptx::bits_of(mods.type(1)) * mods.shape.k;
    return bits >= 512 ? "0" : std::to_string(choice % 2);
  }
  return "0";
}

/// The whole case of a row that works on registers.
void write_register_case(KernelText& k, const Form& form, const Mods& mods, uint32_t choice, bool special) {
  const bool carry = form.family == Family::Carry;
  const bool subtract = form.opcode == Opcode::sub || form.opcode == Opcode::subc;
  std::vector<std::string> operands;
  for (const OperandSpec& spec : form.operands) {
    if (spec.is_optional && choice % 2 == 0) continue;
    if (spec.has_condition && !mods.has(spec.condition)) continue;
    std::string text;
    const bool barrier = form.opcode == Opcode::bar_red || form.opcode == Opcode::barrier_red;
    if (barrier && spec.name == "a" && !spec.is_written) {
      text = "1";
    } else if (barrier && spec.name == "b") {
      text = std::to_string(kThreads);
    } else if (spec.name == "membermask") {
      text = "-1";
    } else if (spec.type == OperandSpec::Type::Constant) {
      text = constant_operand(form, mods, spec, choice);
    } else if (spec.type == OperandSpec::Type::SinkOnly) {
      text = "_";
    } else if (form.opcode == Opcode::mov && spec.count == OperandSpec::Count::Pack) {
      // Parts that together are as wide as the other operand.
      const uint32_t whole = ptx::size_of(mods.type()) * 8;
      const uint32_t parts = whole == 64 && choice % 2 == 1 ? 4 : 2;
      for (uint32_t i = 0; i < parts; ++i) {
        std::string reg;
        if (spec.is_written) {
          reg = k.declare(whole / parts);
          k.output(reg, whole / parts, ScalarType::none);
        } else {
          const uint32_t each = whole / parts;
          const ScalarType type = each == 64   ? ScalarType::b64
                                  : each == 32 ? ScalarType::b32
                                  : each == 16 ? ScalarType::b16
                                               : ScalarType::b8;
          reg = k.input(type, Flavour::Any, each);
        }
        text += (i == 0 ? "{" : ", ") + reg;
      }
      text += "}";
    } else {
      text = register_operand(k, form, mods, spec, choice, special);
      if (spec.may_select) text += selector(form, spec, choice + static_cast<uint32_t>(operands.size()));
      if (spec.may_not && choice % 3 == 1) text = "!" + text;
      if (spec.may_minus && choice % 4 == 1 + operands.size()) text = "-" + text;
    }
    if (spec.has_pair && (!spec.pair_optional || choice % 2 == 0)) {
      const std::string pair = k.declare(1);
      k.output(pair, 1, ScalarType::pred);
      text += "|" + pair;
    }
    operands.push_back(std::move(text));
  }
  if (carry) {
    // The flag comes from an input and goes to an output.
    const std::string flag = k.input_made(32, make_carry), unused = k.declare(32);
    if (subtract) {
      k.line("sub.cc.u32 " + unused + ", 0, " + flag + ";");
    } else {
      k.line("add.cc.u32 " + unused + ", " + flag + ", -1;");
    }
  }
  std::string text = instruction_text(form, mods);
  for (size_t i = 0; i < operands.size(); ++i) text += (i == 0 ? " " : ", ") + operands[i];
  k.line(text + ";");
  if (carry) {
    const std::string out = k.declare(32);
    k.line((subtract ? "subc.u32 " : "addc.u32 ") + out + ", 0, 0;");
    k.output(out, 32, ScalarType::u32);
  }
}

}  // namespace

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  std::set<std::string> names;
  for (const Form& form : ptx::forms()) {
    if (!form.in_scope()) continue;
    const bool registers = works_on_registers(form);
    if (!registers && !has_special_case(form)) continue;
    for (const Mods& mods : ptx::variants(form, variant_limit(form))) {
      for (uint32_t r = 0; r < repetitions(form); ++r) {
        Case c;
        c.form = static_cast<uint16_t>(form.id);
        c.mods = mods;
        c.old = ptx::requirement(form, mods).removed_ptx != 0;
        const std::string text = std::string(form.name) + " " + instruction_text(form, mods);
        c.name = text + " " + std::to_string(r);
        if (!names.insert(c.name).second) continue;
        // What else is chosen follows from the text, so that a change of the table leaves the other cases
        // alone.
        const auto choice = static_cast<uint32_t>(hash_of(text) % 5040) + r;
        c.entry = "k_" + std::string(form.name) + "_" + std::to_string(hash_of(c.name) % 1'000'000'007);
        KernelText k;
        const bool written = registers ? (write_register_case(k, form, mods, choice, r == 1), true)
                                       : write_special_case(k, form, mods, choice, r);
        if (!written) continue;
        k.finish(c);
        cases.push_back(std::move(c));
      }
    }
  }
  return cases;
}

std::vector<std::vector<const Case*>> modules_of(const std::vector<const Case*>& cases) {
  constexpr size_t kMost = 100;
  std::vector<std::vector<const Case*>> modules;
  for (const Case* c : cases) {
    if (modules.empty() || modules.back().size() == kMost || modules.back().front()->old != c->old)
      modules.emplace_back();
    modules.back().push_back(c);
  }
  return modules;
}

std::string module_text(const std::vector<const Case*>& cases) {
  const bool old = !cases.empty() && cases.front()->old;
  std::string text = old ? ".version 6.3\n.target sm_70\n" : ".version 9.0\n.target sm_90a\n";
  text += ".address_size 64\n\n";
  text += ".const .align 16 .b8 c_cells[4096] = {";
  for (int i = 0; i < 4096; ++i) text += (i == 0 ? "" : ",") + std::to_string((i * 37 + i / 7 + 11) & 0xff);
  text += "};\n\n";
  for (const Case* c : cases) text += "// case " + c->name + "\n" + c->kernel + "\n";
  return text;
}

std::vector<uint8_t> blob() {
  std::vector<uint8_t> bytes(kBlobBytes);
  for (uint32_t i = 0; i < kBlobBytes; ++i) bytes[i] = static_cast<uint8_t>(i * 29 + 3);
  return bytes;
}

uint64_t fingerprint(const Case& c) {
  const uint64_t seed = hash_of(c.kernel);
  return hash_of({reinterpret_cast<const char*>(c.inputs.data()), c.inputs.size()}, seed);
}

}  // namespace sluice::parity
