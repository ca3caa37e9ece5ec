// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The parser's state, shared by the parse_*.cpp files: one pass over the text, symbols by scope, forward
// references settled at the end of the function or of the module. Functions return false after the first
// error, which is kept.
#pragma once

#include "ptx/ast.hpp"
#include "ptx/lexer.hpp"
#include "ptx/table.hpp"

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace sluice::ptx {

/// What a name means.
struct Symbol {
  enum class Kind : uint8_t {
    Register,
    RegisterRange,
    VectorRegister,
    Variable,
    ModuleVariable,
    Function,
    Label
  };
  Kind kind{};
  uint32_t index = 0;  ///< of the register (first of a range or vector), variable, function or label
  uint32_t count = 1;  ///< registers of a range or vector
};

/// An operand while its instruction is being read: the head, its parts not yet in the function's pool.
struct PendingOperand {
  Operand head;
  std::vector<Operand> parts;
  std::string_view name;  ///< of a label or table, settled later
  Mark mark;
};

/// An instruction word already understood: opcode, modifiers, and the rows whose modifiers fit.
struct KnownWord {
  Opcode opcode{};
  struct Candidate {
    uint16_t form = 0;
    Mods mods;
  };
  std::vector<Candidate> candidates;
};

/// A name that was used before it was defined.
struct PendingName {
  std::string_view name;
  Mark mark;
};

class Parser {
 public:
  Parser(std::string_view text, std::string_view name);
  [[nodiscard]] Result<Module> run();

 private:
  // ---- errors
  bool fail(const Mark& at, std::string_view message);
  bool fail(std::string_view message) { return fail(lex_.mark(), message); }
  bool expected(std::string_view what);
  bool expect(char c);

  // ---- parse_module.cpp: directives outside function bodies
  bool parse_statement_of_module();
  bool parse_version();
  bool parse_target();
  bool parse_address_size();
  bool parse_alias();
  bool parse_function(bool is_entry, Linkage linkage, const Mark& at);
  bool parse_function_signature(Function& function);
  bool parse_parameters(Function& function, std::vector<Param>& out);
  bool parse_function_directives(Function& function);
  bool parse_directive_numbers(uint32_t* out, size_t capacity);
  bool finish_module();
  bool merge_function(Function&& function, const Mark& at);
  bool parse_linkage(Linkage& linkage, Mark& at);

  // ---- parse_variable.cpp
  bool parse_variables(Linkage linkage, bool in_function);
  bool parse_variable_head(Variable& variable, bool is_parameter);
  bool parse_variable_name_and_dims(Variable& variable);
  bool parse_initialiser(Variable& variable);
  bool parse_initialiser_level(Variable& variable, size_t level, uint64_t element);
  bool parse_initialiser_value(Variable& variable, uint64_t element);
  bool store(Variable& variable, uint64_t offset, uint64_t value, uint32_t size);
  bool parse_attribute(bool& is_managed, bool& is_unified);
  bool finish_size(Variable& variable, const Mark& at);
  bool parse_registers();

  // ---- parse_expression.cpp: integer constant expressions, folded
  bool parse_expression(Literal& out);
  bool parse_ternary(Literal& out);
  bool parse_binary(Literal& out, int min_precedence);
  bool parse_unary(Literal& out);
  bool parse_integer(int64_t& out);
  bool parse_unsigned(uint32_t& out, std::string_view what);

  // ---- parse_body.cpp: function bodies
  bool parse_body(Function& function);
  bool parse_statement();
  bool parse_directive_of_body();
  bool parse_labelled(std::string_view name, const Mark& at);
  bool parse_prototype(std::string_view name);
  bool define_label(std::string_view name, const Mark& at);
  void open_scope();
  bool close_scope();

  // ---- parse_instruction.cpp
  bool parse_instruction(const Mark& begin);
  bool parse_guard(Guard& guard);
  const KnownWord* understand(std::string_view word, const Mark& at);
  bool parse_operands(Opcode opcode);
  bool parse_operand(PendingOperand& out);
  bool parse_leaf(Operand& out, PendingOperand* whole);
  bool parse_named_leaf(Operand& out, std::string_view name, const Mark& at, PendingOperand* whole);
  bool parse_address(PendingOperand& out);
  bool parse_vector(PendingOperand& out, char close);
  bool parse_selector(Operand& out);
  bool parse_branch(Opcode opcode);
  bool parse_call();
  void emit(Instruction& instruction);
  PendingOperand& new_operand();

  // ---- match.cpp: operands against a row
  bool match(const KnownWord& word, Instruction& instruction, const Mark& begin, std::string_view text);
  bool fits(const Form& form, const Mods& mods, std::string* why, Mark* where);
  bool operand_fits(const Form& form, const OperandSpec& spec, const Mods& mods, PendingOperand& operand,
                    std::string* why);
  bool leaf_fits(const OperandSpec& spec, ScalarType type, Operand& leaf, std::string* why);
  bool register_fits(const OperandSpec& spec, ScalarType type, const Operand& leaf, std::string* why);
  [[nodiscard]] bool target_allows(const Form& form, const Mods& mods, std::string* why) const;

  // ---- line_table.cpp
  bool parse_file();
  bool parse_loc();
  bool parse_section();
  bool parse_section_data();
  void finish_lines();

  // ---- symbols
  [[nodiscard]] const Symbol* find_local(std::string_view name) const;
  [[nodiscard]] bool find_register(std::string_view name, Symbol& out) const;
  [[nodiscard]] const Symbol* find_global(std::string_view name) const;
  bool define_local(std::string_view name, const Symbol& symbol, const Mark& at);
  bool define_global(std::string_view name, const Symbol& symbol, const Mark& at);

  struct LabelUse {
    PendingName name;
    enum class Where : uint8_t { Operand, Table, BranchTable, CallSet } where{};
    uint32_t index = 0;   ///< operand in the pool, or branch table
    uint32_t second = 0;  ///< entry of the branch table
  };
  struct Scope {
    std::unordered_map<std::string_view, Symbol> names;
    std::unordered_map<std::string_view, Symbol> ranges;  ///< `%r<9>`: by prefix
    std::unordered_map<std::string_view, uint32_t>
        tables;                  ///< branch tables, target sets, prototypes, see kinds
    std::vector<LabelUse> uses;  ///< not settled yet
    Mark begin;
  };
  struct RelocationUse {
    uint32_t variable = 0;
    uint32_t relocation = 0;
    PendingName name;
  };
  struct AliasUse {
    uint32_t function = 0;
    PendingName target;
  };

  /// What is written by name in front of a `:` and is not a label.
  struct NamedSet {
    Operand::Kind kind{};  ///< BranchTable, CallTargets, Prototype
    uint32_t index = 0;
  };

  Lexer lex_;
  Module module_;
  Error error_;
  bool failed_ = false;

  std::unordered_map<std::string_view, Symbol> globals_;
  std::vector<RelocationUse> relocation_uses_;
  std::vector<AliasUse> alias_uses_;
  uint64_t registers_ = 0;         ///< of the module so far, bounded
  uint64_t initialised_ = 0;       ///< bytes of initialisers so far, bounded
  std::vector<uint64_t> extents_;  ///< of the initialiser being read

  // Of the function being read.
  Function* function_ = nullptr;
  std::vector<Scope> scopes_;
  std::vector<NamedSet> named_sets_;
  std::vector<PendingOperand> operands_;
  size_t operand_count_ = 0;
  bool applying_ = false;      ///< fits() may rewrite the operands into the row's shape
  bool unified_seen_ = false;  ///< `[a].unified`
  std::unordered_map<std::string, KnownWord> words_;
  std::string joined_;
  std::string key_;

  // Line tables.
  uint32_t current_loc_ = kNone;
  std::unordered_map<uint32_t, uint32_t> file_index_;
  struct LocationKey {
    uint32_t file, line, column, name, inlined;
    auto operator<=>(const LocationKey&) const = default;
  };
  uint32_t intern(const LocationKey& key);
  uint32_t inlined_in_comment(std::string_view rest, const LocationKey& own);
  static constexpr uint32_t kFirstPathNumber = 0x8000'0000;  ///< numbers of files that only comments name
  std::vector<std::string> comment_paths_;
  std::unordered_map<std::string, uint32_t> comment_path_index_;
  std::map<LocationKey, uint32_t> location_index_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> last_place_;  ///< newest location of a place
  std::map<std::pair<std::string_view, int64_t>, uint32_t> name_index_;      ///< of (label, offset)
  std::vector<std::pair<std::string_view, int64_t>> name_places_;            ///< parallel to Module::names
  std::unordered_map<std::string_view, uint64_t> debug_labels_;              ///< offsets in debug_str_
  std::string debug_str_;
};

}  // namespace sluice::ptx
