// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// One instruction: guard, word, operands. The operands are read without knowing the row; match.cpp then finds
// the row that they fit.
#include "ptx/parser.hpp"
#include "ptx/tokens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sluice::ptx {
namespace {

constexpr size_t kMaxOperands = 64;
constexpr size_t kMaxParts = 1024;

uint32_t component_of(std::string_view word) {
  if (word == "x" || word == "r") return 0;
  if (word == "y" || word == "g") return 1;
  if (word == "z" || word == "b") return 2;
  if (word == "w" || word == "a") return 3;
  return kNone;
}

/// The modifiers of an instruction word behind its opcode.
struct SplitWord {
  Mods mods;
  std::string_view unknown;  ///< first token that is no modifier
  bool too_many = false;
};

SplitWord split_word(std::string_view rest, bool takes_anything) {
  SplitWord out;
  while (!rest.empty()) {
    rest.remove_prefix(1);  // the dot
    const size_t end = std::min(rest.find('.'), rest.size());
    const std::string_view token = rest.substr(0, end);
    rest.remove_prefix(end);
    Mod mod = Mod::other;
    if (const auto known = find_mod(token)) {
      mod = *known;
    } else if (const auto shape = find_shape(token)) {
      mod = Mod::shape;
      out.mods.shape = *shape;
    } else if (!takes_anything) {
      out.unknown = token;
      return out;
    }
    if (out.mods.count == Mods::kCapacity) {
      out.too_many = true;
      if (!takes_anything) return out;
    } else {
      out.mods.list[out.mods.count++] = mod;
    }
  }
  return out;
}

/// `vote.sync.ballot.b32` for `vote.ballot.sync.b32`: the assembler takes modifiers in any order, `.sync`
/// too, which is part of an opcode here. Empty if the word is not like that.
std::string with_sync_first(std::string_view word) {
  constexpr std::string_view kSync = ".sync";
  const size_t dot = word.find('.');
  if (dot == std::string_view::npos) return {};
  size_t at = word.find(kSync, dot + 1);
  while (at != std::string_view::npos && at + kSync.size() < word.size() && word[at + kSync.size()] != '.')
    at = word.find(kSync, at + 1);
  if (at == std::string_view::npos) return {};
  std::string opcode(word.substr(0, dot));
  opcode += kSync;
  if (!find_opcode(opcode)) return {};
  return opcode.append(word.substr(dot, at - dot)).append(word.substr(at + kSync.size()));
}

}  // namespace

/// Looks a word up, or understands it once: opcode and the rows that its modifiers fit.
const KnownWord* Parser::understand(std::string_view word, const Mark& at) {
  key_.assign(word);
  if (const auto found = words_.find(key_); found != words_.end()) return &found->second;
  const auto prefix = find_opcode_prefix(word);
  if (!prefix) {
    (void)fail(at, fmt::format("unknown instruction '{}'", word));
    return nullptr;
  }
  KnownWord known;
  known.opcode = prefix->opcode;
  const auto rows = forms_of(known.opcode);
  const bool takes_anything = !rows.empty() && form(rows[0]).takes_anything;
  const SplitWord split = split_word(word.substr(prefix->length), takes_anything);
  if (!split.unknown.empty()) {
    (void)fail(at, fmt::format("unknown modifier '.{}' of '{}'", split.unknown, spelling(known.opcode)));
    return nullptr;
  }
  if (split.too_many && !takes_anything) {
    (void)fail(at, fmt::format("too many modifiers on '{}'", spelling(known.opcode)));
    return nullptr;
  }
  // Rows whose order the text follows come first, then rows that it fits in another order.
  for (uint16_t row : rows) {
    KnownWord::Candidate candidate;
    candidate.form = row;
    if (match_mods(form(row), split.mods, candidate.mods)) known.candidates.push_back(candidate);
  }
  std::stable_partition(known.candidates.begin(), known.candidates.end(), [&](const KnownWord::Candidate& c) {
    return std::equal(c.mods.list.begin(), c.mods.list.begin() + c.mods.count, split.mods.list.begin());
  });
  if (known.candidates.empty()) {
    if (const std::string other = with_sync_first(word); !other.empty()) return understand(other, at);
    std::string message =
        fmt::format("no form of '{}' has these modifiers; its forms are", spelling(known.opcode));
    size_t shown = 0;
    for (uint16_t row : rows) {
      if (++shown > 6) {
        message += fmt::format("\n    and {} more", rows.size() - 6);
        break;
      }
      message += "\n    " + syntax(form(row));
    }
    (void)fail(at, message);
    return nullptr;
  }
  return &words_.emplace(key_, std::move(known)).first->second;
}

