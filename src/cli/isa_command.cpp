// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// `sluice isa`: the instruction table, with what the engine executes of it.
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "machine/support.hpp"
#include "ptx/table.hpp"

namespace sluice::cli {
namespace {

struct IsaArguments {
  bool missing = false;
  bool json = false;
};

std::string target(const ptx::SmVersion& sm) {
  std::string text = fmt::format("sm_{}", sm.number);
  if (sm.suffix != 0) text += sm.suffix;
  return text;
}

int print_isa(const IsaArguments& arguments) {
  nlohmann::json rows = nlohmann::json::array();
  size_t counts[4] = {};
  const std::vector<machine::RowSupport> supported = machine::row_support();
  std::string_view family;
  for (const ptx::Form& form : ptx::forms()) {
    const auto& [support, refused] = supported[static_cast<size_t>(form.id)];
    ++counts[static_cast<size_t>(support)];
    const bool missing = support == machine::Support::Partly || support == machine::Support::Missing;
    if (arguments.missing && !missing) continue;
    if (arguments.json) {
      rows.push_back({{"name", form.name},
                      {"syntax", ptx::syntax(form)},
                      {"family", ptx::spelling(form.family)},
                      {"ptx", fmt::format("{}.{}", form.ptx / 10, form.ptx % 10)},
                      {"target", target(form.sm)},
                      {"exactness", ptx::spelling(form.exactness)},
                      {"section", form.section},
                      {"executed", machine::spelling(support)},
                      {"refused", refused}});
      continue;
    }
    if (family != ptx::spelling(form.family)) {
      family = ptx::spelling(form.family);
      fmt::print("\n{}\n", family);
    }
    fmt::print("  {:<12}  {:<14}  {:<8}  {}\n", machine::spelling(support), ptx::spelling(form.exactness),
               target(form.sm), ptx::syntax(form));
    if (missing) fmt::print("                refused: {}\n", refused);
  }
  if (arguments.json) {
    fmt::print("{}\n", nlohmann::json{{"format", 1}, {"rows", std::move(rows)}}.dump(2));
    return 0;
  }
  fmt::print(
      "\n{} rows executed, {} in part, {} missing, {} out of scope (textures, surfaces, graphics, other "
      "architectures)\n",
      counts[0], counts[1], counts[2], counts[3]);
  return 0;
}

}  // namespace

void add_isa_command(Tool& tool) {
  auto arguments = std::make_shared<IsaArguments>();
  CLI::App* isa = tool.app.add_subcommand("isa", "list the PTX instructions and what the engine executes");
  isa->formatter(std::make_shared<HelpFormat>("sluice isa [options]"));
  isa->footer("Columns: executed, exactness of the result, target that the ISA asks for, syntax.\n");
  isa->add_flag("--missing", arguments->missing, "only what is not executed");
  isa->add_flag("--json", arguments->json, "as JSON");
  isa->final_callback([arguments, &tool] { tool.status = print_isa(*arguments); });
}

}  // namespace sluice::cli
