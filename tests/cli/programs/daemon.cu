// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A process that leaves another one behind, as daemons do: two forks, a session of its own, no open files.
// The one left behind launches a kernel that fails, or stays for a while: `daemon fail|stay`.
#include <cuda_runtime.h>
#include <unistd.h>

#include <cstring>

__global__ void fail() {
  asm volatile("trap;");
}

int main(int, char** argv) {
  if (fork() != 0) return 0;
  setsid();
  if (fork() != 0) _exit(0);
  for (int file = 0; file < 256; ++file) close(file);
  if (std::strcmp(argv[1], "stay") == 0) {
    usleep(7000000);
    _exit(0);
  }
  usleep(300000);
  fail<<<1, 1>>>();
  cudaDeviceSynchronize();
  _exit(0);
}
