// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Conversion of copy parameters.
#include "cuda/runtime/copies.hpp"

#include "cuda/process.hpp"

namespace sluice::cuda {

Status pitched_copy(cudaPitchedPtr to, cudaPos to_at, cudaPitchedPtr from, cudaPos from_at, cudaExtent extent,
                    Direction direction, Copy* out) {
  const auto begin = [](cudaPitchedPtr memory, cudaPos at) {
    return static_cast<char*>(memory.ptr) + at.x + at.y * memory.pitch + at.z * memory.pitch * memory.ysize;
  };
  if (to.ptr == nullptr || from.ptr == nullptr) return cudaErrorInvalidValue;
  if (extent.width + to_at.x > to.pitch || extent.width + from_at.x > from.pitch)
    return cudaErrorInvalidPitchValue;
  if (extent.depth > 1 && (extent.height + to_at.y > to.ysize || extent.height + from_at.y > from.ysize)) {
    return cudaErrorInvalidValue;
  }
  *out = {begin(to, to_at), begin(from, from_at), extent.width,        extent.height,           extent.depth,
          to.pitch,         from.pitch,           to.pitch * to.ysize, from.pitch * from.ysize, direction};
  return kOk;
}

Status copy_from(Process& process, const cudaMemcpy3DParms* parameters, Copy* out) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  if (parameters->srcArray != nullptr || parameters->dstArray != nullptr) {
    process.say_unimplemented("cudaMemcpy3D", "CUDA arrays are not implemented");
    return cudaErrorNotSupported;
  }
  const auto direction = direction_of(parameters->kind);
  if (!direction) return cudaErrorInvalidMemcpyDirection;
  return pitched_copy(parameters->dstPtr, parameters->dstPos, parameters->srcPtr, parameters->srcPos,
                      parameters->extent, *direction, out);
}

cudaMemcpy3DParms parameters_of(const Copy& copy) {
  cudaMemcpy3DParms parameters{};
  const auto rows = [&](size_t slice, size_t pitch) { return slice == 0 ? copy.height : slice / pitch; };
  parameters.srcPtr = {const_cast<void*>(copy.from), copy.from_pitch, copy.width,
                       rows(copy.from_slice, copy.from_pitch)};
  parameters.dstPtr = {copy.to, copy.to_pitch, copy.width, rows(copy.to_slice, copy.to_pitch)};
  parameters.extent = {copy.width, copy.height, copy.depth};
  parameters.kind = static_cast<cudaMemcpyKind>(copy.direction);
  return parameters;
}

}  // namespace sluice::cuda
