// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A launch from a description before it runs: whether the device takes its shape, and what it is in words.
#pragma once

#include <string>

#include "base/result.hpp"
#include "cli/launch_spec.hpp"
#include "cuda/code.hpp"
#include "cuda/device_profile.hpp"
#include "cuda/process.hpp"
#include "cuda/work.hpp"

namespace sluice::cli {

/// The limits that a launch call answers with a mere code, named with their numbers. The kernel is known.
Result<void> check_shape(const cuda::DeviceProfile& device, const cuda::Function& function,
                         const LaunchSpec& spec);

/// What `--dry-run` prints.
std::string launch_plan(const cuda::Process& process, const cuda::Function& function, const LaunchSpec& spec,
                        const cuda::KernelCall& call, const std::string& ptx_file);

}  // namespace sluice::cli
