// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The runtime's descriptions of copies, as copies of the engine.
#pragma once

#include <driver_types.h>

#include <optional>

#include "cuda/memory.hpp"

namespace sluice::cuda {

class Process;

inline std::optional<Direction> direction_of(cudaMemcpyKind kind) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return std::nullopt;
  return static_cast<Direction>(kind);
}

/// The box of a 3D copy between pitched memories; positions are in bytes, rows and slices.
Status pitched_copy(cudaPitchedPtr to, cudaPos to_at, cudaPitchedPtr from, cudaPos from_at, cudaExtent extent,
                    Direction direction, Copy* out);
/// Null parameters and CUDA arrays are errors.
Status copy_from(Process& process, const cudaMemcpy3DParms* parameters, Copy* out);
cudaMemcpy3DParms parameters_of(const Copy& copy);

}  // namespace sluice::cuda
