// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Output of the API programs: one line per fact, without addresses, times or names of cards, so that a GPU
// and the engine print the same.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

/// Prints what a call returned: `SHOW(cudaFree(p));` -> "cudaFree(p) = cudaSuccess".
#define SHOW(call) std::printf("%s = %s\n", #call, cudaGetErrorName(call))

/// The same for the driver API.
#define SHOW_DRIVER(call)                                        \
  do {                                                           \
    const char* name = nullptr;                                  \
    if (cuGetErrorName(call, &name) != CUDA_SUCCESS) name = "?"; \
    std::printf("%s = %s\n", #call, name);                       \
  } while (false)

/// Prints a number with its expression.
#define SHOW_NUMBER(expression) std::printf("%s = %lld\n", #expression, static_cast<long long>(expression))

/// A program that needs a GPU and finds none says so and is skipped.
inline bool no_device() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0) return false;
  std::puts("skipped: no CUDA device here");
  return true;
}
constexpr int kSkipped = 77;

/// A case of a program that has several, each for a process of its own.
struct Case {
  const char* name;
  void (*run)();
};

/// Runs the case that the command line names; without it, says which there are.
template <int n>
int run_case(const Case (&cases)[n], int argc, char** argv) {
  for (const Case& one : cases) {
    if (argc < 2 || std::strcmp(argv[1], one.name) != 0) continue;
    one.run();
    return 0;
  }
  std::fprintf(stderr, "usage: %s NAME, one of:", argv[0]);
  for (const Case& one : cases) std::fprintf(stderr, " %s", one.name);
  std::fputc('\n', stderr);
  return 2;
}
