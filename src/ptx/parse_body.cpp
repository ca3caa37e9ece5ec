// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies: scopes, declarations, labels, tables of branch and call targets. A scope is a `{ }`; names
// of an inner one hide those outside. References to labels are settled when their scope closes, from the
// inside out, so that a label may stand behind its use.
#include "ptx/parser.hpp"

#include <fmt/format.h>

#include <utility>

namespace sluice::ptx {
namespace {

constexpr size_t kMaxScopes = 1000;

/// Splits `%r12` into `%r` and 12. False without trailing digits, with a leading zero, or when out of range.
bool split_number(std::string_view name, std::string_view& prefix, uint32_t& number) {
  size_t begin = name.size();
  while (begin > 0 && name[begin - 1] >= '0' && name[begin - 1] <= '9') --begin;
  const size_t digits = name.size() - begin;
  if (digits == 0 || digits > 7 || (digits > 1 && name[begin] == '0')) return false;
  prefix = name.substr(0, begin);
  number = 0;
  for (size_t i = begin; i < name.size(); ++i) number = number * 10 + uint32_t(name[i] - '0');
  return true;
}

}  // namespace

// ---- scopes and symbols

void Parser::open_scope() {
  scopes_.emplace_back();
  scopes_.back().begin = lex_.mark();
}

bool Parser::define_local(std::string_view name, const Symbol& symbol, const Mark& at) {
  if (!scopes_.back().names.emplace(name, symbol).second)
    return fail(at, fmt::format("'{}' is already defined in this scope", name));
  return true;
}

const Symbol* Parser::find_local(std::string_view name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (const auto found = scope->names.find(name); found != scope->names.end()) return &found->second;
  return nullptr;
}

/// Finds a name of the function, numbered ones (`%r12` of `.reg .b32 %r<20>`) included.
bool Parser::find_register(std::string_view name, Symbol& out) const {
  std::string_view prefix;
  uint32_t number = 0;
  const bool numbered = split_number(name, prefix, number);
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const auto found = scope->names.find(name); found != scope->names.end()) {
      out = found->second;
      return true;
    }
    if (!numbered) continue;
    // `%r12` may belong to `%r<..>` or, rarely, to `%r1<..>`: try each split.
    std::string_view p = prefix;
    uint32_t n = number;
    for (size_t digits = name.size() - prefix.size();; --digits) {
      if (const auto found = scope->ranges.find(p); found != scope->ranges.end() && n < found->second.count) {
        out = found->second;
        out.index += n;
        out.count = 1;
        if (out.kind == Symbol::Kind::RegisterRange) out.kind = Symbol::Kind::Register;
        return true;
      }
      if (digits <= 1) break;
      p = name.substr(0, p.size() + 1);
      n = 0;
      for (size_t i = p.size(); i < name.size(); ++i) n = n * 10 + uint32_t(name[i] - '0');
      if (name[p.size()] == '0' && name.size() - p.size() > 1) break;
    }
  }
  return false;
}

bool Parser::close_scope() {
  Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  for (const LabelUse& use : scope.uses) {
    const bool is_label = use.where != LabelUse::Where::Table && use.where != LabelUse::Where::CallSet;
    if (is_label) {
      const auto found = scope.names.find(use.name.name);
      if (found != scope.names.end() && found->second.kind == Symbol::Kind::Label) {
        if (use.where == LabelUse::Where::BranchTable) {
          function_->branch_tables[use.index].labels[use.second] = found->second.index;
        } else {
          function_->operands[use.index].index = found->second.index;
        }
        continue;
      }
    } else if (const auto found = scope.tables.find(use.name.name); found != scope.tables.end()) {
      const NamedSet& set = named_sets_[found->second];
      const bool wants_table = use.where == LabelUse::Where::Table;
      if (wants_table != (set.kind == Operand::Kind::BranchTable))
        return fail(use.name.mark, fmt::format("'{}' is not {}", use.name.name,
                                               wants_table ? "a list of branch targets"
                                                           : "a call prototype or a list of call targets"));
      function_->operands[use.index].kind = set.kind;
      function_->operands[use.index].index = set.index;
      continue;
    }
    if (scopes_.empty())
      return fail(use.name.mark,
                  fmt::format("{} '{}' is not defined", is_label ? "label" : "table", use.name.name));
    scopes_.back().uses.push_back(use);
  }
  return true;
}

