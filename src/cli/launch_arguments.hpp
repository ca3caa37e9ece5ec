// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The arguments of a launch description as the bytes that its kernel's parameters take.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/launch_spec.hpp"
#include "machine/kernel.hpp"

namespace sluice::cli {

/// Where each buffer lies, by name.
using BufferMemory = std::map<std::string, uint8_t*>;
using ArgumentValues = std::vector<std::vector<uint8_t>>;

/// A value for each argument. An error is a tensor map that breaks a rule of the driver.
Result<ArgumentValues> argument_values(const LaunchSpec& spec, const BufferMemory& memory);

/// Whether these are as many values as the kernel has parameters, each of its parameter's size.
Result<void> check_arguments(const LaunchSpec& spec, const ArgumentValues& values,
                             const std::vector<machine::KernelParameter>& parameters);

}  // namespace sluice::cli
