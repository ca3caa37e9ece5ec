// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What every subcommand that runs a program does: look at it, run it on the engine, say the verdict.
#pragma once

#include <string>
#include <vector>

#include "cli/run_options.hpp"

namespace sluice::cli {

/// Runs `program` (its name, then its arguments), or the PTX file of that name where the options say how to
/// launch it, and returns the exit status of the tool. `command` names the subcommand in error messages.
int run_program(const RunOptions& options, const std::vector<std::string>& program,
                const std::string& command);

}  // namespace sluice::cli
