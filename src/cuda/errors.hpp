// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Error codes. Runtime and driver share one numbering, apart from codes that only the runtime has; inside the
// engine the runtime's number is used, and the driver's entry points translate on the way out.
#pragma once

#include <cuda.h>
#include <driver_types.h>

namespace sluice::cuda {

/// A code of cudaError_t or CUresult.
using Status = int;

constexpr Status kOk = cudaSuccess;

/// The driver's code for an engine status.
CUresult to_driver(Status status);

/// Names and texts as the real libraries give them; null for a code that they do not know.
const char* runtime_error_name(int code);
const char* driver_error_name(int code);
const char* error_text(int code);

}  // namespace sluice::cuda
