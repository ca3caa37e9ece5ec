// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Two warps exchange values through shared memory; without an argument they do not wait for each other.
#include <cuda_runtime.h>

#include <cstdio>

__device__ int neighbour(const int* values) {
  return values[(threadIdx.x + 32) % 64];
}

__global__ void exchange(int* out, bool meet) {
  __shared__ int values[64];
  values[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (meet) __syncthreads();
  out[threadIdx.x] = neighbour(values);
}

int main(int argc, char**) {
  int* out = nullptr;
  cudaMalloc(&out, 64 * sizeof(int));
  exchange<<<1, 64>>>(out, argc > 1);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}
