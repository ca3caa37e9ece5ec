// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// `sluice`: parsing of the command line down to the subcommand.
#include "cli/entry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/program.hpp"

#ifndef SLUICE_VERSION
#error "the build says which version this is"
#endif

namespace sluice::cli {
namespace {

constexpr const char* kAbout =
    "Runs CUDA programs for NVIDIA Hopper GPUs (sm_90a) on the CPU.\n"
    "The program under test is not changed; it needs the shared CUDA runtime and embedded PTX.";

constexpr const char* kStatuses =
    "Exit status: the program's own when nothing was found; 101 a finding, 102 something the engine cannot\n"
    "execute, 103 not decided within a bound, 104 an error of the tool itself, 2 a wrong command line.\n";

/// A command line in two parts.
struct Split {
  std::vector<std::string> own;      ///< subcommand and options
  std::vector<std::string> program;  ///< the program under test with its arguments
};

// Whether `word` is an option of the command that takes the next word as its value.
bool takes_next(const CLI::App& command, const std::string& word) {
  if (word.find('=') != std::string::npos) return false;
  const bool attached = word.size() > 2 && word[1] != '-';
  const CLI::Option* option = command.get_option_no_throw(word);
  return !attached && option != nullptr && option->get_items_expected_max() > 0;
}

// The program begins at the first word that is neither an option nor an option's value. Options may stand
// behind what is no program too, such as a PTX file, which takes no arguments.
Split split_line(const Tool& tool, const std::vector<std::string>& words) {
  Split split{words, {}};
  for (const ProgramCommand& command : tool.program_commands) {
    if (words.empty() || command.app->get_name() != words[0]) continue;
    size_t at = 1;
    while (at < words.size() && words[at].size() > 1 && words[at][0] == '-' && words[at] != "--") {
      at += takes_next(*command.app, words[at]) ? 2 : 1;
    }
    at = std::min(at, words.size());
    const size_t begin = at < words.size() && words[at] == "--" ? at + 1 : at;
    split.own.assign(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(at));
    split.program.assign(words.begin() + static_cast<std::ptrdiff_t>(begin), words.end());
    if (split.program.size() > 1 && split.program[1][0] == '-' && is_no_program(split.program[0])) {
      split.own.insert(split.own.end(), split.program.begin() + 1, split.program.end());
      split.program.resize(1);
    }
  }
  return split;
}

// What the parser could not place, named.
std::string unknown_word(const CLI::App& app, const std::vector<std::string>& words) {
  const std::vector<const CLI::App*> ran = app.get_subcommands([](const CLI::App*) { return true; });
  const auto command =
      std::find_if(ran.begin(), ran.end(), [&](const CLI::App* sub) { return sub->get_name() == words[0]; });
  if (command == ran.end()) {
    return words[0][0] == '-' ? fmt::format("unknown option '{}'", words[0])
                              : fmt::format("unknown subcommand '{}'", words[0]);
  }
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string name = words[i].substr(0, words[i].find('='));
    if (name[0] == '-' && (*command)->get_option_no_throw(name) == nullptr)
      return fmt::format("unknown option '{}'", name);
    if (takes_next(**command, words[i])) ++i;
  }
  return fmt::format("one argument too many: '{}'", words.back());
}

}  // namespace

int run_tool(int argc, char** argv) {
  Tool tool;
  CLI::App& app = tool.app;
  app.name("sluice");
  app.description(kAbout);
  app.footer(kStatuses);
  app.formatter(std::make_shared<HelpFormat>("sluice COMMAND [options]"));
  app.set_version_flag("--version", "sluice " SLUICE_VERSION, "print the version");
  app.require_subcommand(1);
  add_run_command(tool);
  add_check_command(tool);
  add_timeline_command(tool);
  add_explain_command(tool);
  add_isa_command(tool);
  add_completion_command(tool);
  if (argc < 2) return usage_error("no command is named", "sluice");

  Split split = split_line(tool, {argv + 1, argv + argc});
  std::string command = "sluice";
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (sub->get_name() == split.own[0]) command += " " + sub->get_name();
  }
  for (const ProgramCommand& with_program : tool.program_commands) *with_program.program = split.program;
  // The parser reports by exceptions; they end here. It takes the words last first.
  try {
    app.parse(std::vector<std::string>(split.own.rbegin(), split.own.rend()));
  } catch (const CLI::CallForVersion& e) {
    return print_out(e.what() + std::string("\n"));
  } catch (const CLI::Success&) {
    return print_out(app.help());
  } catch (const CLI::ExtrasError&) {
    return usage_error(unknown_word(app, split.own), command);
  } catch (const CLI::ParseError& e) {
    std::string message = e.what();
    while (!message.empty() && (message.back() == '\n' || message.back() == '.')) message.pop_back();
    if (command == "sluice" && argv[1][0] != '-') message = fmt::format("unknown subcommand '{}'", argv[1]);
    return usage_error(message, command);
  }
  return tool.status;
}

}  // namespace sluice::cli
