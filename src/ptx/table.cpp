// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Compiles instructions.def into Form objects, once, on first use. A mistake in the table ends the program
// with the row's name; a unit test touches every row, so it cannot leave the house.
#include "ptx/table.hpp"

#include "ptx/tokens.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "base/lifetime.hpp"

namespace sluice::ptx {
namespace {

struct Row {
  FormId id;
  Opcode opcode;
  std::string_view name, mods, operands;
  uint16_t ptx;
  std::string_view sm;
  Family family;
  Exactness exactness;
  std::string_view section;
};

constexpr Row kRows[] = {
#define ROW(id, opcode, mods, operands, ptx, sm, family, exactness, section) \
  {FormId::id, Opcode::opcode, #id, mods, operands, ptx, sm, Family::family, Exactness::exactness, section},
#include "ptx/instructions.def"
#undef ROW
};

constexpr std::pair<std::string_view, std::string_view> kClasses[] = {
#define CLASS(name, text) {name, text},
#include "ptx/classes.def"
#undef CLASS
};

[[noreturn]] void bad_row(std::string_view row, std::string_view what, std::string_view text) {
  std::fprintf(stderr, "internal error: instruction table, row %.*s: %.*s '%.*s'\n", int(row.size()),
               row.data(), int(what.size()), what.data(), int(text.size()), text.data());
  std::abort();
}

/// Calls `each` with every part of `text` between `separator`s, empty parts left out.
template <class Each>
void split(std::string_view text, char separator, Each each) {
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    std::string_view part = text.substr(0, end);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    if (!part.empty()) each(part);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

uint16_t number_in(std::string_view row, std::string_view text) {
  uint32_t value = 0;
  if (text.empty()) bad_row(row, "number expected in", text);
  for (char c : text) {
    if (c < '0' || c > '9' || value > 6000) bad_row(row, "bad number", text);
    value = value * 10 + uint32_t(c - '0');
  }
  return uint16_t(value);
}

/// `m64n*k16` and `m64n+k32`.
bool parse_shape_family(std::string_view row, std::string_view text, ModAlternative& out) {
  const size_t star = text.find_first_of("*+");
  if (!text.starts_with('m') || star == std::string_view::npos) return false;
  out.first = Mod::shape;
  out.shape.m = number_in(row, text.substr(1, star - 2));
  out.shape.k = number_in(row, text.substr(star + 2));
  out.n_mask = 0xffffffffu;
  if (text[star] == '+') {
    out.n_mask = 0;
    for (uint32_t n = 8; n <= 256; n += 8)
      if (n <= 24 || n % 16 == 0) out.n_mask |= 1u << (n / 8 - 1);
  }
  return true;
}

void add_alternatives(std::string_view row, std::string_view text, ModSlot& slot) {
  split(text, '|', [&](std::string_view part) {
    if (part[0] == '$') {
      for (const auto& [name, list] : kClasses)
        if (name == part.substr(1)) return add_alternatives(row, list, slot);
      bad_row(row, "unknown class", part);
    }
    ModAlternative alternative;
    if (parse_shape_family(row, part, alternative)) {
      slot.alternatives.push_back(alternative);
      return;
    }
    if (const auto shape = find_shape(part)) {
      alternative.first = Mod::shape;
      alternative.shape = *shape;
      slot.alternatives.push_back(alternative);
      return;
    }
    const size_t dot = part.find('.');
    const auto first = find_mod(part.substr(0, dot));
    if (!first) bad_row(row, "unknown modifier", part);
    alternative.first = *first;
    if (dot != std::string_view::npos) {
      const auto second = find_mod(part.substr(dot + 1));
      if (!second) bad_row(row, "unknown modifier", part);
      alternative.second = *second;
      alternative.is_pair = true;
    }
    slot.alternatives.push_back(alternative);
  });
}

void compile_mods(const Row& row, Form& form) {
  if (row.mods == "*") {
    form.takes_anything = true;
    return;
  }
  split(row.mods, ' ', [&](std::string_view text) {
    ModSlot slot;
    if (text.ends_with('?')) {
      slot.is_optional = true;
      text.remove_suffix(1);
    }
    add_alternatives(row.name, text, slot);
    slot.is_type = true;
    for (const ModAlternative& alternative : slot.alternatives)
      slot.is_type &= scalar_type(alternative.first) != ScalarType::none && !alternative.is_pair;
    form.slots.push_back(std::move(slot));
  });
}

constexpr std::pair<std::string_view, OperandSpec::Count> kCounts[] = {
    {"vec", OperandSpec::Count::Vec},       {"num", OperandSpec::Count::Num},
    {"num2", OperandSpec::Count::Num2},     {"fd", OperandSpec::Count::FragmentD},
    {"fa", OperandSpec::Count::FragmentA},  {"fb", OperandSpec::Count::FragmentB},
    {"fc", OperandSpec::Count::FragmentC},  {"wmma", OperandSpec::Count::WmmaFromFrag},
    {"wmma_a", OperandSpec::Count::WmmaA},  {"wmma_b", OperandSpec::Count::WmmaB},
    {"wmma_c", OperandSpec::Count::WmmaC},  {"wmma_d", OperandSpec::Count::WmmaD},
    {"im2col", OperandSpec::Count::Im2col}, {"pack", OperandSpec::Count::Pack},
};

constexpr std::pair<std::string_view, OperandSpec::Type> kKinds[] = {
    {"addr", OperandSpec::Type::AnyInt},   {"#", OperandSpec::Type::Constant},
    {"[]", OperandSpec::Type::Address},    {"[map]", OperandSpec::Type::TensorAddress},
    {"label", OperandSpec::Type::Label},   {"table", OperandSpec::Type::Table},
    {"callee", OperandSpec::Type::Callee}, {"proto", OperandSpec::Type::Prototype},
    {"()", OperandSpec::Type::List},       {"_", OperandSpec::Type::SinkOnly},
};

void compile_type(const Row& row, std::string_view text, OperandSpec& spec) {
  for (const auto& [name, type] : kKinds)
    if (text == name) {
      spec.type = type;
      return;
    }
  if (text.size() == 2 && text[1] >= '0' && text[1] <= '9' &&
      (text[0] == 't' || text[0] == 'w' || text[0] == 'r')) {
    spec.type_index = uint8_t(text[1] - '0');
    spec.type = text[0] == 't'   ? OperandSpec::Type::TypeMod
                : text[0] == 'w' ? OperandSpec::Type::Wide
                                 : OperandSpec::Type::Fragment;
    return;
  }
  const auto mod = find_mod(text);
  if (!mod || scalar_type(*mod) == ScalarType::none) bad_row(row.name, "unknown operand type", text);
  spec.type = OperandSpec::Type::Fixed;
  spec.fixed = scalar_type(*mod);
}

void compile_operand(const Row& row, std::string_view text, Form& form) {
  OperandSpec spec;
  const size_t colon = text.find_first_of(":=");
  if (colon == std::string_view::npos) bad_row(row.name, "operand without a name", text);
  spec.name = text.substr(0, colon);
  spec.is_written = text[colon] == '=';
  spec.is_read = !spec.is_written;
  text.remove_prefix(colon + 1);

  // Prefixes.
  bool more = true;
  while (more && !text.empty()) {
    switch (text[0]) {
      case '+':
        spec.is_read = true;
        break;
      case '~':
        spec.may_sink = true;
        break;
      case '<':
      case '>':
        spec.may_be_wider = true;
        break;
      case '!':
        spec.may_not = true;
        break;
      case '-':
        spec.may_minus = true;
        break;
      case '@':
        spec.may_select = true;
        break;
      case '*':
        spec.any_source = spec.or_variable = true;
        break;
      case '&':
        spec.or_variable = true;
        break;
      default:
        more = false;
        continue;
    }
    text.remove_prefix(1);
  }
  if (text.starts_with('{')) {
    const size_t end = text.find('}');
    const std::string_view count = text.substr(1, end - 1);
    spec.count = OperandSpec::Count::Exactly;
    for (const auto& [name, value] : kCounts)
      if (name == count) spec.count = value;
    if (spec.count == OperandSpec::Count::Exactly) spec.exact_count = uint8_t(number_in(row.name, count));
    text.remove_prefix(end + 1);
    while (text.starts_with('<') || text.starts_with('>')) {
      spec.may_be_wider = true;
      text.remove_prefix(1);
    }
  }

  // Suffixes.
  if (const size_t at = text.find('@'); at != std::string_view::npos) {
    const auto condition = find_mod(text.substr(at + 1));
    if (!condition) bad_row(row.name, "unknown condition", text);
    spec.has_condition = true;
    spec.condition = *condition;
    text = text.substr(0, at);
  }
  if (const size_t bar = text.find('|'); bar != std::string_view::npos) {
    spec.has_pair = true;
    spec.pair_optional = text.ends_with('?');
    text = text.substr(0, bar);
  }
  if (text.ends_with('?')) {
    spec.is_optional = true;
    text.remove_suffix(1);
  }
  if (spec.count == OperandSpec::Count::Pack) {
    spec.type = OperandSpec::Type::TypeMod;
  } else {
    compile_type(row, text, spec);
  }
  form.operands.push_back(spec);
}

Form compile(const Row& row) {
  Form form;
  form.id = row.id;
  form.opcode = row.opcode;
  form.name = row.name;
  form.mods_pattern = row.mods;
  form.operands_pattern = row.operands;
  form.ptx = row.ptx;
  form.family = row.family;
  form.exactness = row.exactness;
  form.section = row.section;
  std::string_view sm = row.sm;
  if (!sm.empty() && (sm.back() == 'a' || sm.back() == 'f')) {
    form.sm.suffix = sm.back();
    sm.remove_suffix(1);
  }
  form.sm.number = number_in(row.name, sm);
  compile_mods(row, form);
  if (row.operands != "*")
    split(row.operands, ',', [&](std::string_view text) { compile_operand(row, text, form); });
  return form;
}

struct Table {
  std::vector<Form> forms;
  std::array<std::vector<uint16_t>, kOpcodeCount> by_opcode;

  Table() {
    forms.reserve(kFormCount);
    for (const Row& row : kRows) {
      forms.push_back(compile(row));
      by_opcode[static_cast<size_t>(row.opcode)].push_back(static_cast<uint16_t>(row.id));
    }
  }
};

const Table& table() {
  static const Table& instance = immortal(Table());
  return instance;
}

bool accepts(const ModAlternative& alternative, Mod mod, const Shape& shape) {
  if (alternative.first != mod) return false;
  if (mod != Mod::shape) return true;
  if (alternative.n_mask == 0) return alternative.shape == shape;
  return alternative.shape.m == shape.m && alternative.shape.k == shape.k && shape.n % 8 == 0 &&
         shape.n >= 8 && shape.n <= 256 && ((alternative.n_mask >> (shape.n / 8 - 1)) & 1u);
}

/// Matches slots [slot, ..) against tokens [token, ..) in the order given.
bool match_in_order(const Form& form, const Mods& mods, size_t slot, size_t token) {
  if (slot == form.slots.size()) return token == mods.count;
  const ModSlot& s = form.slots[slot];
  if (token < mods.count) {
    for (const ModAlternative& alternative : s.alternatives) {
      if (!accepts(alternative, mods.list[token], mods.shape)) continue;
      size_t next = token + 1;
      if (alternative.is_pair) {
        if (next >= mods.count || mods.list[next] != alternative.second) continue;
        ++next;
      }
      if (match_in_order(form, mods, slot + 1, next)) return true;
    }
  }
  return s.is_optional && match_in_order(form, mods, slot + 1, token);
}

bool append(Mods& mods, Mod mod) {
  if (mods.count == Mods::kCapacity) return false;
  mods.list[mods.count++] = mod;
  return true;
}

/// Matches in any order: type modifiers keep their relative order, every other token goes to the first slot
/// that takes it.
bool match_any_order(const Form& form, const Mods& mods, Mods& ordered) {
  uint32_t used = 0;
  ordered = Mods{};
  ordered.shape = mods.shape;
  const auto take = [&](Mod mod) {
    for (uint8_t i = 0; i < mods.count; ++i)
      if (!((used >> i) & 1u) && mods.list[i] == mod) {
        used |= 1u << i;
        return append(ordered, mod);
      }
    return false;
  };
  for (const ModSlot& slot : form.slots) {
    bool found = false;
    if (slot.is_type) {
      for (uint8_t i = 0; i < mods.count && !found; ++i) {
        if (((used >> i) & 1u) || scalar_type(mods.list[i]) == ScalarType::none) continue;
        for (const ModAlternative& alternative : slot.alternatives)
          if (alternative.first == mods.list[i]) found = true;
        if (found) {
          used |= 1u << i;
          append(ordered, mods.list[i]);
        }
        break;  // only the next type token may go here
      }
    } else {
      for (uint8_t i = 0; i < mods.count && !found; ++i) {
        if ((used >> i) & 1u) continue;
        for (const ModAlternative& alternative : slot.alternatives) {
          if (!accepts(alternative, mods.list[i], mods.shape)) continue;
          if (alternative.is_pair && !mods.has(alternative.second)) continue;
          used |= 1u << i;
          append(ordered, mods.list[i]);
          found = !alternative.is_pair || take(alternative.second);
          break;
        }
      }
    }
    if (!found && !slot.is_optional) return false;
  }
  return used == (1u << mods.count) - 1u;
}

}  // namespace

bool Form::in_scope() const {
  if (family == Family::Texture || family == Family::Blackwell) return false;
  return sm.suffix == 0 ? sm.number <= 90 : sm.number == 90;
}

std::span<const Form> forms() {
  return table().forms;
}

const Form& form(uint16_t id) {
  return table().forms[id];
}

std::span<const uint16_t> forms_of(Opcode opcode) {
  return table().by_opcode[static_cast<size_t>(opcode)];
}

bool match_mods(const Form& form, const Mods& mods, Mods& ordered) {
  if (form.takes_anything || match_in_order(form, mods, 0, 0)) {
    ordered = mods;
    return true;
  }
  return match_any_order(form, mods, ordered);
}

std::string_view spelling(Family family) {
  static constexpr std::string_view kNames[] = {
      "integer",  "carry", "float",  "half",     "compare",    "logic",       "move",    "convert",
      "memory",   "cache", "atomic", "multimem", "async copy", "tensor copy", "barrier", "fence",
      "mbarrier", "warp",  "wgmma",  "mma",      "control",    "video",       "texture", "sm_100"};
  return kNames[static_cast<size_t>(family)];
}

std::string_view spelling(Exactness exactness) {
  static constexpr std::string_view kNames[] = {"exact", "bounded", "implementation", "no data"};
  return kNames[static_cast<size_t>(exactness)];
}

}  // namespace sluice::ptx
