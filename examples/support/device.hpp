// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The CUDA runtime as the example programs use it: a check that ends the program with one line, a test for a
// GPU that can run the program, and an array in device memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <vector>

#include "command_line.hpp"

namespace example {

/// End the program with one line naming `step` unless `status` is success.
inline void check(const char* program, cudaError_t status, const char* step) {
  if (status == cudaSuccess) return;
  fail(program, "CUDA error: %s: %s (%s)", step, cudaGetErrorString(status), cudaGetErrorName(status));
}

/// End the program with one line unless the first device is of compute capability `major`.x (9: Hopper alone,
/// because sm_90a code runs on no other) or, with `or_newer`, of a later one.
inline void require_device(const char* program, int major, bool or_newer) {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status != cudaSuccess || devices == 0) {
    fail(program, "no CUDA device: %s; `build/bin/sluice run -- %s ...` needs none",
         status == cudaSuccess ? "none found" : cudaGetErrorString(status), program);
  }
  int has_major = 0;
  int has_minor = 0;
  check(program, cudaDeviceGetAttribute(&has_major, cudaDevAttrComputeCapabilityMajor, 0),
        "device attributes");
  check(program, cudaDeviceGetAttribute(&has_minor, cudaDevAttrComputeCapabilityMinor, 0),
        "device attributes");
  if (has_major == major || (or_newer && has_major > major)) return;
  fail(program, "no CUDA device of compute capability %d.x%s: the first one has %d.%d", major,
       or_newer ? " or newer" : "", has_major, has_minor);
}

/// `size` elements in device memory, freed with the object. Errors end the program.
template <class T>
class DeviceArray {
 public:
  DeviceArray(const char* program, std::size_t size) : program_(program), size_(size) {
    check(program_, cudaMalloc(&data_, bytes()), "cudaMalloc");
    check(program_, cudaMemset(data_, 0, bytes()), "cudaMemset");
  }
  DeviceArray(const char* program, const std::vector<T>& values) : DeviceArray(program, values.size()) {
    check(program_, cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice), "copy to the device");
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }

  T* data() const { return static_cast<T*>(data_); }

  std::vector<T> read() const {
    std::vector<T> values(size_);
    check(program_, cudaMemcpy(values.data(), data_, bytes(), cudaMemcpyDeviceToHost), "copy to the host");
    return values;
  }

 private:
  std::size_t bytes() const { return size_ * sizeof(T); }

  const char* program_;
  std::size_t size_;
  void* data_ = nullptr;
};

}  // namespace example
