// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A fatal signal while a kernel runs: `crash engine` sends it to the thread that launched the kernel, as a
// crash inside the engine would; `crash program` to a thread of the program's own.
#include <pthread.h>
#include <signal.h>

#include <cstring>
#include <thread>

__global__ void endless(volatile int* running) {
  while (true) *running = *running + 1;
}

int main(int argc, char** argv) {
  volatile int* running = nullptr;
  cudaMallocManaged(&running, sizeof(int));
  *running = 0;
  const bool meets_engine = argc > 1 && std::strcmp(argv[1], "engine") == 0;
  const pthread_t launching = pthread_self();
  std::thread([=] {
    while (*running == 0) {
    }
    pthread_kill(meets_engine ? launching : pthread_self(), SIGSEGV);
  }).detach();
  endless<<<1, 1>>>(running);
  cudaDeviceSynchronize();
  return 0;
}
