// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies and fills of the driver API.
#include "cuda/calls.hpp"
#include "cuda/driver/copies.hpp"

using namespace sluice::cuda;

namespace {

enum class Wait : bool { No, Yes };

void* pointer_of(CUdeviceptr address) {
  return reinterpret_cast<void*>(address);
}

CUresult submit(const char* name, const Operation& operation, CUstream handle, Wait wait) {
  return driver_call(name, [&](Process& p) -> Status {
    Stream* stream = p.streams.find(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    return wait == Wait::Yes ? p.streams.submit_and_wait(*stream, operation)
                             : p.streams.submit(*stream, operation);
  });
}

CUresult copy(const char* name, void* to, const void* from, size_t bytes, Direction direction,
              CUstream stream, Wait wait) {
  return submit(name, Copy::linear(to, from, bytes, direction), stream, wait);
}

template <class Parameters>
CUresult copy_box(const char* name, const Parameters* parameters, CUstream stream, Wait wait) {
  Copy box;
  const CUresult status = driver_call(name, [&](Process& p) { return copy_from(p, parameters, &box); });
  return status == CUDA_SUCCESS ? submit(name, box, stream, wait) : status;
}

CUresult fill(const char* name, CUdeviceptr to, size_t pitch, uint32_t value, uint32_t element, size_t width,
              size_t height, CUstream stream) {
  return submit(name, Fill{pointer_of(to), value, element, width, height, 1, pitch, 0}, stream, Wait::No);
}

}  // namespace

SLUICE_DRIVER(cuMemcpy, CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return copy("cuMemcpy", pointer_of(to), pointer_of(from), bytes, Direction::Default, nullptr, Wait::Yes);
}
SLUICE_DRIVER(cuMemcpyAsync, CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return copy("cuMemcpyAsync", pointer_of(to), pointer_of(from), bytes, Direction::Default, stream, Wait::No);
}
SLUICE_DRIVER(cuMemcpyHtoD_v2, CUdeviceptr to, const void* from, size_t bytes) {
  return copy("cuMemcpyHtoD", pointer_of(to), from, bytes, Direction::HostToDevice, nullptr, Wait::Yes);
}
SLUICE_DRIVER(cuMemcpyDtoH_v2, void* to, CUdeviceptr from, size_t bytes) {
  return copy("cuMemcpyDtoH", to, pointer_of(from), bytes, Direction::DeviceToHost, nullptr, Wait::Yes);
}
SLUICE_DRIVER(cuMemcpyDtoD_v2, CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return copy("cuMemcpyDtoD", pointer_of(to), pointer_of(from), bytes, Direction::DeviceToDevice, nullptr,
              Wait::No);
}
SLUICE_DRIVER(cuMemcpyHtoDAsync_v2, CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  return copy("cuMemcpyHtoDAsync", pointer_of(to), from, bytes, Direction::HostToDevice, stream, Wait::No);
}
SLUICE_DRIVER(cuMemcpyDtoHAsync_v2, void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return copy("cuMemcpyDtoHAsync", to, pointer_of(from), bytes, Direction::DeviceToHost, stream, Wait::No);
}
SLUICE_DRIVER(cuMemcpyDtoDAsync_v2, CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return copy("cuMemcpyDtoDAsync", pointer_of(to), pointer_of(from), bytes, Direction::DeviceToDevice, stream,
              Wait::No);
}
SLUICE_DRIVER(cuMemcpyPeer, CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes) {
  return copy("cuMemcpyPeer", pointer_of(to), pointer_of(from), bytes, Direction::DeviceToDevice, nullptr,
              Wait::No);
}
SLUICE_DRIVER(cuMemcpyPeerAsync, CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes,
              CUstream stream) {
  return copy("cuMemcpyPeerAsync", pointer_of(to), pointer_of(from), bytes, Direction::DeviceToDevice, stream,
              Wait::No);
}
SLUICE_DRIVER(cuMemcpy2D_v2, const CUDA_MEMCPY2D* parameters) {
  return copy_box("cuMemcpy2D", parameters, nullptr, Wait::Yes);
}
SLUICE_DRIVER(cuMemcpy2DUnaligned_v2, const CUDA_MEMCPY2D* parameters) {
  return copy_box("cuMemcpy2DUnaligned", parameters, nullptr, Wait::Yes);
}
SLUICE_DRIVER(cuMemcpy2DAsync_v2, const CUDA_MEMCPY2D* parameters, CUstream stream) {
  return copy_box("cuMemcpy2DAsync", parameters, stream, Wait::No);
}
SLUICE_DRIVER(cuMemcpy3D_v2, const CUDA_MEMCPY3D* parameters) {
  return copy_box("cuMemcpy3D", parameters, nullptr, Wait::Yes);
}
SLUICE_DRIVER(cuMemcpy3DAsync_v2, const CUDA_MEMCPY3D* parameters, CUstream stream) {
  return copy_box("cuMemcpy3DAsync", parameters, stream, Wait::No);
}

SLUICE_DRIVER(cuMemsetD8_v2, CUdeviceptr to, unsigned char value, size_t count) {
  return fill("cuMemsetD8", to, count, value, 1, count, 1, nullptr);
}
SLUICE_DRIVER(cuMemsetD16_v2, CUdeviceptr to, unsigned short value, size_t count) {
  return fill("cuMemsetD16", to, count * 2, value, 2, count, 1, nullptr);
}
SLUICE_DRIVER(cuMemsetD32_v2, CUdeviceptr to, unsigned value, size_t count) {
  return fill("cuMemsetD32", to, count * 4, value, 4, count, 1, nullptr);
}
SLUICE_DRIVER(cuMemsetD2D8_v2, CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
              size_t height) {
  return fill("cuMemsetD2D8", to, pitch, value, 1, width, height, nullptr);
}
SLUICE_DRIVER(cuMemsetD2D16_v2, CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
              size_t height) {
  return fill("cuMemsetD2D16", to, pitch, value, 2, width, height, nullptr);
}
SLUICE_DRIVER(cuMemsetD2D32_v2, CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height) {
  return fill("cuMemsetD2D32", to, pitch, value, 4, width, height, nullptr);
}
SLUICE_DRIVER(cuMemsetD8Async, CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  return fill("cuMemsetD8Async", to, count, value, 1, count, 1, stream);
}
SLUICE_DRIVER(cuMemsetD16Async, CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
  return fill("cuMemsetD16Async", to, count * 2, value, 2, count, 1, stream);
}
SLUICE_DRIVER(cuMemsetD32Async, CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
  return fill("cuMemsetD32Async", to, count * 4, value, 4, count, 1, stream);
}
SLUICE_DRIVER(cuMemsetD2D8Async, CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
              size_t height, CUstream stream) {
  return fill("cuMemsetD2D8Async", to, pitch, value, 1, width, height, stream);
}
SLUICE_DRIVER(cuMemsetD2D16Async, CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
              size_t height, CUstream stream) {
  return fill("cuMemsetD2D16Async", to, pitch, value, 2, width, height, stream);
}
SLUICE_DRIVER(cuMemsetD2D32Async, CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height,
              CUstream stream) {
  return fill("cuMemsetD2D32Async", to, pitch, value, 4, width, height, stream);
}
