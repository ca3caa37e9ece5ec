// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Running the program under test: start it on the engine, pass on what its processes report while it runs,
// wait for it.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/command.hpp"
#include "cuda/settings.hpp"
#include "report/diagnostic.hpp"
#include "report/suppressions.hpp"
#include "report/verdict.hpp"

namespace sluice::cli {

/// What is said while the program runs.
enum class Loudness : int { Quiet = -1, Normal = 0, Verbose = 1 };

struct Outcome {
  report::Tally tally;
  std::vector<report::Diagnostic> diagnostics;  ///< distinct, with counts
  int program_status = 0;                       ///< exit status, or 128 + signal
  int signal = 0;                               ///< that ended the program; 0 if none did
  bool engine_loaded = false;                   ///< some process called the CUDA runtime
  report::Suppressions suppressions;            ///< findings that are not told
  uint64_t suppressed = 0;                      ///< findings that were not
};

/// Adds a diagnostic to the outcome and says it if it is a new one.
void take(Outcome& outcome, report::Diagnostic diagnostic, Voice& voice, Loudness loudness);

/// Runs the program; `file` is what is executed, `arguments` starts with the name as given. What it reports
/// is added to `outcome`. An error means that it could not be started.
Result<Outcome> supervise(const std::string& file, const std::vector<std::string>& arguments,
                          const std::vector<std::string>& preload, const std::string& libraries,
                          cuda::Settings settings, Voice& voice, Loudness loudness, Outcome outcome = {});

}  // namespace sluice::cli
