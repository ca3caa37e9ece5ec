// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// `sluice timeline`: what the barriers of a pipeline did, from a program that runs on the engine now or from
// a trace. Which launch and CTA are shown, and what is written where.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include "base/temporary_folder.hpp"
#include "base/words.hpp"
#include "cli/command.hpp"
#include "cli/program.hpp"
#include "cli/run_program.hpp"
#include "report/json_text.hpp"
#include "timeline/html.hpp"
#include "timeline/model_json.hpp"
#include "timeline/perfetto.hpp"
#include "timeline/svg.hpp"
#include "timeline/table.hpp"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;
constexpr const char* kCommand = "sluice timeline";

struct TimelineArguments {
  RunOptions options;
  timeline::TableOptions table;
  bool no_check = false;
  bool wants_table = false;
  uint64_t cta = 0;
  std::string which_launch;        ///< as given: a number, or how a PTX file is launched
  std::optional<uint64_t> launch;  ///< that number
  std::string trace_file;          ///< where the trace is kept
  std::string model_file, html_file, svg_file, perfetto_file;
  bool failed = false;  ///< a file could not be written
  std::string tiles;    ///< of the SVG: "first-last"
  std::vector<std::string> program;

  bool writes_file() const {
    return !model_file.empty() || !html_file.empty() || !svg_file.empty() || !perfetto_file.empty();
  }
  bool shows_table() const { return wants_table || table.log || !writes_file(); }
};

/// A launch of one of the traces.
struct Choice {
  const timeline::Trace* trace = nullptr;
  const timeline::TraceLaunch* launch = nullptr;
};

/// What is shown, and a sentence on what is not.
struct Shown {
  timeline::Model model;
  size_t trace = 0;  ///< which of the traces it is from
  std::string left_out;
};

/// The traces in the folder, in a fixed order.
std::vector<std::string> files_in(const TemporaryFolder& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder.path(), ignored)) names.push_back(entry.path());
  std::sort(names.begin(), names.end());
  return names;
}

bool is_trace(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  return fs::is_regular_file(file) && std::getline(in, line) &&
         line.find("\"sluice-trace\"") != std::string::npos;
}

bool matches(const TimelineArguments& a, const timeline::TraceLaunch& launch) {
  const auto& names = a.options.settings.kernel_names;
  if (a.launch && launch.ordinal != *a.launch) return false;
  return names.empty() || std::any_of(names.begin(), names.end(), [&](const std::string& pattern) {
           return cuda::kernel_name_matches(pattern, launch.kernel);
         });
}

/// What is not shown, and how to get at it.
std::string left_out_text(const timeline::Model& model, const timeline::TraceLaunch& launch,
                          size_t launches) {
  std::string text;
  const uint64_t ctas = launch.ctas_left_out + launch.ctas.size();
  if (ctas > 1)
    text += fmt::format("not shown: {} of this launch (--cta N)\n", counted(ctas - 1, "other CTA"));
  if (launches > 1)
    text += fmt::format("not shown: {} of this program (--launch N, --kernel-name NAME)\n",
                        counted(launches - 1, "other launch", "other launches"));
  if (!launch.ended) text += "the launch did not end: the program was stopped\n";
  if (model.failed) text += "the launch failed\n";
  return text;
}

/// The first launch with a ring; where none has one, the first with barriers, or the first of all.
Result<Shown> choose(const std::vector<timeline::Trace>& traces, const TimelineArguments& a) {
  std::optional<Shown> best;
  size_t best_rank = 0, launches = 0, matching = 0;
  const timeline::TraceLaunch* best_launch = nullptr;
  bool has_cta = false;
  uint64_t most_ctas = 0;
  for (size_t i = 0; i < traces.size(); ++i) {
    for (const timeline::TraceLaunch& launch : traces[i].launches) {
      ++launches;
      if (!matches(a, launch)) continue;
      ++matching;
      const auto cta = static_cast<uint32_t>(a.cta);
      const uint64_t all = uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
      most_ctas = std::max(most_ctas, all);
      const bool is_recorded =
          a.cta < all && (launch.ctas.empty() || std::ranges::count(launch.ctas, cta) != 0);
      has_cta = has_cta || is_recorded;
      if (!is_recorded || best_rank == 3) continue;
      timeline::Model model = timeline::build_model(traces[i], launch, cta);
      const size_t rank = !model.rings.empty() ? 3 : !model.barriers.empty() ? 2 : 1;
      if (rank <= best_rank) continue;
      best_rank = rank;
      best_launch = &launch;
      best = Shown{std::move(model), i, ""};
    }
  }
  if (launches == 0) return Error{"no kernel was launched", ""};
  if (matching == 0)
    return Error{fmt::format("none of {} matches", counted(launches, "launch", "launches")), ""};
  if (!has_cta && a.cta >= most_ctas)
    return Error{fmt::format("there is no CTA {}: the launch has {}", a.cta, counted(most_ctas, "CTA")), ""};
  if (!has_cta) return Error{fmt::format("CTA {} is not recorded", a.cta), ""};
  best->left_out = left_out_text(best->model, *best_launch, launches);
  return *std::move(best);
}

