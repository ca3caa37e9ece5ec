// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The closed vocabularies of PTX: scalar types, state spaces, mnemonics, modifier tokens, special registers.
// Each is an enumeration generated from a .def file of this folder, with its spelling.
#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::ptx {

/// Types of registers and variables (the first group) and types that occur only as instruction modifiers.
enum class ScalarType : uint8_t {
  none,
  // Types of registers and variables. f16x2, bf16x2 and f32x2 registers are written .b32 / .b64.
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  b8,
  b16,
  b32,
  b64,
  b128,
  f16,
  f16x2,
  bf16,
  bf16x2,
  f32,
  f32x2,
  f64,
  pred,
  // Opaque handles of variables and parameters.
  texref,
  samplerref,
  surfref,
  // Modifiers only.
  tf32,
  u16x2,
  s16x2,
  u8x4,
  s8x4,
  e4m3,
  e5m2,
  e4m3x2,
  e5m2x2,
  e4m3x4,
  e5m2x4,
  e3m2,
  e2m3,
  e2m1,
  e3m2x2,
  e2m3x2,
  e2m1x2,
  e3m2x4,
  e2m3x4,
  e2m1x4,
  ue8m0,
  ue8m0x2,
  ue4m3,
  s2f6x2,
  s4,
  u4,
  s2,
  u2,
  b1,
  b1024,
  b8x16,
  b6x16_p32,
  b4x16_p64,
  b4x16,
};

/// Size in bytes of one value; types narrower than a byte count 1, `pred` counts 1, `none` 0.
[[nodiscard]] uint32_t size_of(ScalarType type);
/// Width in bits of one value: 4 for s4, 1 for b1 and pred, 0 for none and the opaque handles.
[[nodiscard]] uint32_t bits_of(ScalarType type);
/// Signed integer of any width (s2 .. s64, not packed).
[[nodiscard]] bool is_signed(ScalarType type);
/// Signed or unsigned integer (not `.bN`).
[[nodiscard]] bool is_integer(ScalarType type);
/// A `.bN` type.
[[nodiscard]] bool is_bits(ScalarType type);
/// A floating-point type, packed ones included.
[[nodiscard]] bool is_float(ScalarType type);
/// "u32" (no dot).
[[nodiscard]] std::string_view spelling(ScalarType type);

/// State spaces. `none` on an instruction means generic addressing; `shared` and `shared_cta` are the same
/// window (kept apart because the source is); `param` on ld/st is resolved by the variable it addresses.
enum class Space : uint8_t {
  none,
  reg,
  sreg,
  const_,
  global,
  local,
  param,
  param_entry,
  param_func,
  shared,
  shared_cta,
  shared_cluster,
};
/// "shared::cluster" (no dot); "generic" for none.
[[nodiscard]] std::string_view spelling(Space space);

/// Mnemonics, from opcodes.def: Opcode::cp_async_bulk_tensor.
enum class Opcode : uint16_t {
#define OPCODE(name, text) name,
#define OPCODE_ALIAS(name, text)
#include "ptx/opcodes.def"
#undef OPCODE
#undef OPCODE_ALIAS
};
inline constexpr uint16_t kOpcodeCount = 0
#define OPCODE(name, text) +1
#define OPCODE_ALIAS(name, text)
#include "ptx/opcodes.def"
#undef OPCODE
#undef OPCODE_ALIAS
    ;
/// "cp.async.bulk.tensor".
[[nodiscard]] std::string_view spelling(Opcode opcode);

/// Modifier tokens, from modifiers.def: Mod::mbarrier__complete_tx__bytes.
enum class Mod : uint16_t {
#define MOD(name, text) name,
#define MOD_TYPE(name, text, scalar) name,
#define MOD_SPACE(name, text, space) name,
#include "ptx/modifiers.def"
#undef MOD
#undef MOD_TYPE
#undef MOD_SPACE
};
inline constexpr uint16_t kModCount = static_cast<uint16_t>(Mod::other) + 1;
/// "mbarrier::complete_tx::bytes" (no dot).
[[nodiscard]] std::string_view spelling(Mod mod);
/// The type that a modifier names, or ScalarType::none.
[[nodiscard]] ScalarType scalar_type(Mod mod);
/// The state space that a modifier names, or Space::none.
[[nodiscard]] Space state_space(Mod mod);

/// Special registers, from specials.def: SpecialReg::cluster_ctarank.
enum class SpecialReg : uint8_t {
#define SPECIAL(name, text, type, vector) name,
#include "ptx/specials.def"
#undef SPECIAL
};
/// "%cluster_ctarank".
[[nodiscard]] std::string_view spelling(SpecialReg reg);
/// Type of (one component of) the register.
[[nodiscard]] ScalarType scalar_type(SpecialReg reg);
[[nodiscard]] bool is_vector(SpecialReg reg);

}  // namespace sluice::ptx
