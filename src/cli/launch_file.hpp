// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// `KERNEL.ptx --launch SPEC.json`: one kernel with its memory and launch shape from a file, run in a process
// of its own like any program. The format is documented in docs/tools/run.md.
#pragma once

#include <string>

#include "base/result.hpp"
#include "cli/supervise.hpp"

namespace sluice::cli {

/// The two files as read; nothing in them is judged yet.
struct LaunchFiles {
  std::string ptx_name, ptx;
  std::string spec_name, spec;
};

Result<LaunchFiles> read_launch_files(const std::string& ptx_name, const std::string& spec_name);

/// The process launches the kernel, or with `dry_run` says what it would launch. It ends with status 1 where
/// the launch failed or a comparison did, and kExitUsage where a file is wrong, which it has said then.
Starter launch_starter(LaunchFiles files, bool dry_run);

}  // namespace sluice::cli
