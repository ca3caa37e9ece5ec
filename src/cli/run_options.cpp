// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Options of runs and the verdict at their end.
#include "cli/run_options.hpp"
#include "check/pages.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "report/json_text.hpp"
#include "report/sarif.hpp"

namespace sluice::cli {
namespace {

constexpr uint64_t kMostThreads = 1024;

bool parse_number(std::string_view text, uint64_t* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

// "0-3,7" as ranges; false if the text is something else.
bool parse_ranges(const std::string& text, std::vector<std::pair<uint64_t, uint64_t>>* out) {
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const size_t dash = part.find('-');
    uint64_t first = 0, last = 0;
    if (!parse_number(std::string_view(part).substr(0, dash), &first)) return false;
    last = first;
    if (dash != std::string::npos && !parse_number(std::string_view(part).substr(dash + 1), &last))
      return false;
    if (last < first) return false;
    out->emplace_back(first, last);
  }
  return !out->empty();
}

std::string wrong_pattern(const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) {
    if (pattern.rfind("regex:", 0) != 0) continue;
    // The library reports a wrong expression by an exception; it ends here.
    try {
      const std::regex expression(pattern.substr(6));
    } catch (const std::regex_error&) {
      return fmt::format("'{}' is not a regular expression", pattern.substr(6));
    }
  }
  return "";
}

}  // namespace

void add_run_options(CLI::App& command, RunOptions& options) {
  cuda::Settings& s = options.settings;
  const std::string which = "Which launches run";
  command
      .add_option("--kernel-name", s.kernel_names,
                  "run only kernels of this name (regex:EXPR searches; repeatable)")
      ->type_name("NAME")
      ->group(which)
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      .add_option("--kernel-name-exclude", s.excluded_kernel_names,
                  "leave kernels of this name out (repeatable)")
      ->type_name("NAME")
      ->group(which)
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command.add_option("--launch-skip", s.launch_skip, "leave out the first N launches that match")
      ->type_name("N")
      ->check(whole_number(0))
      ->group(which);
  command.add_option("--launch-count", s.launch_count, "run at most N launches that match")
      ->type_name("N")
      ->check(whole_number(0))
      ->group(which);
  command.add_option("--ctas", options.ctas, "of each launch run only these CTAs, counted x fastest: 0-3,7")
      ->type_name("LIST")
      ->group(which);

  const std::string how = "How they run";
  command
      .add_flag("--no-data", s.no_data,
                "the protocol alone: payload of copies and matrix operations is not computed")
      ->group(how);
  command
      .add_flag("--lazy-unsupported", s.lazy_unsupported,
                "refuse an unsupported instruction when it is reached, not its kernel when it is loaded")
      ->group(how);
  command
      .add_option("--timeout", s.timeout_seconds,
                  "stop a launch that runs longer than SECONDS; the run is not decided")
      ->type_name("SECONDS")
      ->check(seconds())
      ->group(how);
  command
      .add_option("--copies", s.copies,
                  "when asynchronous copies land: early, late or shuffled (default early)")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"early", "late", "shuffled"}))
      ->group(how);
  command.add_option("--seed", s.seed, "seed of --copies shuffled (default 0)")
      ->type_name("N")
      ->check(whole_number(0))
      ->group(how);
  command.add_option("--threads", s.workers, "host threads per launch (default: one per core)")
      ->type_name("N")
      ->check(whole_number(1, kMostThreads))
      ->group(how);
  command.add_option("--device", s.device, "whose properties the program sees: h100 or h200 (default h200)")
      ->type_name("NAME")
      ->check(CLI::IsMember({"h100", "h200"}))
      ->group(how);
  command.add_option("--devices", s.device_count, "how many devices the program sees (default 1)")
      ->type_name("N")
      ->check(whole_number(1, 16))
      ->group(how);

  const std::string told = "What is told";
  command.add_option("--log-file", options.log_file, "speak to this file instead of stderr")
      ->type_name("FILE")
      ->group(told);
  command.add_option("--json", options.json_file, "write findings and verdict to this file as JSON, too")
      ->type_name("FILE")
      ->group(told);
  command
      .add_option("--phases", s.phases_file,
                  "write to this file how many phases each mbarrier completed, a JSON record per launch")
      ->type_name("FILE")
      ->group(told);
  command
      .add_option("--error-exitcode", options.finding_status,
                  "exit status when there is a finding (default 101)")
      ->type_name("N")
      ->check(whole_number(1, 255))
      ->group(told);
  command
      .add_option("--color", options.color,
                  "colours: auto, always or never (default auto: on a terminal, unless "
                  "NO_COLOR is set)")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->group(told);
  command.add_flag("-q,--quiet", options.quiet, "no notes")->group(told);
  command.add_flag("-v,--verbose", options.verbose, "a line per launch; twice: also a line per CUDA call")
      ->group(told);
}

