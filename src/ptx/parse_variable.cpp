// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Declarations of variables and registers, with initialisers (ISA "Variables", "Array Declarations",
// "Initializers", "Parameterized Variable Names").
#include "ptx/parser.hpp"
#include "ptx/tokens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace sluice::ptx {
namespace {

constexpr uint64_t kMaxVariableBytes = uint64_t(1) << 46;
constexpr uint64_t kMaxInitialisedBytes = uint64_t(1) << 28;
constexpr uint32_t kMaxRegisters = 1u << 20;  // of one function
constexpr uint64_t kMaxModuleRegisters = 1u << 23;
constexpr size_t kMaxDims = 16;

Space declared_space(std::string_view word) {
  if (word == "global") return Space::global;
  if (word == "const") return Space::const_;
  if (word == "shared" || word == "shared::cta") return Space::shared;
  if (word == "local") return Space::local;
  if (word == "param") return Space::param;
  if (word == "tex") return Space::global;  // .tex .u32 t; is the old spelling of .global .texref t;
  return Space::none;
}

bool is_storable(ScalarType type) {
  return type >= ScalarType::u8 && type <= ScalarType::surfref;
}

}  // namespace

bool Parser::parse_attribute(bool& is_managed, bool& is_unified) {
  if (!expect('(')) return false;
  do {
    const std::string_view word = lex_.directive();
    if (word == "managed") {
      is_managed = true;
    } else if (word == "unified") {
      is_unified = true;
      if (lex_.accept('(')) {
        int64_t ignored = 0;
        do {
          if (!parse_integer(ignored)) return false;
        } while (lex_.accept(','));
        if (!expect(')')) return false;
      }
    } else {
      return expected("an attribute: .managed or .unified");
    }
  } while (lex_.accept(','));
  return expect(')');
}

/// Everything in front of the name: space, bank, alignment, vector width, type, pointer facts.
bool Parser::parse_variable_head(Variable& variable, bool is_parameter) {
  variable.line = lex_.line();
  bool has_space = false;
  bool has_type = false;
  for (;;) {
    const Mark at = lex_.mark();
    const std::string_view word = lex_.peek_directive();
    if (word.empty()) break;
    if (word == "align") {
      (void)lex_.directive();
      if (!parse_unsigned(variable.align, "an alignment")) return false;
      if (!std::has_single_bit(variable.align) || variable.align > 1u << 20)
        return fail(at, "alignment must be a power of two");
      continue;
    }
    if (word == "attribute") {
      (void)lex_.directive();
      bool is_unified = false;
      if (!parse_attribute(variable.is_managed, is_unified)) return false;
      continue;
    }
    if (word == "v2" || word == "v4") {
      (void)lex_.directive();
      variable.vector = word == "v2" ? 2 : 4;
      continue;
    }
    if (is_parameter && word == "ptr") {
      (void)lex_.directive();
      variable.is_pointer = true;
      if (const Space space = declared_space(lex_.peek_directive()); space != Space::none) {
        (void)lex_.directive();
        variable.pointee_space = space;
      }
      if (lex_.accept_directive("align") && !parse_unsigned(variable.pointee_align, "an alignment"))
        return false;
      continue;
    }
    if (!has_space && !has_type) {
      if (const Space space = declared_space(word); space != Space::none) {
        (void)lex_.directive();
        has_space = true;
        variable.space = space;
        if (space == Space::const_ && lex_.accept('[')) {
          if (!parse_unsigned(variable.const_bank, "a constant bank") || !expect(']')) return false;
        }
        continue;
      }
    }
    const auto mod = find_mod(word);
    const ScalarType type = mod ? scalar_type(*mod) : ScalarType::none;
    if (!is_storable(type) || has_type)
      return fail(at, fmt::format("unexpected '.{}' in a declaration", word));
    if (type == ScalarType::pred) return fail(at, "a .pred variable can only be a register");
    (void)lex_.directive();
    variable.type = type;
    has_type = true;
  }
  if (!has_space && !is_parameter) return expected("a state space");
  if (!has_type) return expected("a type");
  if (variable.align == 0) variable.align = size_of(variable.type) * variable.vector;
  return true;
}

