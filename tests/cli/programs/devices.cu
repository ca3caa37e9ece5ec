// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// How many devices there are, under each list of visible devices that is an argument.
#include <cstdio>
#include <cstdlib>
#include <string>

int main(int argc, char** argv) {
  if (argc == 1) {
    int count = -1;
    const cudaError_t status = cudaGetDeviceCount(&count);
    std::printf("%d %s, %s\n", count, cudaGetErrorName(status), cudaGetErrorName(cudaFree(nullptr)));
    return 0;
  }
  for (int i = 1; i < argc; ++i) {
    std::printf("'%s': ", argv[i]);
    std::fflush(stdout);
    setenv("CUDA_VISIBLE_DEVICES", argv[i], 1);
    if (std::system((std::string("'") + argv[0] + "'").c_str()) != 0) return 1;
  }
  return 0;
}
