// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// `sluice check`: a program on the engine, with the checkers listening.
#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/run_program.hpp"

namespace sluice::cli {
namespace {

struct CheckArguments {
  RunOptions options;
  uint64_t seeds = 0;
  bool one_seed = false;  ///< --seed alone: this unfair schedule, no fair one
  std::vector<std::string> program;
};

int check_program(CheckArguments& arguments) {
  if (arguments.program.empty()) return usage_error("which program? none is named", "sluice check");
  if (std::string wrong = finish_run_options(arguments.options); !wrong.empty())
    return usage_error(wrong, "sluice check");
  cuda::Settings& settings = arguments.options.settings;
  settings.tool = "check";
  settings.hasty_waits = true;
  settings.side_by_side = 8;
  if (arguments.one_seed) {
    settings.perturb = true;
    settings.copies = "shuffled";
  }
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
          "after the fair schedule run the program under N unfair ones, until one has a finding; each is "
          "repeatable by its number")
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
  check
      ->add_option("--error-on", arguments->options.error_on,
                   "the level from which on it is a finding: error or warning (default error)")
      ->type_name("LEVEL")
      ->check(CLI::IsMember({"error", "warning"}))
      ->group(told);
  check
      ->add_option("--uninit", arguments->options.settings.uninit,
                   "bytes that nobody has written and that matter: off, warn or error (default off)")
      ->type_name("LEVEL")
      ->check(CLI::IsMember({"off", "warn", "error"}))
      ->group("How they run");
  check
      ->add_option("--max-findings", arguments->options.max_findings,
                   fmt::format("tell at most N, count the others (default {})", Outcome::kMost))
      ->type_name("N")
      ->check(whole_number(1))
      ->group(told);
  check
      ->add_flag("--stop-at-first", arguments->options.stop_at_first,
                 "end the program when a launch with an error has ended")
      ->group(told);
  tool.program_commands.push_back({check, &arguments->program});
  check->get_option("--seed")->description(
      "the seed of --copies shuffled; alone: run unfair schedule N only");
  check->final_callback([arguments, check, &tool] {
    arguments->one_seed = check->count("--seed") != 0 && check->count("--copies") == 0;
    tool.status = check_program(*arguments);
  });
}

}  // namespace sluice::cli