bool Parser::parse_guard(Guard& guard) {
  if (!lex_.accept('@')) return true;
  guard.negate = lex_.accept('!');
  const Mark at = lex_.mark();
  const std::string_view name = lex_.identifier();
  if (name.empty()) return expected("a predicate register");
  Symbol symbol;
  if (!find_register(name, symbol) || symbol.kind != Symbol::Kind::Register)
    return fail(at, fmt::format("register '{}' is not declared", name));
  if (function_->regs[symbol.index].type != ScalarType::pred)
    return fail(at, fmt::format("guard '{}' is not a predicate", name));
  guard.reg = int32_t(symbol.index);
  return true;
}

bool Parser::parse_instruction(const Mark& begin) {
  Instruction instruction;
  instruction.line = begin.line;
  instruction.column = begin.offset - begin.line_begin + 1;
  instruction.text_begin = begin.offset;
  instruction.loc = current_loc_;
  if (!parse_guard(instruction.guard)) return false;
  const Mark at = lex_.mark();
  const std::string_view word = lex_.instruction_word(joined_);
  if (word.empty()) return expected("an instruction");
  const KnownWord* known = understand(word, at);
  if (known == nullptr) return false;

  operand_count_ = 0;
  unified_seen_ = false;
  if (!parse_operands(known->opcode)) return false;
  instruction.text_end = lex_.mark().offset + 1;
  if (lex_.peek() != ';') return expected("';'");
  instruction.op = known->opcode;
  if (!match(*known, instruction, at, word)) return false;
  (void)lex_.accept(';');
  emit(instruction);
  return true;
}

PendingOperand& Parser::new_operand() {
  if (operand_count_ == operands_.size()) operands_.emplace_back();
  PendingOperand& operand = operands_[operand_count_++];
  operand.head = Operand{};
  operand.parts.clear();
  operand.name = {};
  operand.mark = lex_.mark();
  return operand;
}

bool Parser::parse_operands(Opcode opcode) {
  if (lex_.peek() == ';') return true;
  if (opcode == Opcode::bra || opcode == Opcode::brx_idx) return parse_branch(opcode);
  if (opcode == Opcode::call) return parse_call();
  do {
    if (operand_count_ == kMaxOperands) return fail("too many operands");
    if (!parse_operand(new_operand())) return false;
  } while (lex_.accept(','));
  return true;
}

bool Parser::parse_branch(Opcode opcode) {
  if (opcode == Opcode::brx_idx) {
    if (!parse_operand(new_operand()) || !expect(',')) return false;
  }
  PendingOperand& target = new_operand();
  target.name = lex_.identifier();
  if (target.name.empty()) return expected(opcode == Opcode::bra ? "a label" : "a list of branch targets");
  target.head.kind = opcode == Opcode::bra ? Operand::Kind::Label : Operand::Kind::BranchTable;
  return true;
}

/// `call (results), callee, (arguments), set;` with everything but the callee optional.
bool Parser::parse_call() {
  PendingOperand results;
  results.head.kind = Operand::Kind::Vector;
  results.mark = lex_.mark();
  if (lex_.accept('(')) {
    if (!parse_vector(results, ')') || !expect(',')) return false;
  }
  new_operand() = results;

  PendingOperand& callee = new_operand();
  if (!parse_operand(callee)) return false;
  const bool is_direct = callee.head.kind == Operand::Kind::Function;

  PendingOperand arguments;
  arguments.head.kind = Operand::Kind::Vector;
  arguments.mark = lex_.mark();
  bool more = lex_.accept(',');
  if (more && lex_.accept('(')) {
    arguments.mark = lex_.mark();
    if (!parse_vector(arguments, ')')) return false;
    more = lex_.accept(',');
  }
  new_operand() = arguments;
  if (!more) return true;
  PendingOperand& set = new_operand();
  set.name = lex_.identifier();
  if (set.name.empty()) return expected("a call prototype or a list of call targets");
  if (is_direct) return fail(set.mark, "a direct call takes no list of targets");
  set.head.kind = Operand::Kind::Prototype;  // settled with the name
  return true;
}

