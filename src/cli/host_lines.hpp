// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Places in the machine code of the program, which only its debug information can turn into lines.
#pragma once

#include "report/diagnostic.hpp"

namespace sluice::cli {

/// Gives places with an offset their file and line, or at least their function, where addr2line is installed
/// and knows them.
void find_host_lines(report::Diagnostic& diagnostic);

}  // namespace sluice::cli
