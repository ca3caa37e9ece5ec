// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel that may begin before the one before it has ended, and reads what that one writes: without waiting
// for it, or, with an argument, behind the wait.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void produce(int* values) {
  values[threadIdx.x] = static_cast<int>(threadIdx.x);
}

__global__ void consume(const int* values, int* out, bool wait) {
  if (wait) asm volatile("griddepcontrol.wait;" ::: "memory");
  out[threadIdx.x] = values[threadIdx.x] + 1;
}

int main(int argc, char**) {
  int *values = nullptr, *out = nullptr;
  cudaMalloc(&values, 32 * sizeof(int));
  cudaMalloc(&out, 32 * sizeof(int));
  produce<<<1, 32>>>(values);
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = 1;
  config.blockDim = 32;
  config.attrs = &early;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, consume, static_cast<const int*>(values), out, argc > 1);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}