bool Parser::parse_operand(PendingOperand& out) {
  out.mark = lex_.mark();
  switch (lex_.peek()) {
    case '[':
      return parse_address(out);
    case '{':
      (void)lex_.accept('{');
      out.head.kind = Operand::Kind::Vector;
      return parse_vector(out, '}');
    default:
      break;
  }
  if (!parse_leaf(out.head, &out)) return false;
  if (lex_.peek() != '|' || out.head.kind == Operand::Kind::Vector) return true;
  // `p|q`
  (void)lex_.accept('|');
  Operand second;
  if (!parse_leaf(second, nullptr)) return false;
  out.parts = {out.head, second};
  out.head = Operand{};
  out.head.kind = Operand::Kind::Pair;
  return true;
}

bool Parser::parse_vector(PendingOperand& out, char close) {
  if (lex_.accept(close)) return true;
  do {
    if (out.parts.size() == kMaxParts) return fail("too many parts");
    Operand leaf;
    PendingOperand whole;
    if (!parse_leaf(leaf, &whole)) return false;
    if (leaf.kind == Operand::Kind::Vector) {
      out.parts.insert(out.parts.end(), whole.parts.begin(), whole.parts.end());
    } else {
      out.parts.push_back(leaf);
    }
  } while (lex_.accept(','));
  return expect(close);
}

/// `[base]`, `[base + offset]`, `[map, {c0, c1}]`, `[1024]`.
bool Parser::parse_address(PendingOperand& out) {
  (void)lex_.accept('[');
  out.head.kind = Operand::Kind::Address;
  Operand base;
  const Mark at = lex_.mark();
  if (!parse_leaf(base, nullptr)) return false;
  if (base.kind == Operand::Kind::Variable) {
    std::swap(out.head.value, base.value);
  } else if (base.kind == Operand::Kind::Register) {
    if (base.negate || base.component != Operand::kNoComponent)
      return fail(at, "this register cannot be an address");
    if ((lex_.peek() == '+' || lex_.peek() == '-') && !parse_integer(out.head.value)) return false;
  } else if (base.kind == Operand::Kind::ImmInt) {
    std::swap(out.head.value, base.value);
  } else {
    return fail(at, "expected a register, a variable or a constant as address");
  }
  out.parts.push_back(base);
  while (lex_.accept(',')) {
    if (lex_.accept('{')) {
      if (!parse_vector(out, '}')) return false;
      continue;
    }
    Operand part;
    if (out.parts.size() == kMaxParts) return fail("too many parts");
    if (!parse_leaf(part, nullptr)) return false;
    out.parts.push_back(part);
  }
  if (!expect(']')) return false;
  if (lex_.accept_directive("unified")) unified_seen_ = true;
  return true;
}

/// `.b1`, `.h10`, `.b3210` behind a register.
bool Parser::parse_selector(Operand& out) {
  const Mark at = lex_.mark();
  const std::string_view word = lex_.directive();
  uint16_t bits = 0;
  const bool is_byte = word.starts_with('b');
  const char largest = is_byte ? '7' : '3';
  bool ok = (is_byte || word.starts_with('h')) && word.size() >= 2 && word.size() <= (is_byte ? 5u : 3u);
  for (size_t i = 1; ok && i < word.size(); ++i) {
    ok = word[i] >= '0' && word[i] <= largest;
    bits = uint16_t(bits << 3 | (word[i] - '0'));
  }
  if (!ok) return fail(at, fmt::format("'.{}' is not a component or selector of this operand", word));
  const uint16_t digits = uint16_t(word.size() - 1);
  out.component =
      uint16_t(bits | digits << Selector::kDigitsShift | (is_byte ? Selector::kByte : Selector::kHalf));
  return true;
}

/// A register, special register, variable (with offset), function, `_`, or constant. `whole` takes the parts
/// of a vector register that is named as a whole; null where that is not allowed.
bool Parser::parse_leaf(Operand& out, PendingOperand* whole) {
  const Mark at = lex_.mark();
  if (lex_.peek() == '!') {
    (void)lex_.accept('!');
    out.negate = true;
  } else if (lex_.peek() == '-' && lex_.peek(1) == '%') {
    (void)lex_.accept('-');
    out.negate = true;
  }
  const std::string_view name = lex_.identifier();
  if (!name.empty() && name != "WARP_SZ") return parse_named_leaf(out, name, at, whole);
  if (out.negate) return expected("a register");
  lex_.rewind(at);
  Literal literal;
  if (const char c = lex_.peek(); c == '\0' || c == ';' || c == ',' || c == '}')
    return expected(operand_count_ <= 1 ? "an operand or ';'" : "an operand");
  if (!parse_expression(literal)) return false;
  out.kind = literal.kind == Literal::Kind::Int   ? Operand::Kind::ImmInt
             : literal.kind == Literal::Kind::F32 ? Operand::Kind::ImmF32
                                                  : Operand::Kind::ImmF64;
  out.value = int64_t(literal.bits);
  return true;
}

