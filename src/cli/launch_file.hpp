// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// `sluice run KERNEL.ptx --launch SPEC.json`: one kernel with its memory and launch shape from a file. The
// format is documented in docs/tools/run.md.
#pragma once

#include <string>

#include "cli/run_options.hpp"

namespace sluice::cli {

/// Runs the kernel in this process. Returns the exit status: 1 where a comparison failed, 2 for a wrong file.
int run_ptx_file(const std::string& ptx_file, const std::string& spec_file, RunOptions& options,
                 Voice& voice);

}  // namespace sluice::cli
