// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Running the program under test: start it on the engine, pass on what its processes report while it runs,
// wait for it.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "cli/command.hpp"
#include "cuda/channel.hpp"
#include "cuda/settings.hpp"
#include "report/diagnostic.hpp"
#include "report/suppressions.hpp"
#include "report/verdict.hpp"

namespace sluice::cli {

/// What is said while the program runs.
enum class Loudness : int { Quiet = -1, Normal = 0, Verbose = 1 };

struct Outcome {
  report::Tally tally;
  std::vector<report::Diagnostic> diagnostics;    ///< distinct, with counts; the first of them
  std::unordered_map<std::string, size_t> known;  ///< by merge key: place in `diagnostics`, or kLeftOut
  uint64_t left_out = 0;                          ///< distinct ones beyond `most`
  int program_status = 0;                         ///< exit status, or 128 + signal
  int signal = 0;                                 ///< that ended the program; 0 if none did
  bool engine_loaded = false;                     ///< some process called the CUDA runtime
  report::Suppressions suppressions;              ///< findings that are not told
  uint64_t suppressed = 0;                        ///< findings that were not

  size_t most = kMost;         ///< distinct diagnostics that are told; the others are counted
  bool stop_at_first = false;  ///< the first error about the program ends the run

  bool is_enough() const { return stop_at_first && tally.findings != 0; }

  static constexpr size_t kMost = 1000;
  static constexpr size_t kLeftOut = SIZE_MAX;
};

/// Adds a diagnostic to the outcome and says it if it is a new one and not one too many.
void take(Outcome& outcome, report::Diagnostic diagnostic, Voice& voice, Loudness loudness);

/// Starts what is to be run, as a child process whose engine has these settings.
using Starter = std::function<Result<pid_t>(const cuda::Settings&)>;

/// `file` is what is executed, `arguments` starts with the name as given.
Starter program_starter(const std::string& file, const std::vector<std::string>& arguments,
                        const std::vector<std::string>& preload, const std::string& libraries);

/// A child process that ends with the status that `body` returns.
Result<pid_t> start_child(const std::function<int()>& body);

/// Runs the program; its processes report through `reader`, which is added to `outcome`. An error means that
/// it could not be started. A termination signal, or a second interrupt, ends the program, by force if it
/// does not end by itself; the tally then says so.
Result<Outcome> supervise(const Starter& start, cuda::Settings settings, cuda::ChannelReader& reader,
                          Voice& voice, Loudness loudness, Outcome outcome = {});

}  // namespace sluice::cli
