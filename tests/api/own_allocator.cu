// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A program with an operator new and delete of its own, which take back only what they gave: the libraries
// that it calls must neither free what is the program's nor have the program free what is theirs.
#include <map>
#include <string>

#include "check.hpp"

/// How many blocks of the program's own operator new live.
long long live_blocks();

__global__ void count(int* out) {
  printf("thread %d\n", threadIdx.x);
  atomicAdd(out, 1);
}
__global__ void fail() {
  asm volatile("trap;");
}

int main() {
  if (no_device()) return kSkipped;
  const long long before = live_blocks();
  int* out = nullptr;
  int value = 0;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  SHOW(cudaMalloc(&out, 4));
  SHOW(cudaMemset(out, 0, 4));
  SHOW(cudaStreamCreate(&stream));
  SHOW(cudaEventCreate(&event));
  count<<<1, 2, 0, stream>>>(out);
  SHOW(cudaEventRecord(event, stream));
  SHOW(cudaStreamSynchronize(stream));
  SHOW(cudaMemcpy(&value, out, 4, cudaMemcpyDeviceToHost));
  SHOW_NUMBER(value);
  SHOW(cudaMemcpy(out, out, 1 << 20, cudaMemcpyDeviceToHost));
  SHOW(cudaEventDestroy(event));
  SHOW(cudaStreamDestroy(stream));
  SHOW(cudaFree(out));
  fail<<<1, 1>>>();
  SHOW(cudaDeviceSynchronize());
  std::map<int, std::string> own;
  for (int i = 0; i < 100; ++i) own[i] = std::string(100, 'x');
  own.clear();
  SHOW_NUMBER(live_blocks() - before);
  return 0;
}