bool Parser::parse_named_leaf(Operand& out, std::string_view name, const Mark& at, PendingOperand* whole) {
  if (name == "_") {
    out.kind = Operand::Kind::Sink;
    return true;
  }
  Symbol symbol;
  if (find_register(name, symbol)) {
    switch (symbol.kind) {
      case Symbol::Kind::Register:
        out.kind = Operand::Kind::Register;
        out.index = symbol.index;
        if (lex_.peek() == '.') return parse_selector(out);
        return true;
      case Symbol::Kind::VectorRegister: {
        if (lex_.peek() == '.') {
          const Mark place = lex_.mark();
          const uint32_t component = component_of(lex_.directive());
          if (component >= symbol.count) return fail(place, "this vector register has no such component");
          out.kind = Operand::Kind::Register;
          out.index = symbol.index + component;
          return true;
        }
        if (whole == nullptr) return fail(at, fmt::format("vector register '{}' cannot stand here", name));
        out.kind = Operand::Kind::Vector;
        for (uint32_t i = 0; i < symbol.count; ++i) {
          Operand part;
          part.kind = Operand::Kind::Register;
          part.index = symbol.index + i;
          whole->parts.push_back(part);
        }
        return true;
      }
      case Symbol::Kind::Variable:
        out.kind = Operand::Kind::Variable;
        out.index = symbol.index;
        if (lex_.peek() == '+' || lex_.peek() == '-') return parse_integer(out.value);
        return true;
      default:
        return fail(at, fmt::format("'{}' cannot be an operand here", name));
    }
  }
  if (const Symbol* global = find_global(name)) {
    if (global->kind == Symbol::Kind::Function) {
      out.kind = Operand::Kind::Function;
      out.index = global->index;
      return true;
    }
    out.kind = Operand::Kind::Variable;
    out.is_module = true;
    out.index = global->index;
    if (lex_.peek() == '+' || lex_.peek() == '-') return parse_integer(out.value);
    return true;
  }
  if (name[0] == '%') {
    if (const auto special = find_special(name.substr(1))) {
      out.kind = Operand::Kind::Special;
      out.index = static_cast<uint32_t>(special->reg);
      out.value = special->number;
      if (!is_vector(special->reg)) return true;
      const Mark place = lex_.mark();
      const std::string_view component = lex_.directive();
      if (component.empty()) return expected("a component such as .x");
      const uint32_t index = component_of(component);
      if (index == kNone) return fail(place, fmt::format("'.{}' is not a component", component));
      out.component = uint16_t(index);
      return true;
    }
    return fail(at, fmt::format("register '{}' is not declared", name));
  }
  return fail(at, fmt::format("'{}' is not declared", name));
}

/// Moves the pending operands into the function's pool and appends the instruction.
void Parser::emit(Instruction& instruction) {
  auto& pool = function_->operands;
  for (size_t i = 0; i < operand_count_; ++i) {
    PendingOperand& operand = operands_[i];
    if (operand.parts.empty()) continue;
    operand.head.first = uint32_t(pool.size());
    operand.head.count = uint32_t(operand.parts.size());
    pool.insert(pool.end(), operand.parts.begin(), operand.parts.end());
  }
  instruction.first_operand = uint32_t(pool.size());
  instruction.operand_count = uint32_t(operand_count_);
  for (size_t i = 0; i < operand_count_; ++i) {
    const PendingOperand& operand = operands_[i];
    if (!operand.name.empty()) {
      LabelUse use;
      use.name = {operand.name, operand.mark};
      use.index = uint32_t(pool.size());
      use.where = operand.head.kind == Operand::Kind::Label         ? LabelUse::Where::Operand
                  : operand.head.kind == Operand::Kind::BranchTable ? LabelUse::Where::Table
                                                                    : LabelUse::Where::CallSet;
      scopes_.back().uses.push_back(use);
    }
    pool.push_back(operand.head);
  }
  function_->code.push_back(instruction);
}

}  // namespace sluice::ptx
