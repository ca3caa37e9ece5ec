// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// `sluice completion bash|zsh`: a script for the shell, made from the parser itself so that it cannot lag
// behind.
#include <fmt/format.h>

#include <cstdio>

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

// bash's own completion language; zsh reads it through bashcompinit.
std::string script(const CLI::App& app, bool zsh) {
  std::string commands, cases;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    commands += command->get_name() + " ";
    cases += fmt::format("    {}) words=\"{}\" ;;\n", command->get_name(), option_words(*command));
  }
  std::string text = zsh ? "autoload -U +X bashcompinit && bashcompinit\n" : "";
  text += fmt::format(
      "_sluice() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} words=\"\"\n"
      "  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W \"{}--help --version\" -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  case \"${{COMP_WORDS[1]}}\" in\n{}"
      "  esac\n"
      "  case \"$current\" in\n"
      "    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$current\")) ;;\n"
      "    *) COMPREPLY=($(compgen -f -- \"$current\")) ;;\n"
      "  esac\n"
      "}}\n"
      "complete -o filenames -F _sluice sluice\n",
      commands, cases);
  return text;
}

}  // namespace

void add_completion_command(Tool& tool) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = tool.app.add_subcommand("completion", "print a completion script for the shell");
  command->formatter(std::make_shared<HelpFormat>("sluice completion SHELL"));
  command->footer("eval \"$(sluice completion bash)\"   turns completion on in this shell\n");
  command->add_option("SHELL", *shell, "bash or zsh")->required()->check(CLI::IsMember({"bash", "zsh"}));
  command->final_callback([&tool, shell] { std::fputs(script(tool.app, *shell == "zsh").c_str(), stdout); });
}

}  // namespace sluice::cli
