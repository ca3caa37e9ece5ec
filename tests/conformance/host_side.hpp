// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The host's half of the matrix multiplications of this folder: inputs, the product computed on the host, and
// the comparison. Inputs are small integers, exact in every element type used here (e4m3 too), and so is each
// sum in fp32: the result must be equal bit for bit, in whatever order a kernel adds.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace conformance {

inline void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("CUDA error: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(2);
}

/// Extents of D (m x n) = A (m x k) * B (k x n), from the command line: PROGRAM [SIZE | M N K].
struct Extents {
  int m = 512, n = 512, k = 512;

  static Extents from(int argc, char** argv) {
    Extents e;
    if (argc == 2) e.m = e.n = e.k = std::atoi(argv[1]);
    if (argc == 4) e = {std::atoi(argv[1]), std::atoi(argv[2]), std::atoi(argv[3])};
    if ((argc != 1 && argc != 2 && argc != 4) || e.m <= 0 || e.n <= 0 || e.k <= 0) {
      std::fprintf(stderr, "usage: %s [SIZE | M N K]\n", argv[0]);
      std::exit(2);
    }
    return e;
  }
};

/// Integers from -3 to 3 that differ along rows, columns and tiles.
inline std::vector<std::int8_t> integers(int rows, int columns, std::uint32_t seed) {
  std::vector<std::int8_t> values(static_cast<std::size_t>(rows) * columns);
  std::uint32_t state = seed;
  for (std::int8_t& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<std::int8_t>(static_cast<int>((state >> 16) % 7) - 3);
  }
  return values;
}

/// Zeroes two of every four neighbours in a row, which two changing from group to group: 2:4 structured
/// sparsity. The two that stay are not zero, since a compressor may place zeros as it likes.
inline void make_two_of_four(std::vector<std::int8_t>& values, std::uint32_t seed) {
  constexpr int kKept[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
  std::uint32_t state = seed;
  for (std::size_t group = 0; group + 4 <= values.size(); group += 4) {
    state = state * 1664525u + 1013904223u;
    const auto& kept = kKept[(state >> 16) % 6];
    for (int i = 0; i < 4; ++i) {
      std::int8_t& value = values[group + i];
      const bool stays = i == kept[0] || i == kept[1];
      if (!stays)
        value = 0;
      else if (value == 0)
        value = 1;
    }
  }
}

/// The elements in the type of the kernel, in device memory. The memory lives as long as the process.
template <class Element>
Element* on_device(const std::vector<std::int8_t>& values) {
  std::vector<Element> elements(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) elements[i] = Element(static_cast<float>(values[i]));
  Element* memory = nullptr;
  check(cudaMalloc(&memory, elements.size() * sizeof(Element)), "cudaMalloc");
  check(cudaMemcpy(memory, elements.data(), elements.size() * sizeof(Element), cudaMemcpyHostToDevice),
        "copy in");
  return memory;
}

/// Device memory filled with a pattern that is no result.
inline void* unset(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes == 0 ? 1 : bytes), "cudaMalloc");
  check(cudaMemset(memory, 0xff, bytes), "cudaMemset");
  return memory;
}

/// Compares D (m x n, row-major) with the product of A (m x k, row-major) and B (k x n, column-major). Prints
/// PASS or how many elements are wrong and the first of them; returns the exit status.
inline int judge(const char* name, Extents e, const std::vector<std::int8_t>& a,
                 const std::vector<std::int8_t>& b, const float* device_d) {
  check(cudaDeviceSynchronize(), "kernel");
  std::vector<float> d(static_cast<std::size_t>(e.m) * e.n);
  check(cudaMemcpy(d.data(), device_d, d.size() * sizeof(float), cudaMemcpyDeviceToHost), "copy out");
  long wrong = 0;
  for (int row = 0; row < e.m; ++row) {
    for (int column = 0; column < e.n; ++column) {
      const std::int8_t* left = &a[static_cast<std::size_t>(row) * e.k];
      const std::int8_t* right = &b[static_cast<std::size_t>(column) * e.k];
      int sum = 0;
      for (int i = 0; i < e.k; ++i) sum += left[i] * right[i];
      const float got = d[static_cast<std::size_t>(row) * e.n + column];
      if (got == static_cast<float>(sum)) continue;
      if (wrong++ == 0) std::printf("D(%d,%d) is %g, not %d\n", row, column, got, sum);
    }
  }
  if (wrong == 0)
    std::printf("PASS %s %dx%dx%d\n", name, e.m, e.n, e.k);
  else
    std::printf("FAIL %s %dx%dx%d: %ld of %zu elements are wrong\n", name, e.m, e.n, e.k, wrong, d.size());
  return wrong == 0 ? 0 : 1;
}

}  // namespace conformance
