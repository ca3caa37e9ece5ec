// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What a child process may do after fork: `forks NAME`.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "check.hpp"

__global__ void store(int* out, int value) {
  *out = value;
}

namespace {

int* parents = nullptr;
cudaStream_t parents_stream = nullptr;

void use_device() {
  int* memory = nullptr;
  int value = 0, count = 0;
  SHOW(cudaMalloc(&memory, 1024));
  store<<<1, 1>>>(memory, 7);
  SHOW(cudaGetLastError());
  SHOW(cudaDeviceSynchronize());
  if (memory != nullptr) SHOW(cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDeviceToHost));
  SHOW_NUMBER(value);
  SHOW(cudaGetDeviceCount(&count));
  SHOW_NUMBER(count);
}

/// The calls of a child whose parent had used the device.
void child_calls() {
  int value = 0, count = 0;
  size_t free = 0, total = 0;
  void* memory = nullptr;
  SHOW(cudaPeekAtLastError());
  SHOW(cudaGetDeviceCount(&count));
  SHOW(cudaSetDevice(0));
  SHOW(cudaGetDevice(&value));
  SHOW(cudaMemGetInfo(&free, &total));
  SHOW(cudaMalloc(&memory, 1024));
  SHOW(cudaGetLastError());
  SHOW(cudaGetLastError());
  store<<<1, 1>>>(parents, 9);
  SHOW(cudaGetLastError());
  SHOW(cudaMemcpy(&value, parents, sizeof value, cudaMemcpyDeviceToHost));
  SHOW(cudaStreamSynchronize(parents_stream));
  SHOW(cudaDeviceSynchronize());
  SHOW(cudaFree(parents));
  SHOW(cudaFree(nullptr));
  SHOW(cudaDeviceReset());
  SHOW(cudaMalloc(&memory, 1024));
}

/// Forks, lets the child do something, and waits for it.
template <class Function>
void in_child(Function run) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    std::puts("-- child");
    run();
    std::fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("-- parent: the child %s with %d\n", WIFEXITED(status) ? "ended" : "died",
              WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

void initialise() {
  SHOW(cudaMalloc(&parents, 1024));
  SHOW(cudaStreamCreate(&parents_stream));
}

void before_first_call() {
  in_child(use_device);
  use_device();
}
void after_count() {
  int count = 0;
  SHOW(cudaGetDeviceCount(&count));
  in_child(use_device);
  use_device();
}
void after_first_call() {
  initialise();
  in_child(child_calls);
  use_device();
}
/// Another thread is inside calls all the time.
void while_calling() {
  initialise();
  std::atomic<bool> stop = false;
  std::thread caller([&] {
    while (!stop) {
      void* memory = nullptr;
      cudaMalloc(&memory, 1 << 20);
      store<<<1, 1>>>(static_cast<int*>(memory), 1);
      cudaFree(memory);
    }
  });
  for (int i = 0; i < 20; ++i) {
    in_child([] {
      void* memory = nullptr;
      SHOW(cudaMalloc(&memory, 1024));
    });
  }
  stop = true;
  caller.join();
  use_device();
}
/// A child that only executes another program.
void then_execute() {
  initialise();
  in_child([] {
    execl("/proc/self/exe", "forks", "before-first-call", nullptr);
    _exit(1);
  });
  use_device();
}
/// The child returns from main, past what the runtime does at the end of a process.
void child_returns() {
  initialise();
  in_child([] {
    std::fflush(stdout);
    std::exit(5);
  });
  use_device();
}

const Case kCases[] = {
    {"before-first-call", before_first_call}, {"after-count", after_count},
    {"after-first-call", after_first_call},   {"while-calling", while_calling},
    {"then-execute", then_execute},           {"child-returns", child_returns},
};

}  // namespace

int main(int argc, char** argv) {
  return run_case(kCases, argc, argv);
}