bool Parser::parse_variable_name_and_dims(Variable& variable) {
  const Mark at = lex_.mark();
  const std::string_view name = lex_.identifier();
  if (name.empty()) return expected("a name");
  variable.name = name;
  while (lex_.accept('[')) {
    uint64_t extent = 0;
    if (lex_.peek() != ']') {
      const Mark place = lex_.mark();
      int64_t value = 0;
      if (!parse_integer(value)) return false;
      if (value < 0) return fail(place, "array extent must not be negative");
      extent = uint64_t(value);
    } else if (!variable.dims.empty()) {
      return fail("only the first extent of an array may be left out");
    } else {
      variable.is_array_unsized = true;
    }
    if (!expect(']')) return false;
    if (variable.dims.size() == kMaxDims) return fail(at, "array has too many dimensions");
    variable.dims.push_back(extent);
  }
  return finish_size(variable, at);
}

/// Size in bytes from type, vector and extents.
bool Parser::finish_size(Variable& variable, const Mark& at) {
  uint64_t size = uint64_t(size_of(variable.type)) * variable.vector;
  for (size_t i = 0; i < variable.dims.size(); ++i) {
    if (i == 0 && variable.is_array_unsized) continue;
    if (variable.dims[i] != 0 && size > kMaxVariableBytes / variable.dims[i])
      return fail(at, fmt::format("'{}' is too large", variable.name));
    size *= variable.dims[i];
  }
  variable.size = variable.is_array_unsized ? 0 : size;
  return true;
}

bool Parser::store(Variable& variable, uint64_t offset, uint64_t value, uint32_t size) {
  if (offset + size > kMaxInitialisedBytes) return fail("initialised variable is too large");
  if (variable.init.size() < offset + size) {
    initialised_ += offset + size - variable.init.size();
    if (initialised_ > 2 * kMaxInitialisedBytes)
      return fail("initialised variables are too large altogether");
    variable.init.resize(offset + size);
  }
  for (uint32_t i = 0; i < size; ++i)
    variable.init[offset + i] = static_cast<std::byte>(i < 8 ? value >> (8 * i) : 0);
  return true;
}

/// One scalar: a constant, `symbol + offset`, `generic(symbol)`, or a masked byte of an address
/// `0xff00(symbol)`.
bool Parser::parse_initialiser_value(Variable& variable, uint64_t element) {
  const uint32_t size = size_of(variable.type);
  const uint64_t offset = element * size;
  const Mark at = lex_.mark();

  const auto address = [&](std::string_view name, bool is_generic, uint64_t mask) {
    Relocation relocation;
    relocation.offset = uint32_t(offset);
    relocation.size = uint8_t(size);
    relocation.is_generic = is_generic;
    if (mask != 0) {
      const int shift = std::countr_zero(mask);
      if (mask >> shift != 0xff) return fail(at, "an address mask selects one byte, such as 0xff00");
      relocation.shift = uint8_t(shift);
    } else if (size != 8 && size != 4) {
      return fail(at, "an address needs a 32-bit or 64-bit element");
    }
    relocation.addend = 0;
    if (lex_.peek() == '+' || lex_.peek() == '-') {
      if (!parse_integer(relocation.addend)) return false;
    }
    relocation_uses_.push_back({0, uint32_t(variable.relocations.size()), {name, at}});
    variable.relocations.push_back(relocation);
    return store(variable, offset, 0, size);
  };

  if (const std::string_view name = lex_.identifier(); !name.empty() && name != "WARP_SZ") {
    if (name != "generic") return address(name, false, 0);
    if (!expect('(')) return false;
    const std::string_view inner = lex_.identifier();
    if (inner.empty()) return expected("a variable's name");
    if (!expect(')')) return false;
    return address(inner, true, 0);
  }
  lex_.rewind(at);

  Literal literal;
  if (!parse_expression(literal)) return false;
  if (literal.kind == Literal::Kind::Int && lex_.accept('(')) {
    const std::string_view name = lex_.identifier();
    if (name == "generic") {
      if (!expect('(')) return false;
      const std::string_view inner = lex_.identifier();
      if (inner.empty()) return expected("a variable's name");
      if (!expect(')')) return false;
      return address(inner, true, literal.bits) && expect(')');
    }
    if (name.empty()) return expected("a variable's name");
    return address(name, false, literal.bits) && expect(')');
  }

  uint64_t bits = literal.bits;
  if (literal.kind == Literal::Kind::Int) {
    // ptxas takes integers for float variables as values.
    if (variable.type == ScalarType::f32) bits = std::bit_cast<uint32_t>(float(int64_t(bits)));
    if (variable.type == ScalarType::f64) bits = std::bit_cast<uint64_t>(double(int64_t(bits)));
  } else if (variable.type == ScalarType::f32 && literal.kind == Literal::Kind::F64) {
    bits = std::bit_cast<uint32_t>(float(std::bit_cast<double>(bits)));
  } else if (variable.type == ScalarType::f64 && literal.kind == Literal::Kind::F32) {
    bits = std::bit_cast<uint64_t>(double(std::bit_cast<float>(uint32_t(bits))));
  } else if (is_integer(variable.type)) {
    return fail(at, "a floating-point constant cannot initialise an integer");
  }
  return store(variable, offset, bits, size);
}

