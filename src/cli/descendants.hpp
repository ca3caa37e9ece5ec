// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Processes below this one, also those whose parents have ended (daemons).
#pragma once

#include <sys/types.h>

#include <vector>

namespace sluice::cli {

/// From now on processes whose parents end become children of this one.
void adopt_orphans();

/// Reaps the children that have ended. False if there are no others: then nothing is left below this process.
bool has_children();

/// Those that run, in no order; one that comes into being meanwhile may be missing.
std::vector<pid_t> descendants();

/// Whether the engine is loaded in a process.
bool has_engine(pid_t process);

}  // namespace sluice::cli
