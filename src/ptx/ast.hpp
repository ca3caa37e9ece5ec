// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A PTX module as plain data: what the parser makes and the lowering passes take. Everything refers to
// everything else by index. Nested `{ }` scopes are gone: each register, variable and label of a function has
// an id of its own, whatever its name. Instructions have been matched against the table, so operand counts
// and kinds are those of their row.
#pragma once

#include "base/result.hpp"
#include "ptx/types.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::ptx {

inline constexpr uint32_t kNone = 0xffffffffu;  ///< an index that refers to nothing

/// One register of a function. `.reg .v4 .f32 v` becomes four registers with consecutive ids ("v.x", "v.y",
/// ...);
/// `.reg .b32 %r<9>` becomes %r0 .. %r8, again consecutive.
struct Reg {
  ScalarType type = ScalarType::none;  ///< as declared
  std::string name;                    ///< as written, with its leading % if any; not unique
};

enum class Linkage : uint8_t {
  none,      ///< local to the module
  visible,   ///< .visible
  external,  ///< .extern: defined elsewhere
  weak,      ///< .weak
  common,    ///< .common
};

/// A place in an initialiser that holds an address, added to what the bytes there hold (zero).
struct Relocation {
  enum class Target : uint8_t { Variable, Function };
  uint32_t offset = 0;  ///< byte in Variable::init
  uint8_t size = 8;     ///< bytes written there: 8, 4, or 1 for the masked form `0xff(symbol)`
  uint8_t shift = 0;    ///< bits that the address is shifted right by before it is written (masked form)
  Target target = Target::Variable;
  uint32_t index = 0;       ///< into Module::variables or Module::functions
  int64_t addend = 0;       ///< in bytes
  bool is_generic = false;  ///< generic(symbol): the generic address, not the one inside the state space
};

/// A variable of the module or of a function, a kernel or function parameter, or a `.param` variable of a
/// call.
struct Variable {
  std::string name;
  Space space = Space::none;           ///< global, const_, shared, local, param
  ScalarType type = ScalarType::none;  ///< of one element of one vector component
  uint8_t vector = 1;                  ///< 1, 2, 4 (.v2, .v4)
  uint32_t align = 1;                  ///< bytes; natural alignment of type x vector where nothing is written
  std::vector<uint64_t> dims;          ///< array extents as written, outermost first; 0 = unsized `[]`
  uint64_t size = 0;                   ///< bytes; 0 for an unsized array
  bool is_array_unsized = false;       ///< `.extern .shared .align 16 .b8 smem[]`: dynamic shared memory
  bool is_initialised = false;         ///< an initialiser was written
  std::vector<std::byte> init;         ///< the bytes up to the last one written; the rest of `size` is zero
  std::vector<Relocation> relocations;  ///< addresses inside `init`
  Linkage linkage = Linkage::none;
  bool is_managed = false;  ///< .attribute(.managed)
  uint32_t const_bank = 0;  ///< .const[bank]
  // Kernel parameters only: `.param .u64 .ptr .global .align 16 name`.
  bool is_pointer = false;
  Space pointee_space = Space::none;
  uint32_t pointee_align = 0;
  uint32_t line = 0;  ///< line of the PTX text
};

/// One operand. Compound ones (Address, Vector, Pair) own a slice of Function::operands: [first, first +
/// count).
struct Operand {
  enum class Kind : uint8_t {
    Sink,      ///< `_`
    Register,  ///< index: into Function::regs. Predicates too (type pred)
    ImmInt,    ///< value: the integer, two's complement; constant expressions are folded
    ImmF32,    ///< value: the 32 bits of 0f3F800000
    ImmF64,    ///< value: the 64 bits of 0d3FF0... or of a decimal literal such as 1.5
    Special,   ///< index: a SpecialReg; component 0..3 for .x .y .z .w; value: the number of %envreg7, %pm3
    Variable,  ///< index: into Module::variables (is_module) or Function::variables; value: byte offset.
               ///< Means its address, also of a parameter
    Function,  ///< index: into Module::functions
    Label,     ///< index: into Function::labels
    BranchTable,  ///< index: into Function::branch_tables (brx.idx)
    CallTargets,  ///< index: into Function::call_targets
    Prototype,    ///< index: into Function::prototypes
    Address,  ///< `[base + value]`. Pool[first] is the base: Register, Variable (its own offset is 0 then),
              ///< or ImmInt (an absolute address). Pool[first + 1 ..] are the further parts of a tensor
              ///< address:
              ///< `[map, {c0, c1}]` has count 3, parts c0 and c1
    Vector,   ///< `{a, b, ...}`: the parts; a part may be Sink. Also what `v` means when v is a .v4 register
    Pair,     ///< `p|q`: two parts; either may be Sink
  };
  Kind kind = Kind::Sink;
  bool negate = false;                ///< `!p` of a predicate source
  bool is_module = false;             ///< Variable: of the module, not of the function
  uint16_t component = kNoComponent;  ///< Special: 0..3. Video operands: Selector bits, below
  uint32_t index = 0;
  uint32_t first = 0;
  uint32_t count = 0;
  int64_t value = 0;

