// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The verdict of a run: its last line and its exit status. Both are promises to scripts (see
// docs/tools/run.md).
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "report/diagnostic.hpp"

namespace sluice::report {

constexpr int kExitFinding = 101;
constexpr int kExitUnsupported = 102;
constexpr int kExitUndecided = 103;
constexpr int kExitInternal = 104;

/// What happened in a run, summed over its processes.
struct Tally {
  uint64_t schedules_run = 1, schedules_planned = 1;
  uint64_t kernels = 0;           ///< launches that ran
  uint64_t refused_launches = 0;  ///< launches that the engine cannot execute
  uint64_t skipped_launches = 0;  ///< launches left out by --kernel-name, --launch-skip or --launch-count
  uint64_t ctas_run = 0, ctas_left_out = 0;  ///< CTAs of the launches that ran; left out by --ctas
  bool without_data = false;                 ///< --no-data: payload was not computed
  uint64_t findings = 0;                     ///< distinct errors about the program
  uint64_t warnings = 0;
  uint64_t unsupported = 0, undecided = 0, internal = 0;  ///< distinct diagnostics of that blame
  bool warnings_are_errors = false;
  int interrupted_by = 0;  ///< the signal that ended the run before its time; 0: none did

  /// Counts one distinct diagnostic.
  void count(const Diagnostic& diagnostic);
};

/// The exit status of the tool: the program's own status when nothing was found, else 104, 102, 101 (or
/// `finding_status`), 128 + signal of an interrupted run, 103 in this order of precedence.
int exit_status(const Tally& tally, int program_status, int finding_status);

/// `verdict: ...`, without a newline: what was found and within which bound.
std::string verdict_line(const Tally& tally);

/// "SIGTERM"; "signal 35" where it has no name.
std::string signal_name(int signal);

/// The same for `--json`: one object with every number of the tally.
nlohmann::json to_json(const Tally& tally);

}  // namespace sluice::report
