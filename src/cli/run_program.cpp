// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// From the command line to the verdict.
#include "cli/run_program.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <optional>

#include "cli/command.hpp"
#include "cli/launch_file.hpp"
#include "cli/program.hpp"
#include "cli/supervise.hpp"

namespace sluice::cli {
namespace {

// Ends the tool as the program ended: by its signal where one killed it and nothing else is to be told.
int end_with(const Outcome& outcome, int status) {
  if (outcome.signal != 0 && status == outcome.program_status) {
    ::signal(outcome.signal, SIG_DFL);
    raise(outcome.signal);
  }
  return status;
}

// Runs the program once more under each unfair schedule that is asked for. What the first run says of the
// program itself (its status, its kernels) stays.
std::optional<Error> run_perturbed(const std::string& file, const std::vector<std::string>& program,
                                   const std::vector<std::string>& preload, const std::string& libraries,
                                   const RunOptions& options, Voice& voice, Outcome& outcome) {
  cuda::Settings settings = options.settings;
  settings.perturb = true;
  settings.copies = "shuffled";
  outcome.tally.schedules_planned += options.perturbed_schedules;
  for (uint64_t seed = 1; seed <= options.perturbed_schedules; ++seed) {
    settings.seed = seed;
    const Outcome first = outcome;
    auto reader = cuda::ChannelReader::create();
    if (!reader) return reader.error();
    auto ran =
        supervise(file, program, preload, libraries, settings, *reader, voice, options.loudness(), outcome);
    if (!ran) return ran.error();
    outcome = *std::move(ran);
    if (outcome.stopped) break;
    ++outcome.tally.schedules_run;
    outcome.tally.kernels = first.tally.kernels;
    outcome.program_status = first.program_status;
    outcome.signal = first.signal;
    for (size_t i = first.diagnostics.size(); i < outcome.diagnostics.size(); ++i) {
      outcome.diagnostics[i].notes.push_back(fmt::format("seen under unfair schedule {}", seed));
      voice.say(fmt::format("note:  seen under unfair schedule {}\n", seed));
    }
  }
  return std::nullopt;
}

}  // namespace

int run_program(RunOptions& options, const std::string& launch_file, std::vector<std::string>& program,
                const std::string& command) {
  Voice voice;
  if (!options.log_file.empty() && !voice.open(options.log_file)) {
    return usage_error(fmt::format("cannot write the log file '{}'", options.log_file), command);
  }
  const std::string& name = program.front();
  const auto file = find_program(name);
  if (!file || access(file->c_str(), F_OK) != 0)
    return usage_error(fmt::format("there is no program '{}'", name), command);
  if (!launch_file.empty()) return run_ptx_file(*file, launch_file, options, voice);
  if (is_ptx_file(*file)) {
    return usage_error(fmt::format("'{}' is PTX: say how to launch it with --launch SPEC.json", name),
                       command);
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
  for (const std::string& path : options.suppression_files) {
    if (auto read = outcome.suppressions.add_file(path); !read)
      return usage_error(read.error().text(), command);
  }
  if (!options.baseline_file.empty()) {
    if (auto read = outcome.suppressions.add_baseline(options.baseline_file); !read)
      return usage_error(read.error().text(), command);
  }
  if (look.refusal) {
    outcome.tally.schedules_run = 0;
    take(outcome, *look.refusal, voice, options.loudness());
  } else {
    auto reader = cuda::ChannelReader::create();
    if (!reader) return no_report_folder(reader.error().message);
    auto ran = supervise(*file, program, look.preload, *libraries, options.settings, *reader, voice,
                         options.loudness(), std::move(outcome));
    if (!ran) return usage_error(ran.error().message, command);
    outcome = *std::move(ran);
    if (!outcome.stopped) {
      if (auto wrong = run_perturbed(*file, program, look.preload, *libraries, options, voice, outcome))
        return usage_error(wrong->message, command);
    }
    if (!outcome.stopped && !outcome.engine_loaded && outcome.signal == 0 &&
        options.loudness() != Loudness::Quiet) {
      voice.say("note: no process of this program called the CUDA runtime\n");
    }
  }
  return end_with(outcome, conclude(outcome, options, program, voice));
}

}  // namespace sluice::cli
