// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What every subcommand that runs a program does: look at it, run it on the engine, say the verdict.
#pragma once

#include <string>
#include <vector>

#include "cli/run_options.hpp"

namespace sluice::cli {

/// Runs `program` (its name, then its arguments) and returns the exit status of the tool. `launch_file` says
/// how to launch a PTX file; empty for a program. `command` names the subcommand in error messages.
int run_program(RunOptions& options, const std::string& launch_file, std::vector<std::string>& program,
                const std::string& command);

}  // namespace sluice::cli