  static constexpr uint16_t kNoComponent = 0xffff;
};

/// Operand::component of a video operand: `.b2` and `.h1` have one digit; `.b3210`, `.h10` one per lane. The
/// digits lie in the low 12 bits, three bits each, the one written last (lane 0) lowest. Their number is what
/// tells `.b0` (one lane of a scalar form) from `.b0000`.
struct Selector {
  static constexpr uint16_t kHalf = 0;          ///< `.h..`: digits 0..3
  static constexpr uint16_t kByte = 0x8000;     ///< `.b..`: digits 0..7
  static constexpr unsigned kDigitsShift = 12;  ///< three bits: how many digits, 1..4
  [[nodiscard]] static constexpr bool is_byte(uint16_t component) { return component & kByte; }
  [[nodiscard]] static constexpr unsigned digits(uint16_t component) {
    return (component >> kDigitsShift) & 7u;
  }
  [[nodiscard]] static constexpr unsigned lane(uint16_t component, unsigned i) {
    return (component >> (3 * i)) & 7u;
  }
};

/// `@p` / `@!p` in front of an instruction.
struct Guard {
  int32_t reg = -1;  ///< into Function::regs; -1 = unconditional
  bool negate = false;
};

/// The size in a modifier such as m64n128k16, m8n8, 128x256b; k is 0 where it is not written.
struct Shape {
  uint16_t m = 0, n = 0, k = 0;
  friend bool operator==(const Shape&, const Shape&) = default;
};

/// The modifiers of one instruction, in the order of the text (implied ones are not added).
struct Mods {
  static constexpr size_t kCapacity = 16;
  std::array<Mod, kCapacity> list{};
  uint8_t count = 0;
  Shape shape;  ///< of Mod::shape

  [[nodiscard]] bool has(Mod mod) const {
    for (uint8_t i = 0; i < count; ++i)
      if (list[i] == mod) return true;
    return false;
  }
  [[nodiscard]] std::span<const Mod> all() const { return {list.data(), count}; }
  /// The i-th modifier that names a type, or ScalarType::none.
  [[nodiscard]] ScalarType type(unsigned i = 0) const;
  /// The i-th modifier that names a state space, or Space::none (generic).
  [[nodiscard]] Space space(unsigned i = 0) const;
  /// How many modifiers name a type.
  [[nodiscard]] unsigned type_count() const;
};

struct Instruction {
  Opcode op{};
  uint16_t form = 0;  ///< row of the instruction table (table.hpp)
  Mods mods;
  Guard guard;
  uint32_t first_operand = 0;  ///< into Function::operands
  uint32_t operand_count =
      0;  ///< as the row lists them, destination first; an operand that the row writes in braces
          ///< is a Vector also where the text has one bare register, and `{%r1}` for a single
          ///< value is that value. `call` is brought to one shape: Vector of results (maybe
          ///< empty), callee (Function or Register), Vector of arguments (maybe empty), then
          ///< for an indirect call Prototype or CallTargets
  uint32_t loc = kNone;  ///< into Module::locations: the `.loc` in force
  uint32_t line = 0;     ///< of the PTX text, from 1
  uint32_t column = 0;   ///< from 1
  uint32_t text_begin =
      0;  ///< bytes [text_begin, text_end) of the PTX text hold this statement, guard included,
  uint32_t text_end = 0;  ///< up to and with the `;`
};

struct Label {
  std::string name;
  uint32_t target = kNone;  ///< index into Function::code; == code.size() for a label at the very end
  uint32_t line = 0;
};

/// `name: .branchtargets L0, L1;`
struct BranchTable {
  std::string name;
  std::vector<uint32_t> labels;  ///< into Function::labels
};

/// `name: .calltargets f, g;`
struct CallTargets {
  std::string name;
  std::vector<uint32_t> functions;  ///< into Module::functions
};

