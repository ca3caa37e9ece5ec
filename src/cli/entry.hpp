// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The whole tool as one function.
#pragma once

namespace sluice::cli {

/// Runs the command line; the result is the exit status.
int run_tool(int argc, char** argv);

}  // namespace sluice::cli
