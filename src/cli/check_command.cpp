// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// `sluice check`: a program on the engine, with the checkers listening.
#include "cli/command.hpp"
#include "cli/run_program.hpp"

namespace sluice::cli {
namespace {

struct CheckArguments {
  RunOptions options;
  uint64_t seeds = 0;
  std::vector<std::string> program;
};

int check_program(CheckArguments& arguments) {
  if (arguments.program.empty()) return usage_error("which program? none is named", "sluice check");
  if (std::string wrong = finish_run_options(arguments.options); !wrong.empty())
    return usage_error(wrong, "sluice check");
  arguments.options.settings.tool = "check";
  arguments.options.perturbed_schedules = arguments.seeds;
  return run_program(arguments.options, arguments.program, "sluice check");
}

}  // namespace

void add_check_command(Tool& tool) {
  auto arguments = std::make_shared<CheckArguments>();
  CLI::App* check = tool.app.add_subcommand("check", "run a program on the CPU and report its mistakes");
  check->formatter(std::make_shared<HelpFormat>("sluice check [options] [--] APP [ARGS]"));
  check->footer(
      "sluice check ./app args        runs app and reports what is wrong with its kernels\n"
      "sluice check kernel.ptx --launch spec.json\n"
      "                               the same of one kernel, launched as the file says (docs/tools/run.md)\n"
      "sluice explain NAME            what a finding means\n"
      "A clean run speaks for the schedule that ran, on this input.\n");
  add_run_options(*check, arguments->options);
  add_launch_options(*check, arguments->options);
  check
      ->add_option(
          "--seeds", arguments->seeds,
          "after the fair schedule run the program under N unfair ones; each is repeatable by its number")
      ->type_name("N")
      ->check(whole_number(0))
      ->group("How they run");
  const std::string told = "What is told";
  check
      ->add_option("--sarif", arguments->options.sarif_file,
                   "write the findings to this file as SARIF 2.1.0, too")
      ->type_name("FILE")
      ->group(told);
  check
      ->add_option("--suppressions", arguments->options.suppression_files,
                   "findings that are not told, a line each: NAME [FILE[:LINE]] (repeatable)")
      ->type_name("FILE")
      ->group(told)
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  check
      ->add_option("--baseline", arguments->options.baseline_file,
                   "findings of this earlier --json report are not told")
      ->type_name("FILE")
      ->group(told);
  check->add_flag("--error-on-warning", arguments->options.warnings_are_errors, "warnings count as findings")
      ->group(told);
  tool.program_commands.push_back({check, &arguments->program});
  check->final_callback([arguments, &tool] { tool.status = check_program(*arguments); });
}

}  // namespace sluice::cli