/// A parameter or result: a register of the function, or a `.param` variable.
struct Param {
  bool is_reg = false;
  uint32_t index = 0;  ///< into Function::regs or Function::variables
};

/// `name: .callprototype (results) _ (params);` The variables carry type, size and alignment; names may be
/// "_".
struct Prototype {
  std::string name;
  std::vector<Variable> results;
  std::vector<Variable> params;
  bool is_noreturn = false;
};

/// Performance-tuning and cluster directives; 0 = not given. Three extents default to 1 when fewer are
/// written.
struct Directives {
  std::array<uint32_t, 3> maxntid{};  ///< .maxntid (threads per CTA at most)
  std::array<uint32_t, 3> reqntid{};  ///< .reqntid
  uint32_t minnctapersm = 0;
  uint32_t maxnctapersm = 0;
  uint32_t maxnreg = 0;
  std::array<uint32_t, 3> reqnctapercluster{};  ///< .reqnctapercluster
  uint32_t maxclusterrank = 0;
  bool explicitcluster = false;
  bool blocksareclusters = false;
  bool noreturn = false;
  bool unified = false;              ///< .attribute(.unified(...))
  std::vector<std::string> pragmas;  ///< `.pragma "nounroll"`: of the function head or its body
};

/// A kernel or device function; a declaration without a body has is_defined == false and is merged with the
/// definition where the module has one.
struct Function {
  std::string name;
  bool is_entry = false;
  bool is_defined = false;
  Linkage linkage = Linkage::none;
  std::vector<Param> results;
  std::vector<Param> params;  ///< of an entry: offsets follow from size and alignment in this order
  std::vector<Reg> regs;
  std::vector<Variable> variables;  ///< parameters, `.param` variables of calls, local, and shared ones
  std::vector<Operand> operands;    ///< pool
  std::vector<Instruction> code;
  std::vector<Label> labels;
  std::vector<BranchTable> branch_tables;
  std::vector<CallTargets> call_targets;
  std::vector<Prototype> prototypes;
  Directives directives;
  std::string alias_of;  ///< `.alias name, target;`: the target, else empty
  uint32_t line = 0;     ///< of the PTX text

  [[nodiscard]] std::span<const Operand> operands_of(const Instruction& i) const {
    return {operands.data() + i.first_operand, i.operand_count};
  }
  [[nodiscard]] std::span<const Operand> parts_of(const Operand& o) const {
    return {operands.data() + o.first, o.count};
  }
};

/// One `.loc`, with the call chain it was inlined through.
struct Location {
  uint32_t file = 0;  ///< into Module::files
  uint32_t line = 0;  ///< of the source file
  uint32_t column = 0;
  uint32_t function_name = kNone;  ///< into Module::names: the inlined function that this line belongs to
                                   ///< (mangled as the compiler wrote it); kNone when not inlined
  uint32_t inlined_at = kNone;     ///< into Module::locations: the place of the call
};

/// `.file N "path", mtime, size`.
struct SourceFile {
  uint32_t number = 0;
  std::string path;  ///< without `.` and `..` where they cancel out
};

/// A name of the PTX text that is not the text itself: `.target sm_90a, debug`.
struct Target {
  std::string name;                  ///< "sm_90a"
  uint32_t sm = 0;                   ///< 90
  char suffix = 0;                   ///< 'a', 'f' or 0
  std::vector<std::string> options;  ///< "debug", "texmode_independent", "map_f64_to_f32", ...
};

struct Module {
  std::string name;            ///< as given to parse()
  uint16_t version_major = 0;  ///< .version 9.0
  uint16_t version_minor = 0;
  Target target;
  uint32_t address_size = 64;  ///< 32 or 64
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::vector<SourceFile> files;  ///< in order of appearance; Location::file is an index here, not the number
  std::vector<Location> locations;
  std::vector<std::string> names;  ///< function names of inlined frames, from .debug_str
  std::string text;                ///< the PTX itself, for messages

  [[nodiscard]] const Function* find_function(std::string_view name) const;
  [[nodiscard]] const Variable* find_variable(std::string_view name) const;
};

/// Parses and verifies a whole module. `name` is what messages call the text ("app.ptx", "kernel.cu
/// (embedded)"). An error's place is "name:line:column"; its message says what was expected and shows the
/// source line with a caret. Instructions that the table knows and the engine may refuse parse; unknown ones
/// are an error.
[[nodiscard]] Result<Module> parse(std::string_view text, std::string_view name);

}  // namespace sluice::ptx
