// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A look at the program under test before it starts: which file it is, whether the engine can stand in for
// its CUDA runtime, and what of the environment that takes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "report/diagnostic.hpp"

namespace sluice::cli {

/// The file that `name` means: itself where it has a slash or is a PTX file, else the first executable of
/// that name in PATH.
std::optional<std::string> find_program(const std::string& name);

/// Whether the file is PTX text, to be run by `--launch`.
bool is_ptx_file(const std::string& path);
/// Whether it is that, or something else that exists and cannot be executed: a pipe, a cubin, another text.
bool is_no_program(const std::string& path);

struct ProgramLook {
  std::optional<report::Diagnostic> refusal;  ///< why it cannot run on the engine
  std::vector<std::string>
      preload;  ///< libraries to preload, where a run path would win over LD_LIBRARY_PATH
};

/// Looks at an executable file; nothing is known about scripts.
ProgramLook look_at(const std::string& path, const std::string& library_directory);

/// The folder with the engine's libraries, found from the tool's own place.
Result<std::string> library_directory();

}  // namespace sluice::cli
