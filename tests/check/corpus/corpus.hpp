// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What the programs of this folder share: they get `in`, write `out`, and know what must be in it. A program
// with BUG=0 is right; BUG=1 makes the mistake of its header. Lines that end in `// at` are those where a
// finding may be placed.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <vector>

#ifndef BUG
#define BUG 0
#endif

namespace corpus {

constexpr int kWords = 1024;

/// Element `i` of `in`; all differ.
__host__ __device__ constexpr uint32_t input(uint32_t i) {
  return i * 2654435761u + 12345u;
}

inline bool failed(cudaError_t status) {
  if (status != cudaSuccess) std::printf("CUDA error: %s\n", cudaGetErrorString(status));
  return status != cudaSuccess;
}

/// The buffers of a run: kWords words each.
struct Buffers {
  uint32_t* in = nullptr;
  uint32_t* out = nullptr;

  Buffers() {
    std::vector<uint32_t> words(kWords);
    for (int i = 0; i < kWords; ++i) words[i] = input(i);
    cudaMalloc(&in, kWords * sizeof(uint32_t));
    cudaMalloc(&out, kWords * sizeof(uint32_t));
    cudaMemcpy(in, words.data(), kWords * sizeof(uint32_t), cudaMemcpyHostToDevice);
    cudaMemset(out, 0, kWords * sizeof(uint32_t));
  }
};

/// Prints PASS if the first `count` words of `out` are `expected(i)`. Returns the program's exit status.
template <class Expected>
int judge(const Buffers& buffers, int count, Expected expected) {
  if (failed(cudaDeviceSynchronize())) return 2;
  std::vector<uint32_t> words(kWords);
  if (failed(cudaMemcpy(words.data(), buffers.out, kWords * sizeof(uint32_t), cudaMemcpyDeviceToHost)))
    return 2;
  int errors = 0;
  for (int i = 0; i < count; ++i) errors += words[i] != expected(static_cast<uint32_t>(i));
  if (errors != 0) std::printf("FAIL %d errors\n", errors);
  if (errors == 0) std::printf("PASS\n");
  return errors != 0;
}

using Kernel = void (*)(const uint32_t* in, uint32_t* out);

/// Launches `kernel` in clusters of `cluster` CTAs.
inline cudaError_t launch(Kernel kernel, const Buffers& buffers, int ctas, int threads, int cluster = 1) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {static_cast<unsigned>(cluster), 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(ctas);
  config.blockDim = dim3(threads);
  config.attrs = &attribute;
  config.numAttrs = cluster > 1 ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, const_cast<const uint32_t*>(buffers.in), buffers.out);
}

}  // namespace corpus
