// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Name and text of every error code that the runtime knows. NVIDIA's own libcudart answers without a GPU, so
// the test compares the two on any machine that has it.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

int main() {
  const auto unknown = static_cast<cudaError_t>(5000);
  for (int code = 0; code <= 10001; ++code) {
    const auto error = static_cast<cudaError_t>(code);
    if (std::strcmp(cudaGetErrorName(error), cudaGetErrorName(unknown)) == 0) continue;
    std::printf("%d %s: %s\n", code, cudaGetErrorName(error), cudaGetErrorString(error));
  }
  std::printf("unknown: %s, %s\n", cudaGetErrorName(unknown), cudaGetErrorString(unknown));
  return 0;
}
