// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The outer level of a PTX module: version and target, function heads, linkage, aliases, and what is settled
// at the end of the text.
#include "ptx/parser.hpp"

#include <fmt/format.h>

#include <utility>

namespace sluice::ptx {

Parser::Parser(std::string_view text, std::string_view name) : lex_(text, name) {
  module_.name = name;
  module_.text = text;
}

// ---- errors

bool Parser::fail(const Mark& at, std::string_view message) {
  if (!failed_) error_ = lex_.error(at, message);
  failed_ = true;
  return false;
}

bool Parser::expected(std::string_view what) {
  return fail(fmt::format("expected {}, found {}", what, lex_.next_for_people()));
}

bool Parser::expect(char c) {
  if (lex_.accept(c)) return true;
  const char quoted[] = {'\'', c, '\'', '\0'};
  return expected(quoted);
}

// ---- symbols

const Symbol* Parser::find_global(std::string_view name) const {
  const auto found = globals_.find(name);
  return found == globals_.end() ? nullptr : &found->second;
}

bool Parser::define_global(std::string_view name, const Symbol& symbol, const Mark& at) {
  if (!globals_.emplace(name, symbol).second) return fail(at, fmt::format("'{}' is already defined", name));
  return true;
}

// ---- the loop

Result<Module> Parser::run() {
  if (lex_.text().size() > 0x7fffffffu) return Error{"PTX text is larger than 2 GiB", module_.name};
  if (lex_.peek_directive() != "version") {
    (void)expected("'.version'");
    return error_;
  }
  while (!failed_ && !lex_.at_end()) (void)parse_statement_of_module();
  if (!failed_) (void)finish_module();
  if (failed_) return error_;
  return std::move(module_);
}

bool Parser::parse_linkage(Linkage& linkage, Mark& at) {
  at = lex_.mark();
  linkage = Linkage::none;
  for (;;) {
    const std::string_view word = lex_.peek_directive();
    Linkage next{};
    if (word == "visible") {
      next = Linkage::visible;
    } else if (word == "extern") {
      next = Linkage::external;
    } else if (word == "weak") {
      next = Linkage::weak;
    } else if (word == "common") {
      next = Linkage::common;
    } else {
      return true;
    }
    if (linkage != Linkage::none)
      return fail("only one of .visible, .extern, .weak and .common may be given");
    linkage = next;
    (void)lex_.directive();
  }
}

bool Parser::parse_statement_of_module() {
  Linkage linkage{};
  Mark at;
  if (!parse_linkage(linkage, at)) return false;
  const std::string_view word = lex_.peek_directive();
  if (word.empty()) return expected("a directive");

  // Functions and variables may carry a linkage.
  if (word == "entry" || word == "func") {
    (void)lex_.directive();
    return parse_function(word == "entry", linkage, at);
  }
  if (word == "global" || word == "const" || word == "shared" || word == "shared::cta" || word == "tex")
    return parse_variables(linkage, false);
  if (linkage != Linkage::none) return expected("a function or a variable");

  if (word == "loc" || word == "file" || word == "section") {
    (void)lex_.directive();
    return word == "loc" ? parse_loc() : word == "file" ? parse_file() : parse_section();
  }
  if (word == "version") return parse_version();
  if (word == "target") return parse_target();
  if (word == "address_size") return parse_address_size();
  if (word == "alias") return parse_alias();
  if (word == "pragma") {
    (void)lex_.directive();
    std::string ignored;
    do {
      if (!lex_.string(ignored)) return expected("a string");
    } while (lex_.accept(','));
    return expect(';');
  }
  return fail(fmt::format("unknown directive '.{}' outside a function", word));
}

bool Parser::parse_version() {
  const Mark at = lex_.mark();
  (void)lex_.directive();
  // "9.0" reads as one floating-point literal; take it apart by hand.
  const std::string_view rest = lex_.text().substr(lex_.mark().offset);
  uint32_t part[2] = {0, 0};
  size_t i = 0;
  for (int p = 0; p < 2; ++p) {
    const size_t begin = i;
    while (i < rest.size() && rest[i] >= '0' && rest[i] <= '9' && i - begin < 4)
      part[p] = part[p] * 10 + uint32_t(rest[i++] - '0');
    if (i == begin) return expected("a version such as 8.5");
    if (p == 0 && (i >= rest.size() || rest[i++] != '.')) return expected("a version such as 8.5");
  }
  Literal ignored;
  if (!lex_.literal(ignored)) return expected("a version such as 8.5");
  if (module_.version_major != 0) {
    // Several modules pasted together (nvcc's -keep of some wrappers does it) would redefine everything.
    return fail(at, "'.version' may stand only once, in front of everything");
  }
  if (part[0] == 0) return fail(at, "PTX version 0 does not exist");
  module_.version_major = uint16_t(part[0]);
  module_.version_minor = uint16_t(part[1]);
  return true;
}

bool Parser::parse_target() {
  (void)lex_.directive();
  bool has_architecture = false;
  do {
    const Mark at = lex_.mark();
    const std::string_view word = lex_.identifier();
    if (word.empty()) return expected("a target such as sm_90a");
    if (!word.starts_with("sm_") && !word.starts_with("compute_")) {
      module_.target.options.emplace_back(word);
      continue;
    }
    if (has_architecture) return fail(at, "only one architecture may be given");
    has_architecture = true;
    module_.target.name = word;
    std::string_view digits = word.substr(word.find('_') + 1);
    if (!digits.empty() && (digits.back() == 'a' || digits.back() == 'f')) {
      module_.target.suffix = digits.back();
      digits.remove_suffix(1);
    }
    uint32_t number = 0;
    for (char c : digits) {
      if (c < '0' || c > '9' || number > 999) return fail(at, fmt::format("unknown target '{}'", word));
      number = number * 10 + uint32_t(c - '0');
    }
    if (digits.empty()) return fail(at, fmt::format("unknown target '{}'", word));
    module_.target.sm = number;
  } while (lex_.accept(','));
  return true;
}

bool Parser::parse_address_size() {
  (void)lex_.directive();
  const Mark at = lex_.mark();
  if (!parse_unsigned(module_.address_size, "32 or 64")) return false;
  if (module_.address_size != 32 && module_.address_size != 64)
    return fail(at, "address size must be 32 or 64");
  return true;
}

bool Parser::parse_alias() {
  (void)lex_.directive();
  const Mark at = lex_.mark();
  const std::string_view name = lex_.identifier();
  if (name.empty()) return expected("a function's name");
  const Symbol* symbol = find_global(name);
  if (symbol == nullptr || symbol->kind != Symbol::Kind::Function)
    return fail(at, fmt::format("alias '{}' is not declared as a function", name));
  if (!expect(',')) return false;
  const Mark place = lex_.mark();
  const std::string_view target = lex_.identifier();
  if (target.empty()) return expected("a function's name");
  alias_uses_.push_back({symbol->index, {target, place}});
  return expect(';');
}

// ---- function heads

bool Parser::parse_parameters(Function& function, std::vector<Param>& out) {
  if (!expect('(')) return false;
  if (lex_.accept(')')) return true;
  do {
    if (lex_.accept_directive("reg")) {
      const Mark place = lex_.mark();
      const std::string_view word = lex_.directive();
      Variable shape;
      Mark at = lex_.mark();
      ScalarType type = ScalarType::none;
      for (uint8_t t = 0; t <= uint8_t(ScalarType::pred); ++t)
        if (spelling(static_cast<ScalarType>(t)) == word) type = static_cast<ScalarType>(t);
      if (type == ScalarType::none) return fail(place, "expected a register type");
      const std::string_view name = lex_.identifier();
      if (name.empty()) return expected("a name");
      if (!define_local(name, {Symbol::Kind::Register, uint32_t(function.regs.size()), 1}, at)) return false;
      out.push_back({true, uint32_t(function.regs.size())});
      function.regs.push_back({type, std::string(name)});
      continue;
    }
    Variable variable;
    variable.align = 0;
    variable.space = Space::param;
    if (!parse_variable_head(variable, true)) return false;
    if (variable.space != Space::param) return fail("a parameter lies in state space .param or .reg");
    const Mark at = lex_.mark();
    if (!parse_variable_name_and_dims(variable)) return false;
    const std::string_view name = lex_.text().substr(at.offset, variable.name.size());
    // `_` may stand for several parameters of a declaration.
    if (name != "_" &&
        !define_local(name, {Symbol::Kind::Variable, uint32_t(function.variables.size()), 1}, at))
      return false;
    out.push_back({false, uint32_t(function.variables.size())});
    function.variables.push_back(std::move(variable));
  } while (lex_.accept(','));
  return expect(')');
}

bool Parser::parse_function_signature(Function& function) {
  function.line = lex_.line();
  if (lex_.accept_directive("attribute")) {
    bool is_managed = false;
    if (!parse_attribute(is_managed, function.directives.unified)) return false;
  }
  if (lex_.peek() == '(' && !function.is_entry && !parse_parameters(function, function.results)) return false;
  const std::string_view name = lex_.identifier();
  if (name.empty()) return expected("a function's name");
  function.name = name;
  if (lex_.peek() == '(') return parse_parameters(function, function.params);
  return true;
}

bool Parser::parse_directive_numbers(uint32_t* out, size_t capacity) {
  size_t n = 0;
  do {
    if (n == capacity) return fail("too many extents");
    if (!parse_unsigned(out[n++], "a number")) return false;
  } while (lex_.accept(','));
  // Extents that are left out are 1.
  if (capacity == 3)
    for (; n < capacity; ++n) out[n] = 1;
  return true;
}

bool Parser::parse_function_directives(Function& function) {
  Directives& d = function.directives;
  for (;;) {
    const Mark at = lex_.mark();
    const std::string_view word = lex_.peek_directive();
    if (word.empty()) return true;
    (void)lex_.directive();
    if (word == "maxntid") {
      if (!parse_directive_numbers(d.maxntid.data(), 3)) return false;
    } else if (word == "reqntid") {
      if (!parse_directive_numbers(d.reqntid.data(), 3)) return false;
    } else if (word == "reqnctapercluster") {
      if (!parse_directive_numbers(d.reqnctapercluster.data(), 3)) return false;
    } else if (word == "minnctapersm") {
      if (!parse_directive_numbers(&d.minnctapersm, 1)) return false;
    } else if (word == "maxnctapersm") {
      if (!parse_directive_numbers(&d.maxnctapersm, 1)) return false;
    } else if (word == "maxnreg") {
      if (!parse_directive_numbers(&d.maxnreg, 1)) return false;
    } else if (word == "maxclusterrank") {
      if (!parse_directive_numbers(&d.maxclusterrank, 1)) return false;
    } else if (word == "explicitcluster") {
      d.explicitcluster = true;
    } else if (word == "blocksareclusters") {
      d.blocksareclusters = true;
    } else if (word == "noreturn") {
      d.noreturn = true;
    } else if (word == "abi_preserve" || word == "abi_preserve_control") {
      uint32_t ignored = 0;
      if (!parse_directive_numbers(&ignored, 1)) return false;
    } else if (word == "pragma") {
      do {
        std::string text;
        if (!lex_.string(text)) return expected("a string");
        d.pragmas.push_back(std::move(text));
      } while (lex_.accept(','));
      if (!expect(';')) return false;
    } else {
      return fail(at, fmt::format("unknown directive '.{}' of a function", word));
    }
  }
}

/// Puts a declaration or definition into the module, merging it with an earlier declaration.
bool Parser::merge_function(Function&& function, const Mark& at) {
  const size_t name_size = function.name.size();
  (void)name_size;
  const auto found = globals_.find(std::string_view(function.name));
  if (found == globals_.end()) return fail(at, "internal: function was not announced");
  Function& known = module_.functions[found->second.index];
  if (known.is_defined && function.is_defined)
    return fail(at, fmt::format("function '{}' is already defined", function.name));
  if (known.is_entry != function.is_entry)
    return fail(at, fmt::format("'{}' is declared both as .entry and as .func", function.name));
  if (known.is_defined) return true;
  // The later head wins; a definition always does.
  const Linkage linkage = function.linkage == Linkage::none ? known.linkage : function.linkage;
  const std::string alias = known.alias_of;
  const bool noreturn = known.directives.noreturn;
  known = std::move(function);
  known.linkage = linkage;
  known.alias_of = alias;
  known.directives.noreturn |= noreturn;
  return true;
}

bool Parser::parse_function(bool is_entry, Linkage linkage, const Mark& at) {
  Function function;
  function.is_entry = is_entry;
  function.linkage = linkage;
  function_ = &function;
  scopes_.clear();
  named_sets_.clear();
  open_scope();
  if (!parse_function_signature(function)) return false;

  // Announce the name first: a function may call itself and take its own address. The text outlives the
  // table.
  std::string_view key;
  if (const auto found = globals_.find(std::string_view(function.name)); found != globals_.end()) {
    if (found->second.kind != Symbol::Kind::Function)
      return fail(at, fmt::format("'{}' is already defined", function.name));
  } else {
    const size_t where = lex_.text().find(function.name, at.offset);
    key = lex_.text().substr(where, function.name.size());
    globals_.emplace(key, Symbol{Symbol::Kind::Function, uint32_t(module_.functions.size()), 1});
    Function announced;
    announced.name = function.name;
    announced.is_entry = is_entry;
    announced.linkage = linkage;
    module_.functions.push_back(std::move(announced));
  }

  if (!parse_function_directives(function)) return false;
  if (lex_.accept(';')) {
    scopes_.clear();
    function_ = nullptr;
    return merge_function(std::move(function), at);
  }
  if (lex_.peek() != '{') return expected("'{' or ';'");
  function.is_defined = true;
  if (!parse_body(function)) return false;
  function_ = nullptr;
  return merge_function(std::move(function), at);
}

// ---- the end

bool Parser::finish_module() {
  if (module_.target.name.empty())
    return fail("expected '.target' somewhere in the module, found end of file");
  for (const RelocationUse& use : relocation_uses_) {
    const Symbol* symbol = find_global(use.name.name);
    if (symbol == nullptr) return fail(use.name.mark, fmt::format("'{}' is not defined", use.name.name));
    Relocation& relocation = module_.variables[use.variable].relocations[use.relocation];
    relocation.index = symbol->index;
    relocation.target =
        symbol->kind == Symbol::Kind::Function ? Relocation::Target::Function : Relocation::Target::Variable;
  }
  for (const AliasUse& use : alias_uses_) {
    const Symbol* symbol = find_global(use.target.name);
    if (symbol == nullptr || symbol->kind != Symbol::Kind::Function)
      return fail(use.target.mark, fmt::format("'{}' is not a function", use.target.name));
    if (symbol->index == use.function) return fail(use.target.mark, "a function cannot be its own alias");
    module_.functions[use.function].alias_of = use.target.name;
  }
  finish_lines();
  return true;
}

Result<Module> parse(std::string_view text, std::string_view name) {
  return Parser(text, name).run();
}

const Function* Module::find_function(std::string_view wanted) const {
  for (const Function& function : functions)
    if (function.name == wanted) return &function;
  return nullptr;
}

const Variable* Module::find_variable(std::string_view wanted) const {
  for (const Variable& variable : variables)
    if (variable.name == wanted) return &variable;
  return nullptr;
}

}  // namespace sluice::ptx