/// A launch has a number; anything else is the file that says how a PTX file is launched.
void read_launch(TimelineArguments& a) {
  const char* const begin = a.which_launch.data();
  const char* const end = begin + a.which_launch.size();
  uint64_t number = 0;
  const auto [at, failed] = std::from_chars(begin, end, number);
  if (failed == std::errc() && at == end)
    a.launch = number;
  else
    a.options.launch_file = a.which_launch;
}

/// "3-8" or "3"; nothing for anything else.
std::optional<timeline::TileRange> tile_range(const std::string& text) {
  timeline::TileRange range;
  const char* const end = text.data() + text.size();
  auto [at, failed] = std::from_chars(text.data(), end, range.first);
  if (failed != std::errc()) return {};
  range.last = range.first;
  if (at != end && *at == '-') {
    const auto second = std::from_chars(at + 1, end, range.last);
    if (second.ec != std::errc()) return {};
    at = second.ptr;
  }
  if (at != end || range.last < range.first) return {};
  return range;
}

/// Writes the files that are asked for; a sentence about what is wrong, or nothing.
std::string write_files(const TimelineArguments& a, const Shown& shown) {
  const auto write = [](const std::string& file, const std::string& text) {
    std::ofstream out(file);
    out << text;
    return out.flush() ? "" : fmt::format("cannot write '{}'", file);
  };
  const timeline::Model& model = shown.model;
  std::string wrong;
  if (!a.model_file.empty()) wrong = write(a.model_file, report::json_text(timeline::to_json(model)) + '\n');
  if (wrong.empty() && !a.html_file.empty()) wrong = write(a.html_file, timeline::to_html(model));
  if (wrong.empty() && !a.svg_file.empty()) {
    const auto svg = timeline::to_svg(model, tile_range(a.tiles));
    wrong = svg ? write(a.svg_file, *svg) : "--tiles " + a.tiles + ": " + svg.error().message;
  }
  if (wrong.empty() && !a.perfetto_file.empty())
    wrong = write(a.perfetto_file, report::json_text(timeline::to_perfetto(model)) + '\n');
  return wrong;
}

std::string text_of(const TimelineArguments& a, const Shown& shown) {
  std::string text = timeline::to_text(shown.model, a.table);
  if (!shown.left_out.empty()) text += "\n" + shown.left_out;
  return text;
}

int show_trace(const TimelineArguments& a) {
  if (!a.options.launch_file.empty())
    return usage_error(
        fmt::format("--launch takes the number of a launch of the trace, not '{}'", a.options.launch_file),
        kCommand);
  if (!a.trace_file.empty())
    return usage_error("--trace keeps the trace of a program that runs now", kCommand);
  auto trace = timeline::read_trace_file(a.program.front());
  if (!trace) return usage_error(trace.error().text(), kCommand);
  std::vector<timeline::Trace> traces;
  traces.push_back(*std::move(trace));
  auto shown = choose(traces, a);
  if (!shown) return usage_error(fmt::format("{}: {}", a.program.front(), shown.error().message), kCommand);
  if (const std::string wrong = write_files(a, *shown); !wrong.empty()) return usage_error(wrong, kCommand);
  return a.shows_table() ? print_out(text_of(a, *shown)) : 0;
}

/// After the program has ended.
void tell(TimelineArguments& a, const TemporaryFolder& folder, Voice& voice) {
  std::vector<timeline::Trace> traces;
  const std::vector<std::string> files = files_in(folder);
  for (const std::string& file : files) {
    auto trace = timeline::read_trace_file(file);
    if (!trace) return voice.say(fmt::format("internal error: {}\n", trace.error().text()));
    traces.push_back(*std::move(trace));
  }
  auto shown = choose(traces, a);
  if (!shown) {
    // Whoever asks for a certain one, or for files, must not take this for success.
    a.failed = a.launch || a.cta != 0 || a.writes_file() || !a.trace_file.empty();
    return voice.say(
        fmt::format("{}: nothing to show: {}\n", a.failed ? "error" : "note", shown.error().message));
  }
  if (!a.trace_file.empty()) {
    std::error_code failed;
    fs::copy_file(files[shown->trace], a.trace_file, fs::copy_options::overwrite_existing, failed);
    if (failed) voice.say(fmt::format("error: cannot write '{}'\n", a.trace_file));
    if (failed) a.failed = true;
  }
  if (const std::string wrong = write_files(a, *shown); !wrong.empty()) {
    voice.say("error: " + wrong + "\n");
    a.failed = true;
  }
  if (a.shows_table()) voice.say("\n" + text_of(a, *shown) + "\n");
}

