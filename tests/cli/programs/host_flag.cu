// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel that spins on a flag in mapped memory, which the host sets after the launch.
#include <cstdio>

__global__ void spin(volatile int* flag) {
  while (*flag == 0) {
  }
}

int main() {
  int* flag = nullptr;
  cudaHostAlloc(&flag, sizeof *flag, cudaHostAllocMapped);
  *flag = 0;
  int* on_device = nullptr;
  cudaHostGetDevicePointer(&on_device, flag, 0);
  spin<<<1, 1>>>(on_device);
  *flag = 1;
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}
