// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What the cases of ring_kernels share: device buffers, the list of cases, and the words for a wrong result.
#pragma once

#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "sluice/host/launch.hpp"
#include "sluice/host/tile_map.hpp"
#include "sluice/ring.hpp"

namespace ring_kernels {

/// A case: its name, and a function that returns what went wrong, or nothing.
struct Case {
  std::string name;
  std::function<std::string()> run;
};

/// Each file adds its cases.
void add_single_cta_cases(std::vector<Case>& cases);
void add_cluster_cases(std::vector<Case>& cases);
void add_wgmma_cases(std::vector<Case>& cases);

/// Device memory for `count` elements, filled from the host or with a pattern that no result has.
template <class T>
class Buffer {
 public:
  explicit Buffer(std::size_t count) : count_(count) {
    cudaMalloc(&data_, count * sizeof(T) + 16);
    cudaMemset(data_, 0xC3, count * sizeof(T) + 16);
  }
  explicit Buffer(const std::vector<T>& values) : Buffer(values.size()) {
    cudaMemcpy(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { cudaFree(data_); }

  T* data() const { return data_; }
  std::vector<T> read() const {
    std::vector<T> values(count_);
    cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost);
    return values;
  }

 private:
  std::size_t count_;
  T* data_ = nullptr;
};

/// Starts a kernel and waits for it; returns what went wrong.
template <class... Parameters, class... Arguments>
std::string run_kernel(void (*kernel)(Parameters...), const sluice::LaunchShape& shape,
                       Arguments&&... arguments) {
  if (const auto error = sluice::launch(kernel, shape, static_cast<Arguments&&>(arguments)...))
    return error.text;
  const cudaError_t status = cudaDeviceSynchronize();
  return status == cudaSuccess ? "" : std::string("the kernel ended with ") + cudaGetErrorName(status);
}

/// Where two results differ first; nothing if they are equal.
template <class T>
std::string difference(const std::vector<T>& seen, const std::vector<T>& expected) {
  if (seen.size() != expected.size()) return "results have different lengths";
  std::size_t wrong = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i] != expected[i] && wrong++ == 0) first = i;
  }
  if (wrong == 0) return "";
  return std::to_string(wrong) + " of " + std::to_string(seen.size()) + " elements wrong, first at " +
         std::to_string(first) + ": " + std::to_string(seen[first]) + " instead of " +
         std::to_string(expected[first]);
}

/// Values that differ between neighbours, rows and tiles.
template <class T>
std::vector<T> distinct_values(std::size_t count) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>((i * 2654435761u >> 7) % 32749);
  return values;
}

/// Keeps one warp or CTA behind the others, so that orders that hold by luck do not.
__device__ inline void dawdle(bool is_late) {
  if (is_late) __nanosleep(2000);
}

}  // namespace ring_kernels