int show_program(TimelineArguments& a) {
  if (std::string wrong = finish_run_options(a.options); !wrong.empty()) return usage_error(wrong, kCommand);
  for (const std::string& file : {a.trace_file, a.model_file, a.html_file, a.svg_file, a.perfetto_file}) {
    if (file.empty()) continue;
    std::error_code failed;
    const bool was_there = fs::exists(file, failed);
    if (!std::ofstream(file, std::ios::app))
      return usage_error(fmt::format("cannot write '{}'", file), kCommand);
    if (!was_there) fs::remove(file, failed);
  }
  const auto folder = TemporaryFolder::create("traces");
  if (!folder) return no_report_folder(folder.error().message);
  cuda::Settings& settings = a.options.settings;
  settings.tool = "timeline";
  settings.trace_folder = folder->path();
  settings.checked_timeline = !a.no_check;
  settings.traced_ctas = {a.cta};
  a.options.before_verdict = [&](Voice& voice) { tell(a, *folder, voice); };
  const int status = run_program(a.options, a.program, kCommand);
  return status == 0 && a.failed ? kExitUsage : status;
}

int show(TimelineArguments& a) {
  if (!a.tiles.empty() && a.svg_file.empty())
    return usage_error("--tiles says what --svg shows, and there is no --svg", kCommand);
  if (!a.tiles.empty() && !tile_range(a.tiles))
    return usage_error(fmt::format("--tiles takes FIRST-LAST, such as 0-23, not '{}'", a.tiles), kCommand);
  if (a.program.empty()) return usage_error("which program or trace? none is named", kCommand);
  read_launch(a);
  if (is_trace(a.program.front())) {
    if (a.program.size() > 1)
      return usage_error(fmt::format("one argument too many: '{}'", a.program[1]), kCommand);
    return show_trace(a);
  }
  return show_program(a);
}

}  // namespace

void add_timeline_command(Tool& tool) {
  auto arguments = std::make_shared<TimelineArguments>();
  CLI::App* command = tool.app.add_subcommand("timeline", "show what the barriers of a pipeline did");
  command->formatter(std::make_shared<HelpFormat>("sluice timeline [options] TRACE | [--] APP [ARGS]"));
  command->footer(
      "sluice timeline ./app args          runs app on the CPU and shows its first pipeline\n"
      "sluice timeline kernel.ptx --launch spec.json\n"
      "                                    the same of one kernel, launched as the file says "
      "(docs/tools/run.md)\n"
      "sluice timeline --cta 3 t.trace     shows CTA 3 of a trace, of the engine or of a GPU\n"
      "Times of the engine are virtual: they say who waits for whom, not how long a GPU takes.\n");
  const std::string shown = "What is shown";
  command
      ->add_flag("--table", arguments->wants_table,
                 "the barrier table of each ring, one row per tile (default)")
      ->group(shown);
  command->add_flag("--log", arguments->table.log, "also every change of a barrier, and the PipelineStates")
      ->group(shown);
  command->add_flag("--all", arguments->table.all_tiles, "all tiles and changes of a long run")->group(shown);
  command->add_option("--cta", arguments->cta, "which CTA, counted x fastest (default 0)")
      ->type_name("N")
      ->check(whole_number(0, UINT32_MAX))
      ->group(shown);
  command
      ->add_option("--launch", arguments->which_launch,
                   "which launch, counted from 0 (default: the first with a pipeline); or\n"
                   "APP is a PTX file, launched as the JSON file SPEC says")
      ->type_name("N|SPEC")
      ->group(shown);
  command->add_option("--html", arguments->html_file, "write a page for a browser to this file")
      ->type_name("FILE")
      ->group(shown);
  command->add_option("--svg", arguments->svg_file, "write a picture for a document to this file")
      ->type_name("FILE")
      ->group(shown);
  command
      ->add_option("--tiles", arguments->tiles,
                   "the tiles in that picture, such as 0-23 (default: the first 24)")
      ->type_name("FIRST-LAST")
      ->group(shown);
  command
      ->add_option("--perfetto", arguments->perfetto_file, "write a trace for ui.perfetto.dev to this file")
      ->type_name("FILE")
      ->group(shown);
  command->add_option("--trace", arguments->trace_file, "keep the trace in this file")
      ->type_name("FILE")
      ->group(shown);
  command
      ->add_flag("--no-check", arguments->no_check,
                 "do not look for what `sluice check` finds, and mark nothing")
      ->group(shown);
  command->add_option("--model", arguments->model_file, "write what was recognised to this file as JSON")
      ->type_name("FILE")
      ->group(shown);
  add_run_options(*command, arguments->options);
  tool.program_commands.push_back({command, &arguments->program});
  command->final_callback([arguments, &tool] { tool.status = show(*arguments); });
}

}  // namespace sluice::cli
