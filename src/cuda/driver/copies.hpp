// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The driver's descriptions of copies, as copies of the engine.
#pragma once

#include <cuda.h>

#include "cuda/memory.hpp"

namespace sluice::cuda {

class Process;

/// Null parameters and CUDA arrays are errors.
Status copy_from(Process& process, const CUDA_MEMCPY2D* parameters, Copy* out);
Status copy_from(Process& process, const CUDA_MEMCPY3D* parameters, Copy* out);
CUDA_MEMCPY3D driver_parameters_of(const Copy& copy);

}  // namespace sluice::cuda
