// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
//   interrupted kernel STARTED   ends only when somebody ends it, while a kernel runs
//   interrupted host STARTED     the same, between kernels
//   interrupted leave STARTED    ends by itself while a kernel runs
//   interrupted catch STARTED    takes a termination signal and ends with 5, between kernels
// The file STARTED comes to be when that state is reached.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>

__global__ void set(int* word) {
  *word = 1;
}

// Counts for ever, from when it has told that it runs.
__global__ void count(volatile int* running, volatile int* word) {
  *running = 1;
  while (true) *word = *word + 1;
}

void leave(int) {
  _exit(5);
}

int main(int, char** argv) {
  const char* mode = argv[1];
  const auto tell = [argv] { std::fclose(std::fopen(argv[2], "w")); };
  int *words = nullptr, *on_device = nullptr;
  cudaHostAlloc(&words, 2 * sizeof(int), cudaHostAllocMapped);
  cudaHostGetDevicePointer(&on_device, words, 0);
  std::memset(words, 0, 2 * sizeof(int));
  set<<<1, 1>>>(on_device + 1);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  if (std::strcmp(mode, "catch") == 0) std::signal(SIGTERM, leave);
  if (std::strcmp(mode, "host") == 0 || std::strcmp(mode, "catch") == 0) {
    tell();
    while (true) pause();
  }
  std::thread watcher([&] {
    while (*static_cast<volatile int*>(words) == 0) usleep(1000);
    tell();
    if (std::strcmp(mode, "leave") == 0) _exit(0);
  });
  count<<<1, 1>>>(on_device, on_device + 1);
  cudaDeviceSynchronize();
  watcher.join();
  return 0;
}