bool Parser::define_label(std::string_view name, const Mark& at) {
  Label label;
  label.name = name;
  label.target = uint32_t(function_->code.size());
  label.line = at.line;
  if (!define_local(name, {Symbol::Kind::Label, uint32_t(function_->labels.size()), 1}, at)) return false;
  function_->labels.push_back(std::move(label));
  return true;
}

// ---- bodies

bool Parser::parse_body(Function& function) {
  function_ = &function;
  current_loc_ = kNone;
  const Mark begin = lex_.mark();
  if (!expect('{')) return false;
  const size_t outer = scopes_.size();
  for (;;) {
    if (lex_.at_end()) return fail(begin, fmt::format("the body of '{}' has no closing '}}'", function.name));
    if (lex_.accept('{')) {
      if (scopes_.size() >= kMaxScopes) return fail("scopes are nested too deeply");
      open_scope();
      continue;
    }
    if (lex_.accept('}')) {
      if (!close_scope()) return false;
      if (scopes_.size() < outer) return true;
      continue;
    }
    if (!parse_statement()) return false;
  }
}

bool Parser::parse_statement() {
  const Mark at = lex_.mark();
  const char c = lex_.peek();
  if (c == '.') return parse_directive_of_body();
  if (c == ';') return lex_.accept(';');
  if (c == '@') return parse_instruction(at);
  // A label, or an instruction: look at the first word only.
  const std::string_view name = lex_.identifier();
  if (!name.empty() && lex_.peek() == ':' && lex_.peek(1) != ':') {
    (void)lex_.accept(':');
    return parse_labelled(name, at);
  }
  lex_.rewind(at);
  return parse_instruction(at);
}

bool Parser::parse_directive_of_body() {
  const Mark at = lex_.mark();
  Linkage linkage{};
  Mark ignored;
  if (!parse_linkage(linkage, ignored)) return false;
  const std::string_view word = lex_.peek_directive();
  if (word == "reg") {
    (void)lex_.directive();
    return parse_registers();
  }
  if (word == "loc") {
    (void)lex_.directive();
    return parse_loc();
  }
  if (word == "param" || word == "local" || word == "shared" || word == "shared::cta")
    return parse_variables(linkage, true);
  // Module variables may be declared inside a function; their life and address do not depend on it.
  if (word == "global" || word == "const") {
    return parse_variables(linkage, true);
  }
  if (word == "pragma") {
    (void)lex_.directive();
    do {
      std::string text;
      if (!lex_.string(text)) return expected("a string");
      function_->directives.pragmas.push_back(std::move(text));
    } while (lex_.accept(','));
    return expect(';');
  }
  if (word == "file") {
    (void)lex_.directive();
    return parse_file();
  }
  if (word == "section") {
    (void)lex_.directive();
    return parse_section();
  }
  return fail(at, fmt::format("unknown directive '.{}' inside a function", word));
}

