// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// `sluice run`: a program, or a PTX file with a launch description, on the engine.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include "cli/command.hpp"
#include "cli/launch_file.hpp"
#include "cli/program.hpp"
#include "cli/run_options.hpp"
#include "cli/supervise.hpp"

namespace sluice::cli {
namespace {

struct RunArguments {
  RunOptions options;
  std::string launch_file;
  std::vector<std::string> program;
};

// Ends the tool as the program ended: by its signal where one killed it and nothing else is to be told.
int end_with(const Outcome& outcome, int status) {
  if (outcome.signal != 0 && status == outcome.program_status) {
    ::signal(outcome.signal, SIG_DFL);
    raise(outcome.signal);
  }
  return status;
}

int run_program(RunArguments& arguments) {
  Voice voice;
  RunOptions& options = arguments.options;
  if (!options.log_file.empty() && !voice.open(options.log_file)) {
    return usage_error(fmt::format("cannot write the log file '{}'", options.log_file), "sluice run");
  }
  const std::string& name = arguments.program.front();
  const auto file = find_program(name);
  if (!file || access(file->c_str(), F_OK) != 0)
    return usage_error(fmt::format("there is no program '{}'", name), "sluice run");
  if (!arguments.launch_file.empty()) return run_ptx_file(*file, arguments.launch_file, options, voice);
  if (is_ptx_file(*file)) {
    return usage_error(fmt::format("'{}' is PTX: say how to launch it with --launch SPEC.json", name),
                       "sluice run");
  }

  const auto libraries = library_directory();
  if (!libraries) {
    voice.say(fmt::format("internal error: {}\n", libraries.error().text()));
    return report::kExitInternal;
  }
  ProgramLook look = look_at(*file, *libraries);
#ifdef SLUICE_PRELOADED_SANITIZER
  look.preload.insert(look.preload.begin(), SLUICE_PRELOADED_SANITIZER);
#endif
  Outcome outcome;
  if (look.refusal) {
    outcome.tally.schedules_run = 0;
    take(outcome, *look.refusal, voice, options.loudness());
  } else {
    auto ran = supervise(*file, arguments.program, look.preload, *libraries, options.settings, voice,
                         options.loudness());
    if (!ran) return usage_error(ran.error().message, "sluice run");
    outcome = *std::move(ran);
    if (!outcome.engine_loaded && outcome.signal == 0 && options.loudness() != Loudness::Quiet) {
      voice.say("note: no process of this program called the CUDA runtime\n");
    }
  }
  return end_with(outcome, conclude(outcome, options, arguments.program, voice));
}

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
  run->add_option("--launch", arguments->launch_file,
                  "APP is a PTX file, launched as the JSON file SPEC says")
      ->type_name("SPEC")
      ->group("PTX files");
  tool.program_commands.push_back({run, &arguments->program});
  run->final_callback([arguments, &tool] {
    const std::string wrong =
        arguments->program.empty() ? "which program? none is named" : finish_run_options(arguments->options);
    tool.status = wrong.empty() ? run_program(*arguments) : usage_error(wrong, "sluice run");
  });
}

}  // namespace sluice::cli
