// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Spellings and properties of the vocabularies in types.hpp.
#include "ptx/types.hpp"

#include "ptx/ast.hpp"

#include <array>

namespace sluice::ptx {
namespace {

struct TypeFacts {
  ScalarType type;
  std::string_view text;
  uint16_t bits;
  char kind;  // u, s: integers; b: bits; f: floating point; p: predicate; '-': opaque
};

constexpr TypeFacts kTypes[] = {
    {ScalarType::none, "none", 0, '-'},
    {ScalarType::u8, "u8", 8, 'u'},
    {ScalarType::u16, "u16", 16, 'u'},
    {ScalarType::u32, "u32", 32, 'u'},
    {ScalarType::u64, "u64", 64, 'u'},
    {ScalarType::s8, "s8", 8, 's'},
    {ScalarType::s16, "s16", 16, 's'},
    {ScalarType::s32, "s32", 32, 's'},
    {ScalarType::s64, "s64", 64, 's'},
    {ScalarType::b8, "b8", 8, 'b'},
    {ScalarType::b16, "b16", 16, 'b'},
    {ScalarType::b32, "b32", 32, 'b'},
    {ScalarType::b64, "b64", 64, 'b'},
    {ScalarType::b128, "b128", 128, 'b'},
    {ScalarType::f16, "f16", 16, 'f'},
    {ScalarType::f16x2, "f16x2", 32, 'f'},
    {ScalarType::bf16, "bf16", 16, 'f'},
    {ScalarType::bf16x2, "bf16x2", 32, 'f'},
    {ScalarType::f32, "f32", 32, 'f'},
    {ScalarType::f32x2, "f32x2", 64, 'f'},
    {ScalarType::f64, "f64", 64, 'f'},
    {ScalarType::pred, "pred", 1, 'p'},
    {ScalarType::texref, "texref", 64, '-'},
    {ScalarType::samplerref, "samplerref", 64, '-'},
    {ScalarType::surfref, "surfref", 64, '-'},
    {ScalarType::tf32, "tf32", 32, 'f'},
    {ScalarType::u16x2, "u16x2", 32, 'u'},
    {ScalarType::s16x2, "s16x2", 32, 's'},
    {ScalarType::u8x4, "u8x4", 32, 'u'},
    {ScalarType::s8x4, "s8x4", 32, 's'},
    {ScalarType::e4m3, "e4m3", 8, 'f'},
    {ScalarType::e5m2, "e5m2", 8, 'f'},
    {ScalarType::e4m3x2, "e4m3x2", 16, 'f'},
    {ScalarType::e5m2x2, "e5m2x2", 16, 'f'},
    {ScalarType::e4m3x4, "e4m3x4", 32, 'f'},
    {ScalarType::e5m2x4, "e5m2x4", 32, 'f'},
    {ScalarType::e3m2, "e3m2", 6, 'f'},
    {ScalarType::e2m3, "e2m3", 6, 'f'},
    {ScalarType::e2m1, "e2m1", 4, 'f'},
    {ScalarType::e3m2x2, "e3m2x2", 16, 'f'},
    {ScalarType::e2m3x2, "e2m3x2", 16, 'f'},
    {ScalarType::e2m1x2, "e2m1x2", 8, 'f'},
    {ScalarType::e3m2x4, "e3m2x4", 32, 'f'},
    {ScalarType::e2m3x4, "e2m3x4", 32, 'f'},
    {ScalarType::e2m1x4, "e2m1x4", 16, 'f'},
    {ScalarType::ue8m0, "ue8m0", 8, 'f'},
    {ScalarType::ue8m0x2, "ue8m0x2", 16, 'f'},
    {ScalarType::ue4m3, "ue4m3", 8, 'f'},
    {ScalarType::s2f6x2, "s2f6x2", 16, 'f'},
    {ScalarType::s4, "s4", 4, 's'},
    {ScalarType::u4, "u4", 4, 'u'},
    {ScalarType::s2, "s2", 2, 's'},
    {ScalarType::u2, "u2", 2, 'u'},
    {ScalarType::b1, "b1", 1, 'b'},
    {ScalarType::b1024, "b1024", 1024, 'b'},
    {ScalarType::b8x16, "b8x16", 128, 'b'},
    {ScalarType::b6x16_p32, "b6x16_p32", 128, 'b'},
    {ScalarType::b4x16_p64, "b4x16_p64", 128, 'b'},
    {ScalarType::b4x16, "b4x16", 64, 'b'},
};

constexpr bool in_enum_order() {
  for (size_t i = 0; i < std::size(kTypes); ++i)
    if (kTypes[i].type != static_cast<ScalarType>(i)) return false;
  return kTypes[std::size(kTypes) - 1].type == ScalarType::b4x16;
}
static_assert(in_enum_order(), "kTypes must list every ScalarType in the order of the enumeration");

const TypeFacts& facts(ScalarType type) {
  return kTypes[static_cast<size_t>(type)];
}

constexpr std::string_view kSpaces[] = {"generic",     "reg",    "sreg",        "const",
                                        "global",      "local",  "param",       "param::entry",
                                        "param::func", "shared", "shared::cta", "shared::cluster"};

constexpr std::string_view kOpcodes[] = {
#define OPCODE(name, text) text,
#define OPCODE_ALIAS(name, text)
#include "ptx/opcodes.def"
#undef OPCODE
#undef OPCODE_ALIAS
};

struct ModFacts {
  std::string_view text;
  ScalarType type;
  Space space;
};
constexpr ModFacts kMods[] = {
#define MOD(name, text) {text, ScalarType::none, Space::none},
#define MOD_TYPE(name, text, scalar) {text, ScalarType::scalar, Space::none},
#define MOD_SPACE(name, text, space) {text, ScalarType::none, Space::space},
#include "ptx/modifiers.def"
#undef MOD
#undef MOD_TYPE
#undef MOD_SPACE
};

struct SpecialFacts {
  std::string_view text;
  ScalarType type;
  bool vector;
};
constexpr SpecialFacts kSpecials[] = {
#define SPECIAL(name, text, type, vector) {"%" text, ScalarType::type, vector},
#include "ptx/specials.def"
#undef SPECIAL
};

}  // namespace

uint32_t bits_of(ScalarType type) {
  return facts(type).kind == '-' ? 0 : facts(type).bits;
}

uint32_t size_of(ScalarType type) {
  return (facts(type).bits + 7u) / 8u;
}

bool is_signed(ScalarType type) {
  return facts(type).kind == 's' && type != ScalarType::s16x2 && type != ScalarType::s8x4;
}

bool is_integer(ScalarType type) {
  return facts(type).kind == 's' || facts(type).kind == 'u';
}

bool is_bits(ScalarType type) {
  return facts(type).kind == 'b';
}

bool is_float(ScalarType type) {
  return facts(type).kind == 'f';
}

std::string_view spelling(ScalarType type) {
  return facts(type).text;
}

std::string_view spelling(Space space) {
  return kSpaces[static_cast<size_t>(space)];
}

std::string_view spelling(Opcode opcode) {
  return kOpcodes[static_cast<size_t>(opcode)];
}

std::string_view spelling(Mod mod) {
  return kMods[static_cast<size_t>(mod)].text;
}

ScalarType scalar_type(Mod mod) {
  return kMods[static_cast<size_t>(mod)].type;
}

Space state_space(Mod mod) {
  return kMods[static_cast<size_t>(mod)].space;
}

std::string_view spelling(SpecialReg reg) {
  return kSpecials[static_cast<size_t>(reg)].text;
}

ScalarType scalar_type(SpecialReg reg) {
  return kSpecials[static_cast<size_t>(reg)].type;
}

bool is_vector(SpecialReg reg) {
  return kSpecials[static_cast<size_t>(reg)].vector;
}

ScalarType Mods::type(unsigned i) const {
  for (Mod mod : all()) {
    const ScalarType type = scalar_type(mod);
    if (type != ScalarType::none && i-- == 0) return type;
  }
  return ScalarType::none;
}

Space Mods::space(unsigned i) const {
  for (Mod mod : all()) {
    const Space space = state_space(mod);
    if (space != Space::none && i-- == 0) return space;
  }
  return Space::none;
}

unsigned Mods::type_count() const {
  unsigned n = 0;
  for (Mod mod : all()) n += scalar_type(mod) != ScalarType::none;
  return n;
}

}  // namespace sluice::ptx
