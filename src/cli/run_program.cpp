// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// From the command line to the verdict.
#include "cli/run_program.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "check/pages.hpp"
#include "cli/command.hpp"
#include "cli/launch_file.hpp"
#include "cli/program.hpp"
#include "cli/supervise.hpp"

namespace sluice::cli {
namespace {

// Ends the tool as the program ended: by its signal where one killed it and nothing else is to be told.
int end_with(const Outcome& outcome, int status) {
  const int interrupted_by = outcome.tally.interrupted_by;
  const int signal = interrupted_by != 0 ? interrupted_by : outcome.signal;
  if (signal != 0 && status == 128 + signal) {
    ::signal(signal, SIG_DFL);
    raise(signal);
  }
  return status;
}

// Runs the program once more under each unfair schedule that is asked for, until one has a finding: another
// schedule would show the same mistake in another guise. What the first run says of the program itself (its
// status, its kernels) stays.
Result<void> run_perturbed(const Starter& starter, const RunOptions& options, Voice& voice,
                           Outcome& outcome) {
  cuda::Settings settings = options.settings;
  settings.perturb = true;
  settings.copies = "shuffled";
  for (uint64_t seed = 1; seed <= options.perturbed_schedules && outcome.tally.findings == 0; ++seed) {
    settings.seed = seed;
    const Outcome first = outcome;
    auto reader = cuda::ChannelReader::create();
    if (!reader) return reader.error();
    SLUICE_ASSIGN_OR_RETURN(
        outcome, supervise(starter, settings, *reader, voice, options.loudness(), std::move(outcome)));
    outcome.tally.kernels = first.tally.kernels;
    for (size_t i = first.diagnostics.size(); i < outcome.diagnostics.size(); ++i) {
      if (outcome.diagnostics[i].blame == report::Blame::Undecided) continue;
      const std::string note =
          fmt::format("seen under unfair schedule {0}; repeat it with `--seed {0}`", seed);
      outcome.diagnostics[i].notes.push_back(note);
      voice.say(fmt::format("note:  {}\n", note));
    }
    if (outcome.tally.interrupted_by != 0) break;
    ++outcome.tally.schedules_run;
    outcome.program_status = first.program_status;
    outcome.signal = first.signal;
  }
  return {};
}

// Reads the lists of findings that are not told.
Result<void> read_suppressions(const RunOptions& options, report::Suppressions& suppressions) {
  const auto is_finding = [](const std::string& name) {
    return std::ranges::any_of(check::pages(), [&](const check::Page& page) { return page.name == name; });
  };
  for (const std::string& path : options.suppression_files)
    SLUICE_TRY(suppressions.add_file(path, is_finding));
  if (!options.baseline_file.empty()) SLUICE_TRY(suppressions.add_baseline(options.baseline_file));
  return {};
}

// Where a launch's own process dies, nobody else's code can be the cause.
void note_crash(Outcome& outcome, const std::string& name, Voice& voice, Loudness loudness) {
  const int signal = outcome.signal;
  if (signal == 0 || outcome.tally.interrupted_by != 0 || outcome.tally.internal != 0) return;
  report::Diagnostic diagnostic;
  diagnostic.blame = report::Blame::Internal;
  diagnostic.headline =
      fmt::format("internal error: the tool died of signal {} ({}) while it launched a kernel", signal,
                  strsignal(signal));
  diagnostic.where = name;
  diagnostic.help = signal == SIGKILL ? "somebody killed it: the system, perhaps, where memory was short"
                                      : "please report it with the PTX and the launch description";
  take(outcome, std::move(diagnostic), voice, loudness);
}

// Runs what `starter` starts under all schedules that are asked for; the tool's exit status if it could not
// be started.
std::optional<int> run_schedules(const Starter& starter, const RunOptions& options,
                                 const std::string& command, Voice& voice, Outcome& outcome) {
  auto reader = cuda::ChannelReader::create();  // its folder goes before the tool ends as the program did
  if (!reader) return no_report_folder(reader.error().message);
  auto ran = supervise(starter, options.settings, *reader, voice, options.loudness(), std::move(outcome));
  if (!ran) return usage_error(ran.error().message, command);
  outcome = *std::move(ran);
  outcome.tally.schedules_planned += options.perturbed_schedules;
  if (outcome.tally.interrupted_by != 0) outcome.tally.schedules_run = 0;
  if (outcome.tally.interrupted_by != 0 || outcome.is_enough()) return std::nullopt;
  if (auto rest = run_perturbed(starter, options, voice, outcome); !rest)
    return usage_error(rest.error().message, command);
  return std::nullopt;
}

int run_launch(const RunOptions& options, const std::vector<std::string>& program, const std::string& command,
               Voice& voice, Outcome outcome) {
  if (program.size() > 1) return usage_error("a PTX file takes no arguments", command);
  auto files = read_launch_files(program.front(), options.launch_file);
  if (!files) return input_error(files.error().text());
  const Starter starter = launch_starter(*std::move(files), options.dry_run);
  if (const auto failed = run_schedules(starter, options, command, voice, outcome)) return *failed;
  if (outcome.program_status == kExitUsage && outcome.diagnostics.empty()) return kExitUsage;
  if (options.dry_run) outcome.tally.schedules_run = 0;
  note_crash(outcome, program.front(), voice, options.loudness());
  return end_with(outcome, conclude(outcome, options, program, voice));
}

}  // namespace

int run_program(const RunOptions& options, const std::vector<std::string>& program,
                const std::string& command) {
  Voice voice;
  if (!options.log_file.empty() && !voice.open(options.log_file)) {
    return usage_error(fmt::format("cannot write the log file '{}'", options.log_file), command);
  }
  voice.use_colors(options.color);
  Outcome outcome;
  outcome.most = options.max_findings;
  outcome.stop_at_first = options.stop_at_first;
  if (auto read = read_suppressions(options, outcome.suppressions); !read)
    return usage_error(read.error().text(), command);
  if (!options.launch_file.empty()) return run_launch(options, program, command, voice, std::move(outcome));

  const std::string& name = program.front();
  const auto file = find_program(name);
  if (!file || access(file->c_str(), F_OK) != 0)
    return usage_error(fmt::format("there is no program '{}'", name), command);
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
  if (look.refusal) {
    outcome.tally.schedules_run = 0;
    take(outcome, *look.refusal, voice, options.loudness());
    return conclude(outcome, options, program, voice);
  }
  const Starter starter = program_starter(*file, program, look.preload, *libraries);
  if (const auto failed = run_schedules(starter, options, command, voice, outcome)) return *failed;
  if (outcome.tally.interrupted_by == 0 && !outcome.engine_loaded && outcome.signal == 0 &&
      options.loudness() != Loudness::Quiet) {
    voice.say("note: no process of this program called the CUDA runtime\n");
  }
  return end_with(outcome, conclude(outcome, options, program, voice));
}

}  // namespace sluice::cli
