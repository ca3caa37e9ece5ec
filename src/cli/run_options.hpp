// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The options that every command which runs programs takes, and the end of such a run.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "cli/supervise.hpp"
#include "cuda/settings.hpp"

namespace sluice::cli {

struct RunOptions {
  cuda::Settings settings;
  std::string ctas;         ///< as given: "0-3,7"
  std::string launch_file;  ///< how a PTX file is launched; empty for a program
  bool dry_run = false;     ///< with it: say what would be launched
  std::string log_file;
  std::string json_file;
  std::string sarif_file;
  std::vector<std::string> suppression_files;
  std::string baseline_file;
  int finding_status = 101;
  std::string error_on = "error";  ///< the level that counts as a finding: error or warning
  size_t max_findings = Outcome::kMost;
  bool stop_at_first = false;
  std::string color = "auto";
  bool quiet = false;
  int verbose = 0;
  uint64_t perturbed_schedules = 0;  ///< runs of the program after the first one, each with another seed
  std::function<void(Voice& voice)> before_verdict;  ///< says what else a command has to tell; may be empty

  Loudness loudness() const {
    return quiet ? Loudness::Quiet : verbose > 0 ? Loudness::Verbose : Loudness::Normal;
  }
};

void add_run_options(CLI::App& command, RunOptions& options);
/// Those of commands that take a PTX file, too.
void add_launch_options(CLI::App& command, RunOptions& options);
/// Completes the settings; a sentence about what is wrong, or nothing.
std::string finish_run_options(RunOptions& options);

/// Says the verdict and writes the JSON file. Returns the exit status.
int conclude(Outcome& outcome, const RunOptions& options, const std::vector<std::string>& program,
             Voice& voice);

}  // namespace sluice::cli