void add_launch_options(CLI::App& command, RunOptions& options) {
  const std::string files = "PTX files";
  command
      .add_option("--launch", options.launch_file, "APP is a PTX file, launched as the JSON file SPEC says")
      ->type_name("SPEC")
      ->group(files);
  command
      .add_flag("--dry-run", options.dry_run,
                "with --launch: check both files and print what would be launched; nothing runs")
      ->group(files);
}

std::string finish_run_options(RunOptions& options) {
  cuda::Settings& s = options.settings;
  if (!options.ctas.empty() && !parse_ranges(options.ctas, &s.ctas)) {
    return fmt::format("--ctas takes numbers and ranges such as 0-3,7, not '{}'", options.ctas);
  }
  if (options.dry_run && options.launch_file.empty()) return "--dry-run goes with --launch SPEC.json";
  if (std::string wrong = wrong_pattern(s.kernel_names); !wrong.empty()) return wrong;
  if (std::string wrong = wrong_pattern(s.excluded_kernel_names); !wrong.empty()) return wrong;
  if (!s.phases_file.empty()) {
    // The program may change its folder, and adds to what it finds.
    s.phases_file = std::filesystem::absolute(s.phases_file).string();
    if (!std::ofstream(s.phases_file)) return fmt::format("cannot write '{}'", s.phases_file);
  }
  for (const std::string& file : {options.json_file, options.sarif_file}) {
    if (!file.empty() && !std::ofstream(file, std::ios::app)) return fmt::format("cannot write '{}'", file);
  }
  s.verbosity = options.verbose;
  return "";
}

int conclude(Outcome& outcome, const RunOptions& options, const std::vector<std::string>& program,
             Voice& voice) {
  outcome.tally.warnings_are_errors = options.error_on == "warning";
  if (options.before_verdict) options.before_verdict(voice);
  for (const report::Diagnostic& diagnostic : outcome.diagnostics) {
    if (diagnostic.times > diagnostic.times_told) {
      voice.say(fmt::format("note: {} {}: {}\n", diagnostic.times, diagnostic.unit, diagnostic.headline));
    }
  }
  if (outcome.is_enough()) voice.say("note: stopped at the first finding\n");
  if (outcome.left_out != 0) {
    voice.say(fmt::format("note: and {} more diagnostics, counted but not told\n", outcome.left_out));
  }
  int status = report::exit_status(outcome.tally, outcome.program_status, options.finding_status);
  const auto write = [&](const std::string& file, const nlohmann::json& document) {
    std::ofstream out(file);
    out << report::json_text(document, 2) << '\n';
    out.close();
    if (out) return;
    voice.say(fmt::format("error: cannot write '{}'\n", file));
    if (status == outcome.program_status) status = kExitUsage;
  };
  if (!options.json_file.empty()) {
    nlohmann::json diagnostics = nlohmann::json::array();
    for (const report::Diagnostic& diagnostic : outcome.diagnostics)
      diagnostics.push_back(report::to_json(diagnostic));
    const nlohmann::json document = {{"format", 1},
                                     {"program", program},
                                     {"program_status", outcome.program_status},
                                     {"signal", outcome.signal},
                                     {"exit_status", status},
                                     {"diagnostics", std::move(diagnostics)},
                                     {"diagnostics_left_out", outcome.left_out},
                                     {"tally", report::to_json(outcome.tally)}};
    write(options.json_file, document);
  }
  if (!options.sarif_file.empty()) {
    write(options.sarif_file, report::to_sarif(outcome.diagnostics, outcome.tally.interrupted_by,
                                               SLUICE_VERSION, check::meaning_of));
  }
  if (outcome.suppressed != 0) voice.say(fmt::format("note: findings suppressed: {}\n", outcome.suppressed));
  voice.say(report::verdict_line(outcome.tally) + "\n");
  return status;
}

}  // namespace sluice::cli