/// `{...}` of dimension `level`; `element` is the first scalar it covers.
bool Parser::parse_initialiser_level(Variable& variable, size_t level, uint64_t element) {
  const std::vector<uint64_t>& extents = extents_;
  if (level == extents.size()) return parse_initialiser_value(variable, element);
  uint64_t stride = 1;
  for (size_t i = level + 1; i < extents.size(); ++i) stride *= extents[i];

  const Mark at = lex_.mark();
  if (lex_.peek() != '{') return expected("'{'");
  (void)lex_.accept('{');
  const bool is_open = level == 0 && variable.is_array_unsized;
  uint64_t count = 0;
  while (lex_.peek() != '}') {
    if (!is_open && count == extents[level]) return fail("too many values in the initialiser");
    if (lex_.peek() == '{' || level + 1 == extents.size()) {
      if (!parse_initialiser_level(variable, level + 1, element + count * stride)) return false;
      ++count;
    } else {
      // Flat list: the inner braces are left out.
      for (uint64_t i = 0; i < stride && lex_.peek() != '}'; ++i) {
        if (!parse_initialiser_value(variable, element + count * stride + i)) return false;
        if (i + 1 < stride && !lex_.accept(',')) break;
      }
      ++count;
    }
    if (!lex_.accept(',')) break;
  }
  if (!expect('}')) return false;
  if (is_open) {
    variable.dims[0] = count;
    variable.is_array_unsized = false;
    return finish_size(variable, at);
  }
  return true;
}

bool Parser::parse_initialiser(Variable& variable) {
  variable.is_initialised = true;
  const bool is_opaque = variable.type == ScalarType::texref || variable.type == ScalarType::samplerref ||
                         variable.type == ScalarType::surfref;
  if (is_opaque) {
    if (!expect('{')) return false;
    if (!lex_.skip_braces()) return expected("'}'");
    return true;
  }
  // Extents in scalars; vectors are one more level of braces.
  extents_ = variable.dims;
  if (variable.vector > 1) extents_.push_back(variable.vector);
  return parse_initialiser_level(variable, 0, 0);
}

