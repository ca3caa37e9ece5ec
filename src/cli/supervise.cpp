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

#include "cli/descendants.hpp"

#include "cli/host_lines.hpp"

namespace sluice::cli {
namespace {

constexpr long kFirstPauseNs = 500'000, kLongestPauseNs = 20'000'000;
constexpr double kProgressAfterSeconds = 2;

/// How long the program may take to end after it was told to.
constexpr uint64_t kGraceNs = 1'000'000'000;

/// How long processes that the program leaves behind are waited for: those that have the engine, and any
/// others, which may be about to load it.
constexpr uint64_t kEngineLeftNs = 5'000'000'000, kOthersLeftNs = 200'000'000;

pid_t g_child = 0;
volatile sig_atomic_t g_interrupts = 0;
volatile sig_atomic_t g_stop = 0;  ///< the signal that ends the tool, too

void stop_all(int signal) {
  g_stop = signal;
  if (g_child > 0) kill(g_child, SIGTERM);
}

// The terminal's interrupt reaches the program too; the tool stays to give the verdict.
void interrupt(int signal) {
  g_interrupts = g_interrupts + 1;
  if (g_interrupts >= 2) stop_all(signal);
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(signal, &action, nullptr);
}

uint64_t clock_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

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
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM}) ::signal(signal, SIG_DFL);
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
  const double seconds = static_cast<double>(clock_ns() - started) * 1e-9;
  if (seconds >= kProgressAfterSeconds)
    voice.progress(fmt::format("sluice: a kernel runs for {:.0f} s", seconds));
}

// Ends a program that was told to end and does not; true if it had to. `enough`: it is told now.
bool enforce_stop(uint64_t& stopped_at, bool enough) {
  if (g_stop == 0 && !enough) return false;
  if (stopped_at == 0 && g_stop == 0) kill(g_child, SIGTERM);
  if (stopped_at == 0) stopped_at = clock_ns();
  if (clock_ns() - stopped_at <= kGraceNs) return false;
  kill(g_child, SIGKILL);
  return true;
}

// Waits for what the program has left behind (daemons), and says what still runs then.
void wait_for_rest(cuda::ChannelReader& reader, Outcome& outcome, Voice& voice, Loudness loudness) {
  const uint64_t ended = clock_ns();
  uint64_t without_engine = ended;  // since when
  std::vector<pid_t> left, with_engine;
  while (true) {
    left = descendants();
    with_engine.clear();
    std::ranges::copy_if(left, std::back_inserter(with_engine), has_engine);
    const uint64_t now = clock_ns();
    if (!with_engine.empty()) without_engine = now;
    const bool enough = now - ended >= kEngineLeftNs || now - without_engine >= kOthersLeftNs;
    if (g_stop != 0 || enough || !has_children()) break;
    const timespec pause{0, kLongestPauseNs / 4};
    nanosleep(&pause, nullptr);
    pass_reports(reader, outcome, voice, loudness);
  }
  if (!has_children() || left.empty() || g_stop != 0) return;
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

void take(Outcome& outcome, report::Diagnostic diagnostic, Voice& voice, Loudness loudness) {
  if (outcome.is_enough()) return;
  if (outcome.suppressions.covers(diagnostic)) {
    ++outcome.suppressed;
    return;
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

  handle(SIGINT, interrupt);
  handle(SIGQUIT, SIG_IGN);
  handle(SIGTERM, stop_all);
  adopt_orphans();
  SLUICE_ASSIGN_OR_RETURN(g_child, start(settings));

  outcome.tally.without_data = settings.no_data;
  int status = 0;
  uint64_t stopped_at = 0;
  bool forced = false;
  timespec pause{0, kFirstPauseNs};
  while (waitpid(g_child, &status, WNOHANG) == 0) {
    nanosleep(&pause, nullptr);
    forced = enforce_stop(stopped_at, outcome.is_enough()) || forced;
    pause.tv_nsec = std::min(pause.tv_nsec * 2, kLongestPauseNs);
    if (pause.tv_nsec < kLongestPauseNs) continue;
    pass_reports(reader, outcome, voice, loudness);
    if (voice.on_terminal()) show_progress(reader, voice);
  }
  g_child = 0;
  wait_for_rest(reader, outcome, voice, loudness);
  pass_reports(reader, outcome, voice, loudness);
  reader.add_counters(outcome.tally);
  outcome.engine_loaded = reader.process_count() != 0;
  outcome.stopped = g_stop != 0;
  for (const cuda::Crash& crash : reader.crashes()) take(outcome, describe(crash), voice, loudness);
  if (WIFSIGNALED(status)) {
    outcome.signal = forced && g_stop != 0 ? g_stop : WTERMSIG(status);
    outcome.program_status = 128 + outcome.signal;
  } else {
    outcome.program_status = WEXITSTATUS(status);
  }
  return outcome;
}

}  // namespace sluice::cli
