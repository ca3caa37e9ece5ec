// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The instruction table in memory: instructions.def compiled once into slots and operand specifications, and
// the questions asked of it: which row does this text mean, how do I write a row, what does the ISA demand of
// it.
#pragma once

#include "base/result.hpp"
#include "ptx/ast.hpp"
#include "ptx/types.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::ptx {

/// Rows of the table: Instruction::form holds one of these.
enum class FormId : uint16_t {
#define ROW(id, opcode, mods, operands, ptx, sm, family, exactness, section) id,
#include "ptx/instructions.def"
#undef ROW
};
inline constexpr uint16_t kFormCount = 0
#define ROW(id, opcode, mods, operands, ptx, sm, family, exactness, section) +1
#include "ptx/instructions.def"
#undef ROW
    ;

enum class Family : uint8_t {
  Integer,
  Carry,
  Float,
  Half,
  Compare,
  Logic,
  Move,
  Convert,
  Memory,
  Cache,
  Atomic,
  Multimem,
  AsyncCopy,
  TensorCopy,
  Barrier,
  Fence,
  Mbarrier,
  Warp,
  Wgmma,
  Mma,
  Control,
  Video,
  Texture,
  Blackwell,
};
[[nodiscard]] std::string_view spelling(Family family);

enum class Exactness : uint8_t {
  Exact,           ///< the ISA determines every bit
  Bounded,         ///< the ISA states a largest error
  Implementation,  ///< the ISA leaves order of summation or precision open
  NoData,          ///< produces no value
};
[[nodiscard]] std::string_view spelling(Exactness exactness);

/// One alternative of a slot: one or two tokens, or a matrix shape.
struct ModAlternative {
  Mod first{};
  Mod second{};  ///< valid if is_pair
  bool is_pair = false;
  uint32_t n_mask = 0;  ///< Mod::shape with a family of n: bit i allows n = 8 * (i + 1); 0: shape is exact
  Shape shape;
};

struct ModSlot {
  std::vector<ModAlternative> alternatives;
  bool is_optional = false;
  bool is_type = false;  ///< all alternatives name types
};

struct OperandSpec {
  enum class Type : uint8_t {
    Fixed,     ///< `fixed`
    TypeMod,   ///< the `type_index`-th type modifier
    Wide,      ///< that at twice the width
    Fragment,  ///< register type of a fragment of it
    AnyInt,    ///< 32 or 64 bits, integer or bits
    Constant,  ///< an integer constant
    Address,
    TensorAddress,
    Label,
    Table,
    Callee,
    Prototype,
    List,  ///< call: parenthesised list
    SinkOnly,
  };
  enum class Count : uint8_t {
    One,
    Vec,
    Exactly,
    Num,
    Num2,
    FragmentD,
    FragmentA,
    FragmentB,
    FragmentC,
    WmmaFromFrag,
    WmmaA,
    WmmaB,
    WmmaC,
    WmmaD,
    Im2col,
    Pack,
  };
  std::string_view name;
  Type type = Type::Fixed;
  ScalarType fixed = ScalarType::none;
  uint8_t type_index = 0;
  Count count = Count::One;
  uint8_t exact_count = 0;
  bool is_written = false;
  bool is_read = true;
  bool may_sink = false;
  bool may_be_wider = false;
  bool may_not = false;     ///< `!p`
  bool may_minus = false;   ///< `-r`
  bool may_select = false;  ///< `.b1`
  bool any_source = false;
  bool or_variable = false;
  bool has_pair = false;  ///< `d|p`
  bool pair_optional = false;
  bool is_optional = false;
  bool has_condition = false;  ///< present exactly if the instruction has `condition`
  Mod condition{};
};

struct SmVersion {
  uint16_t number = 0;  ///< 90
  char suffix = 0;      ///< 'a', 'f' or 0
};

