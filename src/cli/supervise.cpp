// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Start, watch, wait.
#include "cli/supervise.hpp"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <optional>

#include "base/host_clock.hpp"
#include "cli/descendants.hpp"
#include "cli/ending.hpp"
#include "cli/host_lines.hpp"

namespace sluice::cli {
namespace {

constexpr long kFirstPauseNs = 500'000, kLongestPauseNs = 20'000'000;
constexpr double kProgressAfterSeconds = 2;

/// How long processes that the program leaves behind are waited for: those that have the engine, and any
/// others, which may be about to load it.
constexpr uint64_t kEngineLeftNs = 5'000'000'000, kOthersLeftNs = 200'000'000;

// `folder` in front of what the variable holds.
std::string prepended(const char* variable, const std::string& value) {
  const char* old = std::getenv(variable);
  return old != nullptr && *old != '\0' ? value + ":" + old : value;
}

// The environment of the program, as NAME=VALUE.
std::vector<std::string> environment(const std::vector<std::string>& preload, const std::string& libraries,
                                     const cuda::Settings& settings) {
  std::vector<std::pair<std::string, std::string>> own = {
      {"LD_LIBRARY_PATH", prepended("LD_LIBRARY_PATH", libraries)},
      {cuda::kSettingsVariable, cuda::to_json_text(settings)},
  };
  std::string list;
  for (const std::string& library : preload) list += (list.empty() ? "" : ":") + library;
  if (!list.empty()) own.emplace_back("LD_PRELOAD", prepended("LD_PRELOAD", list));

  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const bool replaced = std::any_of(own.begin(), own.end(), [&](const auto& variable) {
      return text.size() > variable.first.size() &&
             text.compare(0, variable.first.size(), variable.first) == 0 &&
             text[variable.first.size()] == '=';
    });
    if (!replaced) result.emplace_back(text);
  }
  for (const auto& [name, value] : own) result.push_back(name + "=" + value);
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// In the child: it ends with the tool, and by the signals that the tool itself handles.
void begin_child(pid_t tool) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != tool) _exit(127);
  forget_signals();
}

// Starts the program; an error carries the reason of a failed exec.
Result<pid_t> execute(const std::string& file, std::vector<std::string> arguments,
                      std::vector<std::string> variables) {
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> envp = pointers(variables);
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return Error{"cannot make a pipe", ""};
  const pid_t tool = getpid(), child = fork();
  if (child < 0) return Error{"cannot start another process", file};
  if (child == 0) {
    begin_child(tool);
    execve(file.c_str(), argv.data(), envp.data());
    const int reason = errno;
    (void)!write(report[1], &reason, sizeof reason);
    _exit(127);
  }
  close(report[1]);
  int reason = 0;
  const ssize_t got = read(report[0], &reason, sizeof reason);
  close(report[0]);
  if (got != sizeof reason) return child;
  waitpid(child, nullptr, 0);
  return Error{fmt::format("cannot run '{}': {}", arguments.front(), std::strerror(reason)), ""};
}

void pass_reports(cuda::ChannelReader& reader, Outcome& outcome, Voice& voice, Loudness loudness) {
  cuda::Gathered gathered = reader.poll();
  for (report::Diagnostic& diagnostic : gathered.diagnostics) {
    find_host_lines(diagnostic);
    take(outcome, std::move(diagnostic), voice, loudness);
  }
  for (const std::string& line : gathered.log) voice.say(fmt::format("sluice: {}\n", line));
}

void show_progress(const cuda::ChannelReader& reader, Voice& voice) {
  const uint64_t started = reader.launch_started_ns();
  if (started == 0) return;
  const double seconds = static_cast<double>(host_clock_ns() - started) * 1e-9;
  if (seconds >= kProgressAfterSeconds)
    voice.progress(fmt::format("sluice: a kernel runs for {:.0f} s", seconds));
}

