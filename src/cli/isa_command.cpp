// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// `sluice isa`: the instruction table, with what the engine executes of it.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command.hpp"
#include "machine/support.hpp"
#include "ptx/table.hpp"

namespace sluice::cli {
namespace {

struct IsaArguments {
  std::string pattern;
  bool missing = false;
  bool json = false;
};

std::string target(const ptx::SmVersion& sm) {
  std::string text = fmt::format("sm_{}", sm.number);
  if (sm.suffix != 0) text += sm.suffix;
  return text;
}

using Row = std::pair<const ptx::Form*, machine::RowSupport>;

bool is_refused(const machine::RowSupport& row) {
  return row.support == machine::Support::Partly || row.support == machine::Support::Missing;
}

/// What is not executed at all gives no result that could be exact.
std::string_view exactness(const ptx::Form& form, const machine::RowSupport& row) {
  return row.support == machine::Support::Missing ? "-" : ptx::spelling(form.exactness);
}

/// The rows that are asked for, in the table's order.
std::vector<Row> selected_rows(const IsaArguments& arguments) {
  const std::vector<machine::RowSupport> supported = machine::row_support();
  std::vector<Row> rows;
  for (const ptx::Form& form : ptx::forms()) {
    const machine::RowSupport& row = supported[static_cast<size_t>(form.id)];
    const bool matches = ptx::syntax(form).find(arguments.pattern) != std::string::npos ||
                         ptx::spelling(form.family).find(arguments.pattern) != std::string_view::npos;
    if (matches && (!arguments.missing || is_refused(row))) rows.emplace_back(&form, row);
  }
  return rows;
}

std::string as_json(const std::vector<Row>& rows) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [form, row] : rows) {
    list.push_back({{"name", form->name},
                    {"syntax", ptx::syntax(*form)},
                    {"family", ptx::spelling(form->family)},
                    {"ptx", fmt::format("{}.{}", form->ptx / 10, form->ptx % 10)},
                    {"target", target(form->sm)},
                    {"exactness", exactness(*form, row)},
                    {"section", form->section},
                    {"executed", machine::spelling(row.support)},
                    {"refused", row.refused}});
  }
  return nlohmann::json{{"format", 1}, {"rows", std::move(list)}}.dump(2) + "\n";
}

std::string as_text(const std::vector<Row>& rows, bool missing) {
  std::string text;
  std::string_view family;
  size_t counts[4] = {};
  for (const auto& [form, row] : rows) {
    ++counts[static_cast<size_t>(row.support)];
    if (family != ptx::spelling(form->family)) {
      family = ptx::spelling(form->family);
      text += fmt::format("\n{}\n", family);
    }
    text += fmt::format("  {:<12}  ", machine::spelling(row.support));
    if (!missing) text += fmt::format("{:<14}  ", exactness(*form, row));
    text += fmt::format("{:<8}  {}\n", target(form->sm), ptx::syntax(*form));
    if (is_refused(row)) text += fmt::format("                refused: {}\n", row.refused);
  }
  return text + fmt::format(
                    "\n{} rows executed, {} in part, {} missing, {} out of scope (textures, surfaces, "
                    "graphics, other architectures)\n",
                    counts[0], counts[1], counts[2], counts[3]);
}

int print_isa(const IsaArguments& arguments) {
  const std::vector<Row> rows = selected_rows(arguments);
  if (rows.empty() && !arguments.missing)
    return usage_error(fmt::format("no instruction contains '{}'", arguments.pattern), "sluice isa");
  return print_out(arguments.json ? as_json(rows) : as_text(rows, arguments.missing));
}

}  // namespace

void add_isa_command(Tool& tool) {
  auto arguments = std::make_shared<IsaArguments>();
  CLI::App* isa = tool.app.add_subcommand("isa", "list the PTX instructions and what the engine executes");
  isa->formatter(std::make_shared<HelpFormat>("sluice isa [options] [PATTERN]"));
  isa->footer(
      "Columns: executed, exactness of the result (not with --missing), target that the ISA asks for, "
      "syntax.\n");
  isa->add_option("PATTERN", arguments->pattern, "only rows whose syntax or family contains this");
  isa->add_flag("--missing", arguments->missing, "only what is not executed");
  isa->add_flag("--json", arguments->json, "as JSON");
  isa->final_callback([arguments, &tool] { tool.status = print_isa(*arguments); });
}

}  // namespace sluice::cli
