// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel that writes out of bounds, after one that does not.
#include <cstdio>

__global__ void fine(int* p) {
  p[threadIdx.x] = 1;
}
__global__ void beyond(int* p) {
  p[1 << 24] = 1;
}

int main() {
  int* p = nullptr;
  cudaMalloc(&p, 128);
  fine<<<1, 32>>>(p);
  beyond<<<1, 1>>>(p);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}