/// One row, compiled.
struct Form {
  FormId id{};
  Opcode opcode{};
  std::string_view name;          ///< the row's id: "cp_async_bulk_g2s"
  std::string_view mods_pattern;  ///< as in the table
  std::string_view operands_pattern;
  uint16_t ptx = 0;  ///< 78 is ISA 7.8
  SmVersion sm;
  Family family{};
  Exactness exactness{};
  std::string_view section;     ///< title of the ISA's section
  bool takes_anything = false;  ///< an out-of-scope row
  std::vector<ModSlot> slots;
  std::vector<OperandSpec> operands;

  /// Whether the engine means to execute it: not a texture or surface, not bound to another architecture than
  /// sm_90a.
  [[nodiscard]] bool in_scope() const;
};

/// All rows, index = FormId.
[[nodiscard]] std::span<const Form> forms();
[[nodiscard]] const Form& form(uint16_t id);
inline const Form& form(FormId id) {
  return form(static_cast<uint16_t>(id));
}
/// The rows of one opcode, in table order.
[[nodiscard]] std::span<const uint16_t> forms_of(Opcode opcode);

/// How many parts the operand has (1 and `braces` false: a scalar). `dims` of im2col come from the modifiers.
struct OperandCount {
  uint32_t count = 1;
  bool braces = false;
};
[[nodiscard]] OperandCount operand_count(const Form& form, const OperandSpec& spec, const Mods& mods);
/// The scalar type of each part of the operand; none for addresses, labels and the like.
[[nodiscard]] ScalarType operand_type(const OperandSpec& spec, const Mods& mods);
/// The ISA's coordinates of a tensor address: `Nd`, five for gather4 and scatter4.
[[nodiscard]] uint32_t tensor_coordinates(const Mods& mods);

/// How many operands the row takes with these modifiers.
struct OperandRange {
  size_t required = 0;
  size_t optional = 0;
  [[nodiscard]] bool holds(size_t count) const { return count >= required && count <= required + optional; }
};
[[nodiscard]] OperandRange operand_range(const Form& form, const Mods& mods);

/// Pairs the operands of an instruction, `count` of them, with those of its row, from left to right, and
/// calls `f(spec, index)` for each until it returns false. An operand with a condition is there exactly if
/// the modifier is; optional ones take what is left over, the first ones first. False if the row does not
/// take that many, or if `f` said so.
template <class F>
bool for_each_operand(const Form& form, const Mods& mods, size_t count, F&& f) {
  const OperandRange range = operand_range(form, mods);
  if (!range.holds(count)) return false;
  size_t spare = count - range.required;
  size_t at = 0;
  for (const OperandSpec& spec : form.operands) {
    if (spec.has_condition && !mods.has(spec.condition)) continue;
    if (spec.is_optional && spare == 0) continue;
    if (spec.is_optional) --spare;
    if (!f(spec, at++)) return false;
  }
  return true;
}

/// What the ISA demands of version and target: the row's own, raised by what single modifiers bring.
struct Requirement {
  uint16_t ptx = 0;
  SmVersion sm;
  uint16_t removed_ptx = 0;  ///< gone since this version for targets from sm_70 on; 0: still there
};
[[nodiscard]] Requirement requirement(const Form& form, const Mods& mods);

/// Why the row does not allow this combination of modifiers, each of which it does allow; empty where it
/// allows it.
[[nodiscard]] std::string_view conflict(const Form& form, const Mods& mods);

/// Matches the modifiers `mods` (in any order) against the row; on success writes them in the row's order.
[[nodiscard]] bool match_mods(const Form& form, const Mods& mods, Mods& ordered);

/// Every choice of modifiers that a row allows (conflicts left out), at most `limit` of them, spread evenly
/// where there are more. The first one has no optional modifier. Families of n in shapes give their smallest,
/// a middle and the largest n.
[[nodiscard]] std::vector<Mods> variants(const Form& form, size_t limit);

/// The text of one row for people: "add{.rnd}{.ftz}{.sat}.f32  d, a, b" with lists written out.
[[nodiscard]] std::string syntax(const Form& form);

}  // namespace sluice::ptx