// Waits for what the program has left behind (daemons), and says what still runs then.
void wait_for_rest(Ending& ending, cuda::ChannelReader& reader, Outcome& outcome, Voice& voice,
                   Loudness loudness) {
  const uint64_t ended = host_clock_ns();
  uint64_t without_engine = ended;  // since when
  std::vector<pid_t> left, with_engine;
  while (true) {
    left = descendants();
    with_engine.clear();
    std::ranges::copy_if(left, std::back_inserter(with_engine), has_engine);
    const uint64_t now = host_clock_ns();
    if (!with_engine.empty()) without_engine = now;
    const bool enough = now - ended >= kEngineLeftNs || now - without_engine >= kOthersLeftNs;
    if (enough || !has_children()) break;
    if (stop_signal() != 0) ending.step();
    const timespec pause{0, kLongestPauseNs / 4};
    nanosleep(&pause, nullptr);
    pass_reports(reader, outcome, voice, loudness);
  }
  if (!has_children() || left.empty() || stop_signal() != 0) return;
  report::Diagnostic diagnostic;
  diagnostic.level = report::Level::Note;
  const bool undecided = !with_engine.empty();
  const size_t count = undecided ? with_engine.size() : left.size();
  diagnostic.blame = undecided ? report::Blame::Undecided : report::Blame::Nobody;
  diagnostic.headline = fmt::format("{}the program has left behind {} process{} that still run{}{}",
                                    undecided ? "not decided: " : "", count, count == 1 ? "" : "es",
                                    count == 1 ? "s" : "", undecided ? " on the engine" : "");
  diagnostic.why = "what is done there from here on is not seen";
  diagnostic.help = "let the program wait for its processes";
  take(outcome, std::move(diagnostic), voice, loudness);
}

// A run that was interrupted (by a signal, or 0), a kernel (or "") that did not end.
report::Diagnostic describe_cut(int interrupted_by, const std::string& kernel) {
  report::Diagnostic diagnostic;
  diagnostic.level = report::Level::Note;
  diagnostic.blame = report::Blame::Undecided;
  diagnostic.headline = interrupted_by != 0 ? fmt::format("not decided: {} interrupted the run",
                                                          report::signal_name(interrupted_by))
                                            : "not decided: a kernel did not run to its end";
  if (!kernel.empty()) {
    diagnostic.where = fmt::format("kernel `{}`", kernel);
    diagnostic.why = "its process ended, or was left behind, before";
  }
  return diagnostic;
}

// Tells what was cut off, if anything was: kernels that have begun and not ended, and the run itself.
void take_cuts(std::vector<std::string> open_kernels, Outcome& outcome, Voice& voice, Loudness loudness) {
  const int interrupted_by = outcome.tally.interrupted_by;
  if (interrupted_by != 0 && open_kernels.empty()) open_kernels.emplace_back();
  for (const std::string& kernel : open_kernels)
    take(outcome, describe_cut(interrupted_by, kernel), voice, loudness);
}

// Takes how the program ended, with `status` as waitpid says it: a signal that somebody sent it, or that met
// it while a kernel ran, interrupted the run.
void conclude_program(int status, bool kernel_ran, Outcome& outcome) {
  if (!WIFSIGNALED(status)) {
    outcome.program_status = WEXITSTATUS(status);
  } else {
    outcome.signal = WTERMSIG(status);
    outcome.program_status = 128 + outcome.signal;
  }
  const bool interrupted = (kernel_ran || is_termination(outcome.signal)) && !outcome.is_enough();
  outcome.tally.interrupted_by = stop_signal() != 0 ? stop_signal() : interrupted ? outcome.signal : 0;
}

report::Diagnostic describe(const cuda::Crash& crash) {
  report::Diagnostic diagnostic;
  diagnostic.blame = report::Blame::Internal;
  diagnostic.headline = fmt::format("internal error: the engine died of signal {} ({}) while it ran a kernel",
                                    crash.signal, strsignal(crash.signal));
  diagnostic.where = fmt::format("kernel `{}`", crash.kernel);
  diagnostic.help =
      "this says nothing about your program; please report it with the program, or the kernel's PTX";
  return diagnostic;
}

}  // namespace

