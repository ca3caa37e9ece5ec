// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// `sluice explain`: the page of a finding, on stdout.
#include <fmt/format.h>

#include <algorithm>

#include "check/pages.hpp"
#include "cli/command.hpp"

namespace sluice::cli {
namespace {

int explain(const std::string& name) {
  const auto pages = check::pages();
  if (name.empty()) {
    std::string names;
    for (const check::Page& page : pages) names += fmt::format("{}\n", page.name);
    return print_out(names);
  }
  const auto found =
      std::find_if(pages.begin(), pages.end(), [&](const check::Page& page) { return page.name == name; });
  if (found == pages.end()) {
    return usage_error(fmt::format("no finding is called '{}'; without a name the command lists them", name),
                       "sluice explain");
  }
  return print_out(found->text);
}

}  // namespace

void add_explain_command(Tool& tool) {
  auto name = std::make_shared<std::string>();
  CLI::App* command = tool.app.add_subcommand("explain", "say what a finding means");
  command->formatter(std::make_shared<HelpFormat>("sluice explain [NAME]"));
  command->add_option("NAME", *name,
                      "the finding, as it stands in brackets; without it their names are listed");
  command->final_callback([name, &tool] { tool.status = explain(*name); });
}

}  // namespace sluice::cli
