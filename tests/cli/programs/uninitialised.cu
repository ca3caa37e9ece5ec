// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory that is never written decides a branch in one kernel and is masked in the other.
#include <cuda_runtime.h>

#include <cstdio>

constexpr int kThreads = 32;

__global__ void count_large(const int* values, int* out) {
  if (values[threadIdx.x] > 100) atomicAdd(out, 1);
}

__global__ void sum_first(const int* values, int* out, int count) {
  const int4 four = reinterpret_cast<const int4*>(values)[threadIdx.x];
  const int i = 4 * static_cast<int>(threadIdx.x);
  const int sum = (i < count ? four.x : 0) + (i + 1 < count ? four.y : 0) + (i + 2 < count ? four.z : 0) +
                  (i + 3 < count ? four.w : 0);
  atomicAdd(out, sum);
}

int main() {
  int *values = nullptr, *out = nullptr;
  cudaMalloc(&values, 4 * kThreads * sizeof(int));
  cudaMalloc(&out, sizeof(int));
  cudaMemset(out, 0, sizeof(int));
  cudaMemset(values, 0, 5 * sizeof(int));
  sum_first<<<1, kThreads>>>(values, out, 5);
  count_large<<<1, kThreads>>>(values, out);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}
