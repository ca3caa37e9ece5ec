// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The host's half of programs around other people's kernels: random inputs, device memory, and the comparison
// with what the host computed.
#pragma once

#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "../host_side.hpp"

namespace conformance {

/// Uniform values, each rounded to T, the same on every run.
template <class T>
std::vector<T> uniform(std::size_t count, unsigned seed, float low = -1, float high = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> value(low, high);
  std::vector<T> values(count);
  for (T& v : values) v = T(value(random));
  return values;
}

template <class T>
std::vector<float> floats(const std::vector<T>& values) {
  std::vector<float> result;
  for (const T& v : values) result.push_back(static_cast<float>(v));
  return result;
}

/// Device memory that lives as long as the process.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    check(cudaMalloc(&memory_, count * sizeof(T)), "cudaMalloc");
    check(cudaMemset(memory_, 0, count * sizeof(T)), "cudaMemset");
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    check(cudaMemcpy(memory_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice), "copy in");
  }
  T* get() const { return memory_; }
  std::size_t size() const { return count_; }
  std::vector<T> read() const {
    std::vector<T> values(count_);
    check(cudaMemcpy(values.data(), memory_, count_ * sizeof(T), cudaMemcpyDeviceToHost), "copy out");
    return values;
  }

 private:
  T* memory_ = nullptr;
  std::size_t count_;
};

/// What a value may be off by: a part of the root mean square of all wanted values, and a part of its own.
struct Tolerance {
  double of_all, of_value;
};

/// Prints PASS or FAIL with the errors seen; true if all values are as wanted.
template <class T>
bool close(const std::string& what, const std::vector<T>& got, const std::vector<float>& want,
           Tolerance allowed) {
  double squares = 0, sum = 0, largest = 0;
  for (const float w : want) squares += double{w} * w;
  const double rms = std::sqrt(squares / static_cast<double>(want.size()));
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double error = std::fabs(static_cast<double>(static_cast<float>(got[i])) - want[i]);
    sum += error;
    largest = std::fmax(largest, error);
    if (error <= allowed.of_all * rms + allowed.of_value * std::fabs(want[i])) continue;
    if (wrong++ < 3) std::printf("  [%zu] is %g, not %g\n", i, static_cast<float>(got[i]), want[i]);
  }
  std::printf("%s %s: %zu of %zu wrong; of the root mean square, the largest error is %.2g, the mean %.2g\n",
              wrong == 0 && rms > 0 ? "PASS" : "FAIL", what.c_str(), wrong, want.size(), largest / rms,
              sum / static_cast<double>(want.size()) / rms);
  return wrong == 0 && rms > 0;
}

/// D (m x n) = A (m x k) * B: element (i, j) of the operands as `a(i, l)` and `b(l, j)`.
template <class A, class B>
std::vector<float> product(int m, int n, int k, A a, B b) {
  std::vector<float> d(static_cast<std::size_t>(m) * n);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int l = 0; l < k; ++l) sum += double{a(i, l)} * b(l, j);
      d[static_cast<std::size_t>(i) * n + j] = static_cast<float>(sum);
    }
  }
  return d;
}

inline void finish(const char* what) {
  check(cudaGetLastError(), what);
  check(cudaDeviceSynchronize(), what);
}

}  // namespace conformance
