// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Two kernels, launched three times each, that count into one number which the program prints; a third never
// ends.
#include <cstdio>
#include <cstring>

namespace counting {
template <int N>
__global__ void add(int* p) {
  if (threadIdx.x == 0) atomicAdd(p, N);
}
}  // namespace counting
__global__ void add_thousand(int* p) {
  if (threadIdx.x == 0) atomicAdd(p, 1000);
}
__global__ void endless(int* p) {
  while (true) atomicAdd(p, 1);
}

int main(int argc, char** argv) {
  int* p = nullptr;
  cudaMalloc(&p, sizeof(int));
  cudaMemset(p, 0, sizeof(int));
  for (int i = 0; i < 3; ++i) {
    counting::add<1><<<10, 32>>>(p);
    add_thousand<<<2, 32>>>(p);
  }
  if (argc > 1 && std::strcmp(argv[1], "endless") == 0) endless<<<1, 1>>>(p);
  int value = 0;
  const cudaError_t status = cudaMemcpy(&value, p, sizeof value, cudaMemcpyDeviceToHost);
  std::printf("%d %s\n", value, cudaGetErrorName(status));
  return 0;
}
