// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Calls from places where much of a process is gone already: destructors of static objects, atexit handlers,
// the end of a thread. `process_end NAME [unused]`; `unused`: main itself leaves the device alone.
#include <cstdlib>
#include <string>
#include <thread>

#include "check.hpp"

__global__ void add(int* out, int value) {
  *out += value;
}

namespace {

/// All that a program does with a device, small; the standard output is written through at once.
void use_device(const char* where) {
  std::printf("-- %s\n", where);
  int* memory = nullptr;
  cudaStream_t stream = nullptr;
  int value = 0;
  SHOW(cudaMalloc(&memory, 1024));
  SHOW(cudaMemset(memory, 0, 1024));
  SHOW(cudaStreamCreate(&stream));
  add<<<1, 1, 0, stream>>>(memory, 5);
  SHOW(cudaGetLastError());
  SHOW(cudaStreamSynchronize(stream));
  SHOW(cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDeviceToHost));
  SHOW_NUMBER(value);
  SHOW(cudaStreamDestroy(stream));
  SHOW(cudaFree(memory));
  // The program's heap works as before.
  std::string text;
  for (int i = 0; i < 1000; ++i) text += std::to_string(i);
  SHOW_NUMBER(text.size());
  std::fflush(stdout);
}

/// Uses the device when it is destroyed.
struct Late {
  const char* where = nullptr;
  ~Late() {
    if (where != nullptr) use_device(where);
  }
};

Late static_object;
thread_local Late thread_object;

void in_static_destructor() {
  static_object.where = "static destructor";
}
void in_late_static_destructor() {
  // Constructed in main, destroyed before what was there at start.
  static Late late;
  late.where = "static destructor of a local";
}
void in_atexit() {
  std::atexit([] { use_device("atexit"); });
}
void in_thread_end() {
  std::thread([] { thread_object.where = "thread end"; }).join();
}
void in_main_thread_end() {
  thread_object.where = "end of the first thread";
}
void in_many_thread_ends() {
  for (int i = 0; i < 4; ++i)
    std::thread([] {
      use_device("thread");
      thread_object.where = "thread end";
    }).join();
}
void in_all() {
  in_atexit();
  in_thread_end();
  in_main_thread_end();
  in_late_static_destructor();
  in_static_destructor();
}

const Case kCases[] = {
    {"static-destructor", in_static_destructor},
    {"late-static-destructor", in_late_static_destructor},
    {"atexit", in_atexit},
    {"thread-end", in_thread_end},
    {"main-thread-end", in_main_thread_end},
    {"many-thread-ends", in_many_thread_ends},
    {"all", in_all},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    if (no_device()) return kSkipped;
    use_device("main");
  }
  return run_case(kCases, argc, argv);
}