namespace {

/// The first of them that is not suppressed, with those after it.
std::optional<report::Diagnostic> first_not_covered(const report::Suppressions& suppressions,
                                                    std::vector<report::Diagnostic>& errors) {
  const auto first = std::ranges::find_if_not(
      errors, [&](const report::Diagnostic& error) { return suppressions.covers(error); });
  if (first == errors.end()) return {};
  report::Diagnostic found = std::move(*first);
  found.later.assign(std::make_move_iterator(first + 1), std::make_move_iterator(errors.end()));
  return found;
}

}  // namespace

void take(Outcome& outcome, report::Diagnostic diagnostic, Voice& voice, Loudness loudness) {
  if (outcome.is_enough()) return;
  if (outcome.suppressions.covers(diagnostic)) {
    ++outcome.suppressed;
    std::optional<report::Diagnostic> next = first_not_covered(outcome.suppressions, diagnostic.later);
    if (!next) return;
    diagnostic = *std::move(next);
  }
  const bool is_kept =
      outcome.diagnostics.size() < outcome.most || diagnostic.blame == report::Blame::Internal;
  const auto [known, is_new] = outcome.known.try_emplace(
      diagnostic.merge_key(), is_kept ? outcome.diagnostics.size() : Outcome::kLeftOut);
  if (!is_new) {
    if (known->second != Outcome::kLeftOut) outcome.diagnostics[known->second].times += diagnostic.times;
    return;
  }
  outcome.tally.count(diagnostic);
  if (!is_kept) {
    ++outcome.left_out;
    return;
  }
  const bool important = diagnostic.blame != report::Blame::Nobody;
  if (loudness != Loudness::Quiet || important) voice.say(report::render_text(diagnostic, voice.colored()));
  diagnostic.times_told = diagnostic.times;
  outcome.diagnostics.push_back(std::move(diagnostic));
}

Starter program_starter(const std::string& file, const std::vector<std::string>& arguments,
                        const std::vector<std::string>& preload, const std::string& libraries) {
  return [=](const cuda::Settings& settings) {
    return execute(file, arguments, environment(preload, libraries, settings));
  };
}

Result<pid_t> start_child(const std::function<int()>& body) {
  const pid_t tool = getpid(), child = fork();
  if (child < 0) return Error{"cannot start another process", ""};
  if (child != 0) return child;
  begin_child(tool);
  const int status = body();
  std::fflush(nullptr);
  _exit(status);
}

Result<Outcome> supervise(const Starter& start, cuda::Settings settings, cuda::ChannelReader& reader,
                          Voice& voice, Loudness loudness, Outcome outcome) {
  settings.report_directory = reader.directory();
  settings.verbosity = std::max(settings.verbosity, 0);

  listen_for_signals();
  adopt_orphans();
  SLUICE_ASSIGN_OR_RETURN(const pid_t child, start(settings));

  outcome.tally.without_data = settings.no_data;
  Ending ending(child);
  int status = 0;
  timespec pause{0, kFirstPauseNs};
  while (waitpid(child, &status, WNOHANG) == 0) {
    nanosleep(&pause, nullptr);
    if (stop_signal() != 0 || outcome.is_enough()) ending.step();
    pause.tv_nsec = std::min(pause.tv_nsec * 2, kLongestPauseNs);
    if (pause.tv_nsec < kLongestPauseNs) continue;
    pass_reports(reader, outcome, voice, loudness);
    if (voice.on_terminal()) show_progress(reader, voice);
  }
  ending.program_ended();
  wait_for_rest(ending, reader, outcome, voice, loudness);
  pass_reports(reader, outcome, voice, loudness);
  reader.add_counters(outcome.tally);
  outcome.engine_loaded = reader.process_count() != 0;
  for (const cuda::Crash& crash : reader.crashes()) take(outcome, describe(crash), voice, loudness);
  std::vector<std::string> open_kernels = reader.open_kernels();
  conclude_program(status, !open_kernels.empty(), outcome);
  take_cuts(std::move(open_kernels), outcome, voice, loudness);
  return outcome;
}

}  // namespace sluice::cli
