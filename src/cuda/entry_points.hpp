// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Entry points of the driver by name and version.
#pragma once

#include <cuda.h>

#include "cuda/errors.hpp"

namespace sluice::cuda {

class Process;

/// The newest form of `name` that the API `version` (12040 for 12.4) has. `found` says whether the name is
/// unknown or newer than that.
void* entry_point(const char* name, int version, bool per_thread, CUdriverProcAddressQueryResult* found);

/// cudaGetDriverEntryPoint and its kin: an unknown name is a query result, not an error.
Status runtime_entry_point(const char* name, int version, unsigned long long flags, void** out,
                           CUdriverProcAddressQueryResult* result);

/// Remembers that the code at `caller` looks up entry points by name, as a CUDA runtime does for all it
/// calls.
void note_lookup(const void* caller);
bool has_looked_up(const void* caller);  ///< whether code of the same program or library has

/// Reports, once per library, that the code at `caller` asks for NVIDIA's internal tables.
void say_internal_table(Process& process, const void* caller);

}  // namespace sluice::cuda
