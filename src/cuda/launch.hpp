// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Launches: the checks of the launch calls, the filters of the command line, the run on the machine, and what
// becomes of a fault.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>

#include "cuda/code.hpp"
#include "cuda/device_profile.hpp"
#include "cuda/errors.hpp"
#include "cuda/work.hpp"

namespace sluice::cuda {

class Process;

/// What every form of a launch call says.
struct LaunchShape {
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};
  uint32_t dynamic_shared = 0;
  bool cooperative = false;
  const CUlaunchAttribute* attributes = nullptr;
  size_t attribute_count = 0;
};

/// Checks a launch as the driver does and gathers the parameters, from `arguments` (a pointer per parameter)
/// or from `extra` (the driver's parameter buffer). kOk, or the code that the launch call returns.
Status prepare_launch(Process& process, Function& function, const LaunchShape& shape, void** arguments,
                      void** extra, KernelCall* out);

/// Runs the kernel unless the command line leaves it out. A fault is kept until a synchronising call shows
/// it; only what a GPU's launch call itself reports comes back as a code.
/// `overlaps_previous`: a GPU may begin it before the launch before has ended.
Status run_kernel(Process& process, const KernelCall& call, bool overlaps_previous = false);

/// Registers, threads and shared memory of a CTA of the kernel.
KernelResources resources_of(const Function& function, int threads, uint64_t dynamic_shared);

/// The bytes of dynamic shared memory that a launch may ask for without raising the function's limit.
uint32_t default_dynamic_shared(const Process& process, const Function& function);

}  // namespace sluice::cuda
