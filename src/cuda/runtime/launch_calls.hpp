// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What the runtime's launch functions share.
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/launch.hpp"
#include "cuda/process.hpp"

namespace sluice::cuda {

/// The shape of a launch without attributes, as the driver gets it: of the size of shared memory the runtime
/// hands on 32 bits.
inline LaunchShape plain_shape(dim3 grid, dim3 block, size_t shared) {
  const auto bytes = static_cast<uint32_t>(shared);
  return {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, bytes, false, nullptr, 0};
}

/// The kernel of a host symbol or handle for the device of `stream`, ready to be asked about.
Status prepared_function(Process& process, const void* symbol, int device, Function** out);

/// Launches, or records where the stream is captured.
Status launch_symbol(Process& process, const void* symbol, const LaunchShape& shape, void** arguments,
                     cudaStream_t stream);

}  // namespace sluice::cuda
