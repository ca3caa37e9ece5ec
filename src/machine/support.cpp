// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// See support.hpp.
#include "machine/support.hpp"

#include <algorithm>

#include "machine/bind.hpp"
#include "ptx/samples.hpp"
#include "ptx/table.hpp"

namespace sluice::machine {
namespace {

/// So many choices of modifiers per row.
constexpr size_t kVariants = 40;
/// ISA versions that the samples are written in: today's, and one that had what is gone since.
constexpr unsigned kToday = 91, kPast = 63;

struct Sample {
  uint16_t form = 0;
  std::string text;
};

std::vector<Sample> samples_of(bool past) {
  std::vector<Sample> samples;
  for (const ptx::Form& form : ptx::forms()) {
    if (!form.in_scope()) continue;
    for (const ptx::Mods& mods : ptx::variants(form, kVariants)) {
      if ((ptx::requirement(form, mods).removed_ptx != 0) != past) continue;
      // Generic addresses have 64 bits here, and so have pointers to the stack.
      const bool pointer = form.opcode == ptx::Opcode::cvta || form.opcode == ptx::Opcode::alloca ||
                           form.opcode == ptx::Opcode::stacksave || form.opcode == ptx::Opcode::stackrestore;
      if (pointer && mods.type() != ptx::ScalarType::u64) continue;
      samples.push_back({static_cast<uint16_t>(form.id), ptx::samples::statement(form, mods)});
    }
  }
  return samples;
}

/// Places for the variables of a samples' module; where they lie does not matter.
class AnyPlace final : public Symbols {
 public:
  uint64_t global_address(uint32_t) const override { return kArenaBase; }
  uint32_t shared_offset(const program::Function&, const ptx::Operand&) const override {
    return kReservedShared;
  }
  Result<uint32_t> function_index(uint32_t module_function) const override { return module_function; }
  bool is_entry_parameter(const program::Function& function, uint32_t variable) const override {
    const auto& params = function.source->params;
    return function.source->is_entry && std::any_of(params.begin(), params.end(),
                                                    [&](const ptx::Param& p) { return p.index == variable; });
  }
  uint32_t parameter_offset(const program::Function&, uint32_t) const override { return 0; }
  uint64_t function_address(uint32_t module_function) const override { return module_function + 1; }
};

/// What is said of each line of the kernel's samples: empty where its instructions are bound.
Result<std::vector<std::string>> bind_samples(const std::vector<Sample>& samples, unsigned version) {
  // A guard, so that what stands behind a branch or an end is still reached.
  std::vector<std::string> statements;
  for (const Sample& sample : samples) statements.push_back("@%p399 " + sample.text);
  const std::string target = version == kToday ? "sm_90a" : "sm_70";
  const std::string text = ptx::samples::module_with(statements, target, version);
  SLUICE_ASSIGN_OR_RETURN(const ptx::Module module, ptx::parse(text, "samples.ptx"));
  const auto kernel = std::find_if(module.functions.begin(), module.functions.end(),
                                   [](const ptx::Function& f) { return f.is_entry; });
  SLUICE_ASSIGN_OR_RETURN(const program::Function function,
                          program::lower(module, static_cast<uint32_t>(kernel - module.functions.begin())));
  BoundFunction out;
  const AnyPlace places;
  Binder binder(function, places, out);
  std::vector<std::string> refused(samples.size());
  for (uint32_t i = 0; i < function.code.size(); ++i) {
    const uint32_t at = function.code[i].line - ptx::samples::kFirstLine;
    if (at >= samples.size()) continue;
    binder.begin(i);
    const Bind bind = find_bind(function.code[i].op);
    const Result<Op> op =
        bind != nullptr ? bind(binder) : binder.unsupported("the engine does not execute this");
    if (!op.has_value()) refused[at] = op.error().message;
  }
  return refused;
}

}  // namespace

std::string_view spelling(Support support) {
  switch (support) {
    case Support::Executed:
      return "yes";
    case Support::Partly:
      return "partly";
    case Support::Missing:
      return "no";
    default:
      return "out of scope";
  }
}

std::vector<RowSupport> row_support() {
  std::vector<RowSupport> rows(ptx::forms().size());
  std::vector<size_t> asked(rows.size()), bound(rows.size());
  for (const bool past : {false, true}) {
    const std::vector<Sample> samples = samples_of(past);
    const Result<std::vector<std::string>> refused = bind_samples(samples, past ? kPast : kToday);
    for (size_t i = 0; i < samples.size(); ++i) {
      const uint16_t form = samples[i].form;
      const std::string why = refused ? (*refused)[i] : refused.error().text();
      ++asked[form];
      bound[form] += why.empty();
      if (!why.empty() && rows[form].refused.empty()) rows[form].refused = why;
    }
  }
  for (const ptx::Form& form : ptx::forms()) {
    if (!form.in_scope()) continue;
    const auto id = static_cast<size_t>(form.id);
    rows[id].support = bound[id] == asked[id] && asked[id] != 0 ? Support::Executed
                       : bound[id] != 0                         ? Support::Partly
                                                                : Support::Missing;
  }
  return rows;
}

}  // namespace sluice::machine