/// What may follow `name:`.
bool Parser::parse_labelled(std::string_view name, const Mark& at) {
  const std::string_view word = lex_.peek_directive();
  if (word == "callprototype") {
    (void)lex_.directive();
    return parse_prototype(name);
  }
  if (word != "branchtargets" && word != "calltargets") return define_label(name, at);
  (void)lex_.directive();

  NamedSet set;
  if (word == "branchtargets") {
    set = {Operand::Kind::BranchTable, uint32_t(function_->branch_tables.size())};
    BranchTable table;
    table.name = name;
    do {
      const Mark place = lex_.mark();
      const std::string_view label = lex_.identifier();
      if (label.empty()) return expected("a label");
      // `L<4>` stands for L0 .. L3.
      uint32_t copies = 1;
      if (lex_.accept('<')) {
        return fail(place, "numbered label lists are not supported");
      }
      (void)copies;
      LabelUse use;
      use.name = {label, place};
      use.where = LabelUse::Where::BranchTable;
      use.index = set.index;
      use.second = uint32_t(table.labels.size());
      scopes_.back().uses.push_back(use);
      table.labels.push_back(kNone);
    } while (lex_.accept(','));
    function_->branch_tables.push_back(std::move(table));
  } else {
    set = {Operand::Kind::CallTargets, uint32_t(function_->call_targets.size())};
    CallTargets targets;
    targets.name = name;
    do {
      const Mark place = lex_.mark();
      const std::string_view callee = lex_.identifier();
      if (callee.empty()) return expected("a function's name");
      const Symbol* symbol = find_global(callee);
      if (symbol == nullptr || symbol->kind != Symbol::Kind::Function)
        return fail(place, fmt::format("function '{}' is not declared", callee));
      targets.functions.push_back(symbol->index);
    } while (lex_.accept(','));
    function_->call_targets.push_back(std::move(targets));
  }
  if (!expect(';')) return false;
  if (!scopes_.back().tables.emplace(name, uint32_t(named_sets_.size())).second)
    return fail(at, fmt::format("'{}' is already defined in this scope", name));
  named_sets_.push_back(set);
  return true;
}

/// `name: .callprototype (.param .b32 _) _ (.param .b64 _, .param .b64 _);`
bool Parser::parse_prototype(std::string_view name) {
  const Mark at = lex_.mark();
  // The parameter grammar is that of a function head; read one into a scratch function of its own scope.
  Function scratch;
  Function* const outer = std::exchange(function_, &scratch);
  open_scope();
  std::vector<Param> results;
  std::vector<Param> params;
  bool ok = true;
  if (lex_.peek() == '(') ok = parse_parameters(scratch, results);
  if (ok && lex_.identifier() != "_") ok = expected("'_' in the place of the function's name");
  if (ok && lex_.peek() == '(') ok = parse_parameters(scratch, params);
  scopes_.pop_back();
  function_ = outer;
  if (!ok) return false;

  Prototype prototype;
  prototype.name = name;
  const auto take = [&](const std::vector<Param>& from, std::vector<Variable>& to) {
    for (const Param& param : from) {
      if (!param.is_reg) {
        to.push_back(scratch.variables[param.index]);
        continue;
      }
      Variable variable;
      variable.name = scratch.regs[param.index].name;
      variable.space = Space::reg;
      variable.type = scratch.regs[param.index].type;
      variable.size = variable.align = size_of(variable.type);
      to.push_back(std::move(variable));
    }
  };
  take(results, prototype.results);
  take(params, prototype.params);
  while (!lex_.peek_directive().empty()) {
    const std::string_view word = lex_.peek_directive();
    if (word == "noreturn") {
      prototype.is_noreturn = true;
      (void)lex_.directive();
    } else if (word == "abi_preserve" || word == "abi_preserve_control") {
      uint32_t ignored = 0;
      (void)lex_.directive();
      if (!parse_directive_numbers(&ignored, 1)) return false;
    } else {
      return expected("';'");
    }
  }
  if (!expect(';')) return false;
  if (!scopes_.back().tables.emplace(name, uint32_t(named_sets_.size())).second)
    return fail(at, fmt::format("'{}' is already defined in this scope", name));
  named_sets_.push_back({Operand::Kind::Prototype, uint32_t(function_->prototypes.size())});
  function_->prototypes.push_back(std::move(prototype));
  return true;
}

}  // namespace sluice::ptx