/// `.global .align 4 .u32 a[4] = {...}, b;` up to and with the `;`.
bool Parser::parse_variables(Linkage linkage, bool in_function) {
  Variable head;
  head.align = 0;
  if (!parse_variable_head(head, false)) return false;
  head.linkage = linkage;
  do {
    Variable variable = head;
    const Mark at = lex_.mark();
    if (!parse_variable_name_and_dims(variable)) return false;

    // `.param .b64 p<3>;` and `.local .b8 l<2>`: numbered names.
    uint32_t copies = 0;
    if (lex_.accept('<')) {
      if (!parse_unsigned(copies, "a count") || !expect('>')) return false;
      if (copies == 0 || copies > 4096) return fail(at, "a numbered declaration takes 1 to 4096 names");
    }
    auto& list = in_function ? function_->variables : module_.variables;
    const size_t first_use = relocation_uses_.size();
    if (lex_.accept('=')) {
      if (in_function && (variable.space == Space::local || variable.space == Space::param))
        return fail(at, "a variable of this state space cannot be initialised");
      if (in_function) return fail(at, "variables inside functions cannot be initialised");
      if (!parse_initialiser(variable)) return false;
    }
    for (size_t i = first_use; i < relocation_uses_.size(); ++i)
      relocation_uses_[i].variable = uint32_t(list.size());
    const Symbol::Kind kind = in_function ? Symbol::Kind::Variable : Symbol::Kind::ModuleVariable;
    const auto define = [&](std::string_view name, const Symbol& symbol) {
      return in_function ? define_local(name, symbol, at) : define_global(name, symbol, at);
    };
    if (copies == 0) {
      const std::string_view name = lex_.text().substr(at.offset, variable.name.size());
      // A later definition or repeated declaration of the same module variable takes its place.
      if (!in_function) {
        if (const Symbol* old = find_global(name);
            old != nullptr && old->kind == Symbol::Kind::ModuleVariable) {
          Variable& known = list[old->index];
          const bool both = known.linkage != Linkage::external && variable.linkage != Linkage::external &&
                            known.linkage != Linkage::common && known.linkage != Linkage::weak;
          if (both) return fail(at, fmt::format("'{}' is already defined", name));
          for (size_t i = first_use; i < relocation_uses_.size(); ++i)
            relocation_uses_[i].variable = old->index;
          if (variable.linkage != Linkage::external) known = std::move(variable);
          continue;
        }
      }
      if (!define(name, {kind, uint32_t(list.size()), 1})) return false;
      list.push_back(std::move(variable));
      continue;
    }
    if (!in_function) return fail(at, "numbered names are for registers and variables of functions");
    const std::string base = variable.name;
    const std::string_view prefix = lex_.text().substr(at.offset, base.size());
    scopes_.back().ranges[prefix] = {Symbol::Kind::Variable, uint32_t(list.size()), copies};
    for (uint32_t i = 0; i < copies; ++i) {
      Variable copy = variable;
      copy.name = base + std::to_string(i);
      list.push_back(std::move(copy));
    }
  } while (lex_.accept(','));
  return expect(';');
}

/// `.reg .b32 %r<9>, %x;` up to and with the `;`; `.reg` is already taken.
bool Parser::parse_registers() {
  uint32_t vector = 1;
  ScalarType type = ScalarType::none;
  for (;;) {
    const Mark at = lex_.mark();
    const std::string_view word = lex_.directive();
    if (word.empty()) break;
    if (word == "v2" || word == "v4") {
      vector = word == "v2" ? 2 : 4;
      continue;
    }
    const auto mod = find_mod(word);
    if (mod) type = scalar_type(*mod);
    if (!mod || !is_storable(type) || type > ScalarType::pred)
      return fail(at, fmt::format("'.{}' is not a type of registers", word));
  }
  if (type == ScalarType::none) return expected("a register type");
  do {
    const Mark at = lex_.mark();
    const std::string_view name = lex_.identifier();
    if (name.empty()) return expected("a register's name");
    uint32_t count = 1;
    const bool is_range = lex_.accept('<');
    if (is_range && (!parse_unsigned(count, "a number of registers") || !expect('>'))) return false;
    auto& regs = function_->regs;
    if (count > kMaxRegisters || regs.size() + size_t(count) * vector > kMaxRegisters)
      return fail(at, fmt::format("more than {} registers in one function", kMaxRegisters));
    registers_ += uint64_t(count) * vector;
    if (registers_ > kMaxModuleRegisters)
      return fail(at, fmt::format("more than {} registers in one module", kMaxModuleRegisters));
    const Symbol::Kind kind = is_range     ? Symbol::Kind::RegisterRange
                              : vector > 1 ? Symbol::Kind::VectorRegister
                                           : Symbol::Kind::Register;
    const Symbol symbol{kind, uint32_t(regs.size()), is_range ? count : vector};
    if (is_range && vector > 1) return fail(at, "numbered vector registers are not supported");
    if (is_range) {
      if (!scopes_.back().ranges.emplace(name, symbol).second)
        return fail(at, fmt::format("'{}<..>' is already defined in this scope", name));
    } else if (!define_local(name, symbol, at)) {
      return false;
    }
    constexpr std::string_view kComponents[] = {".x", ".y", ".z", ".w"};
    for (uint32_t i = 0; i < count; ++i)
      for (uint32_t c = 0; c < vector; ++c) {
        std::string full(name);
        if (is_range) full += std::to_string(i);
        if (vector > 1) full += kComponents[c];
        regs.push_back({type, std::move(full)});
      }
  } while (lex_.accept(','));
  return expect(';');
}

}  // namespace sluice::ptx
