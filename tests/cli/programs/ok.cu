// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A program with nothing wrong: prints its arguments and a line from the device, ends with 3 when asked to.
#include <cstdio>
#include <cstring>

__global__ void hello() {
  printf("hello from thread %d\n", threadIdx.x);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) std::printf("argument %s\n", argv[i]);
  hello<<<1, 2>>>();
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  return argc > 1 && std::strcmp(argv[1], "end-with-3") == 0 ? 3 : 0;
}
