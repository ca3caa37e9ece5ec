// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Questions about kernels that both APIs ask: attributes, parameters, occupancy. `function` has been
// prepared.
#pragma once

#include <cuda.h>
#include <driver_types.h>

#include "cuda/code.hpp"
#include "cuda/launch.hpp"
#include "cuda/stream.hpp"

namespace sluice::cuda {

/// cudaErrorNotSupported where the engine refuses the kernel: nothing is known about it then.
Status fill_attributes(Process& process, const Function& function, cudaFuncAttributes* out);
Status function_attribute(Process& process, const Function& function, CUfunction_attribute attribute,
                          int* out);
Status set_function_attribute(Process& process, Function& function, CUfunction_attribute attribute,
                              int value);
Status parameter_info(const Function& function, size_t index, size_t* offset, size_t* bytes);

Status active_ctas(Process& process, const Function& function, int threads, size_t shared, int* out);
Status available_dynamic_shared(Process& process, const Function& function, int ctas, int threads,
                                size_t* out);
Status potential_cluster(Process& process, const Function& function, int threads, size_t shared, int* out);
Status resident_clusters(Process& process, const Function& function, const LaunchShape& shape, int* out);

/// Records the events that a launch's attributes name.
Status record_launch_events(Process& process, const LaunchShape& shape, Stream& stream);

}  // namespace sluice::cuda
