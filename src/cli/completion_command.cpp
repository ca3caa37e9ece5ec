// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// `sluice completion bash|zsh`: a script for the shell, made from the parser itself so that it cannot lag
// behind.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "cli/command.hpp"

namespace sluice::cli {
namespace {

std::string option_words(const CLI::App& command) {
  std::string words;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) words += "--" + name + " ";
  }
  return words;
}

// "WHEN:{early,late}" -> "early late"; empty where the option takes other values.
std::string choices(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t begin = type.find('{'), end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos) return "";
  std::string words = type.substr(begin + 1, end - begin - 1);
  std::ranges::replace(words, ',', ' ');
  return words;
}

bool takes_file(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.starts_with("FILE") || type.starts_with("SPEC");
}

// What stands behind an option of the command: a choice, a file, or something that the shell does not know.
std::string value_cases(const CLI::App& command) {
  std::string cases;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_lnames().empty() || option->get_items_expected_max() == 0) continue;
    const std::string name = "--" + option->get_lnames().front();
    cases += takes_file(*option)
                 ? fmt::format("      {}:{}) COMPREPLY=($(compgen -f -- \"$current\")); return ;;\n",
                               command.get_name(), name)
                 : fmt::format("      {}:{}) COMPREPLY=($(compgen -W \"{}\" -- \"$current\")); return ;;\n",
                               command.get_name(), name, choices(*option));
  }
  return cases;
}

// The words that may stand alone: a command without a program takes no file.
std::string positional_words(const CLI::App& command) {
  std::string words;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) words += choices(*option);
  }
  return words;
}

// bash's own completion language; zsh reads it through bashcompinit.
std::string script(const Tool& tool, bool zsh) {
  std::string commands, cases, values;
  for (const CLI::App* command : tool.app.get_subcommands([](const CLI::App*) { return true; })) {
    const bool runs_program =
        std::ranges::any_of(tool.program_commands,
                            [&](const ProgramCommand& with_program) { return with_program.app == command; });
    commands += command->get_name() + " ";
    cases += fmt::format("    {}) words=\"{}\" names=\"{}\" files={} ;;\n", command->get_name(),
                         option_words(*command), positional_words(*command), runs_program ? "yes" : "no");
    values += value_cases(*command);
  }
  std::string text = zsh ? "autoload -U +X bashcompinit && bashcompinit\n" : "";
  text += fmt::format(
      "_sluice() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}\n"
      "  local words=\"\" names=\"\" files=yes\n"
      "  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W \"{}--help --version\" -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  case \"${{COMP_WORDS[1]}}\" in\n{}"
      "  esac\n"
      "  case \"${{COMP_WORDS[1]}}:$previous\" in\n{}"
      "  esac\n"
      "  case \"$current\" in\n"
      "    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$current\")) ;;\n"
      "    *) if [ \"$files\" = yes ]; then\n"
      "         COMPREPLY=($(compgen -f -- \"$current\"))\n"
      "       else\n"
      "         COMPREPLY=($(compgen -W \"$names\" -- \"$current\"))\n"
      "       fi ;;\n"
      "  esac\n"
      "}}\n"
      "complete -o filenames -F _sluice sluice\n",
      commands, cases, values);
  return text;
}

}  // namespace

void add_completion_command(Tool& tool) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = tool.app.add_subcommand("completion", "print a completion script for the shell");
  command->formatter(std::make_shared<HelpFormat>("sluice completion SHELL"));
  command->footer("eval \"$(sluice completion bash)\"   turns completion on in this shell\n");
  command->add_option("SHELL", *shell, "bash or zsh")->required()->check(CLI::IsMember({"bash", "zsh"}));
  command->final_callback([&tool, shell] { tool.status = print_out(script(tool, *shell == "zsh")); });
}

}  // namespace sluice::cli
