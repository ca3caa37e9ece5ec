// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Separate compilation (-rdc=true): a kernel that calls a function and reads variables of another object.
#include "check.hpp"

extern __device__ int elsewhere(int value);
extern __device__ int offset_elsewhere;
static __device__ int hidden = 1;  // both objects have one of this name

__global__ void kernel(int* out) {
  out[threadIdx.x] = elsewhere(threadIdx.x) + offset_elsewhere + hidden;
}

int main() {
  if (no_device()) return kSkipped;
  int* out = nullptr;
  SHOW(cudaMallocManaged(&out, 128));
  kernel<<<1, 32>>>(out);
  SHOW(cudaDeviceSynchronize());
  SHOW_NUMBER(out[0]);
  SHOW_NUMBER(out[31]);
  SHOW(cudaFree(out));
  return 0;
}
