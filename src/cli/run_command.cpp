// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// `sluice run`: a program, or a PTX file with a launch description, on the engine.
#include "cli/command.hpp"
#include "cli/run_program.hpp"

namespace sluice::cli {
namespace {

struct RunArguments {
  RunOptions options;
  std::vector<std::string> program;
};

}  // namespace

void add_run_command(Tool& tool) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* run = tool.app.add_subcommand("run", "run a program on the CPU");
  run->formatter(std::make_shared<HelpFormat>("sluice run [options] [--] APP [ARGS]"));
  run->footer(
      "sluice run ./app args          runs app; what stands behind its name goes to it\n"
      "sluice run kernel.ptx --launch spec.json\n"
      "                               runs one kernel as the file says (docs/tools/run.md)\n");
  add_run_options(*run, arguments->options);
  add_launch_options(*run, arguments->options);
  tool.program_commands.push_back({run, &arguments->program});
  run->final_callback([arguments, &tool] {
    const std::string wrong =
        arguments->program.empty() ? "which program? none is named" : finish_run_options(arguments->options);
    tool.status = wrong.empty() ? run_program(arguments->options, arguments->program, "sluice run")
                                : usage_error(wrong, "sluice run");
  });
}

}  // namespace sluice::cli
