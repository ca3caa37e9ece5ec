// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What `--phases FILE` writes: how many phases each mbarrier of a launch completed. A program that moves no
// data shows in these counts alone whether its pipeline did the work.
#pragma once

#include <cstdint>
#include <string>

#include "machine/launch.hpp"

namespace sluice::cuda {

/// Appends one line of JSON to the file: launch (ordinal in the process), kernel (readable name), fault (true
/// where the launch failed), mbarriers: a list of [linear CTA, offset in its shared memory, phases], sorted.
/// A file that cannot be written is left alone: the command line has tried it before.
void append_phases(const std::string& file, uint64_t launch, const std::string& kernel,
                   const machine::LaunchResult& result);

}  // namespace sluice::cuda
