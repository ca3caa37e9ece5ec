// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What the command line tells the engine inside the program under test. It travels as JSON in one environment
// variable, so that scripts, forks and children of children receive it too.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace sluice::cuda {

/// Name of the environment variable that carries the settings.
constexpr const char* kSettingsVariable = "SLUICE_SETTINGS";

struct Settings {
  std::string tool = "run";     ///< subcommand: run, check, explore, ...
  std::string device = "h200";  ///< whose properties and limits are shown: h100 or h200
  int device_count = 1;
  std::vector<std::string> kernel_names;           ///< run these kernels only; empty = all
  std::vector<std::string> excluded_kernel_names;  ///< never run these
  uint64_t launch_skip = 0;                        ///< of the launches that match, leave out the first ones
  uint64_t launch_count = std::numeric_limits<uint64_t>::max();  ///< and run this many
  std::vector<std::pair<uint64_t, uint64_t>> ctas;  ///< linear CTA ranges [first, last] to run; empty = all
  bool no_data = false;
  bool lazy_unsupported = false;  ///< an unsupported instruction ends the launch that reaches it
  double timeout_seconds = 0;     ///< wall clock per launch; 0 = none
  std::string copies = "early";   ///< when asynchronous copies land: early, late or shuffled
  uint64_t seed = 0;
  std::string uninit = "off";  ///< reads of undefined bytes: off, warn, error
  bool perturb = false;        ///< an unfair schedule, chosen by the seed
  bool hasty_waits = false;    ///< a try_wait may answer false without having waited
  unsigned side_by_side = 1;   ///< clusters that run side by side
  unsigned workers = 0;        ///< host threads per launch; 0 = as many as the host has
  int verbosity = 0;           ///< 1: a line per launch, 2: also a line per call
  std::string phases_file;   ///< a JSON record per launch is appended: phases of every mbarrier; empty: none
  std::string trace_folder;  ///< of `timeline`: each process leaves its trace there, PID.trace
  bool checked_timeline = false;      ///< `timeline` marks what `check` finds
  std::vector<uint64_t> traced_ctas;  ///< linear CTAs that are recorded
  std::string report_directory;  ///< where processes under test leave their reports; empty: text on stderr
};

std::string to_json_text(const Settings& settings);
/// An error names the member that is wrong. Unknown members are errors: both sides are of one build.
Result<Settings> settings_from_json_text(std::string_view text);

/// Whether `pattern` selects a kernel: `regex:EXPR` is searched in the readable name, any other pattern must
/// be the mangled name, the readable name, or the readable name up to its template or parameter list.
bool kernel_name_matches(std::string_view pattern, std::string_view mangled);

}  // namespace sluice::cuda
