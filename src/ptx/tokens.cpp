// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Look-up by spelling. Hash tables are built once from the .def files.
#include "ptx/tokens.hpp"

#include <charconv>
#include <unordered_map>

#include "base/lifetime.hpp"

namespace sluice::ptx {
namespace {

std::unordered_map<std::string_view, Mod> build_mods() {
  std::unordered_map<std::string_view, Mod> map;
  for (uint16_t i = 0; i < kModCount; ++i) {
    const Mod mod = static_cast<Mod>(i);
    if (mod != Mod::shape && mod != Mod::other) map.emplace(spelling(mod), mod);
  }
  return map;
}

std::unordered_map<std::string_view, Opcode> build_opcodes() {
  return {
#define OPCODE(name, text) {text, Opcode::name},
#define OPCODE_ALIAS(name, text) {text, Opcode::name},
#include "ptx/opcodes.def"
#undef OPCODE
#undef OPCODE_ALIAS
  };
}

std::unordered_map<std::string_view, SpecialReg> build_specials() {
  return {
#define SPECIAL(name, text, type, vector) {text, SpecialReg::name},
#include "ptx/specials.def"
#undef SPECIAL
  };
}

/// Reads digits at `text`, removes them, returns false where there are none or too many.
bool take_number(std::string_view& text, uint16_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

}  // namespace

std::optional<Mod> find_mod(std::string_view text) {
  static const auto& map = immortal(build_mods());
  const auto found = map.find(text);
  return found == map.end() ? std::nullopt : std::optional<Mod>(found->second);
}

std::optional<Shape> find_shape(std::string_view text) {
  Shape shape;
  if (text.size() < 4 || text[0] != 'm') return std::nullopt;
  text.remove_prefix(1);
  if (!take_number(text, shape.m) || text.empty() || text[0] != 'n') return std::nullopt;
  text.remove_prefix(1);
  if (!take_number(text, shape.n)) return std::nullopt;
  if (text.empty()) return shape;
  if (text[0] != 'k') return std::nullopt;
  text.remove_prefix(1);
  if (!take_number(text, shape.k) || !text.empty()) return std::nullopt;
  return shape;
}

std::optional<SpecialName> find_special(std::string_view text) {
  static const auto& map = immortal(build_specials());
  if (const auto found = map.find(text); found != map.end()) {
    if (found->second == SpecialReg::pm || found->second == SpecialReg::pm_64 ||
        found->second == SpecialReg::envreg)
      return std::nullopt;
    return SpecialName{found->second, 0};
  }
  // The numbered families: envreg0..31, pm0..7, pm0_64..pm7_64.
  uint16_t number = 0;
  if (text.starts_with("envreg")) {
    text.remove_prefix(6);
    if (take_number(text, number) && text.empty() && number < 32)
      return SpecialName{SpecialReg::envreg, number};
  } else if (text.starts_with("pm")) {
    text.remove_prefix(2);
    if (!take_number(text, number) || number > 7) return std::nullopt;
    if (text.empty()) return SpecialName{SpecialReg::pm, number};
    if (text == "_64") return SpecialName{SpecialReg::pm_64, number};
  }
  return std::nullopt;
}

std::optional<Opcode> find_opcode(std::string_view text) {
  static const auto& map = immortal(build_opcodes());
  const auto found = map.find(text);
  return found == map.end() ? std::nullopt : std::optional<Opcode>(found->second);
}

std::optional<OpcodePrefix> find_opcode_prefix(std::string_view text) {
  // The longest spelling has six words; shorten from there.
  size_t end = 0;
  size_t ends[6];
  size_t count = 0;
  while (count < 6) {
    const size_t dot = text.find('.', end);
    ends[count++] = dot == std::string_view::npos ? text.size() : dot;
    if (dot == std::string_view::npos) break;
    end = dot + 1;
  }
  while (count-- > 0)
    if (const auto opcode = find_opcode(text.substr(0, ends[count])))
      return OpcodePrefix{*opcode, ends[count]};
  return std::nullopt;
}

}  // namespace sluice::ptx
