// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels that fail: which code the launch, the next synchronisation and later calls return. One fault per
// process, since all but the first would only repeat it: `faults NAME`.
// The assertion is the case, whatever the build.
#undef NDEBUG
#include <cassert>
#include <cstring>

#include "check.hpp"

/// Far from everything: a GPU maps memory in pieces of 2 MiB and lets pass what stays inside one, or meets a
/// neighbour.
__global__ void out_of_bounds(int* p) {
  p[1ll << 36] = 1;
}
__global__ void null_pointer(int* p) {
  *static_cast<volatile int*>(nullptr) = *p;
}
__global__ void misaligned(char* p) {
  *reinterpret_cast<int*>(p + 1) = 1;
}
__global__ void failed_assert(int* p) {
  assert(*p == 1234567);
}
__global__ void trap(int*) {
  asm volatile("trap;");
}
__global__ void divide_by_zero(int* p) {
  p[1] = 100 / p[0];
}
__global__ void shared_out_of_bounds(int* p) {
  extern __shared__ int memory[];
  memory[p[0] + 100000] = 1;
  __syncthreads();
  p[0] = memory[0];
}
__device__ int recurse(volatile int* p, int depth) {
  volatile int frame[64];
  frame[depth & 63] = depth;
  if (depth > 1000000) return frame[0];
  return recurse(p, depth + 1) + frame[depth & 63];
}
__global__ void deep_recursion(int* p) {
  *p = recurse(p, *p);
}
__global__ void full_heap(int* p) {
  // More than the heap of device-side malloc has: a null pointer.
  *static_cast<volatile int*>(malloc(size_t{1} << 40)) = *p;
}
__global__ void write_constant_space(int* p) {
  p[0] = 3;
}

namespace {

struct Fault {
  const char* name;
  void (*launch)(int*);
};

const Fault kFaults[] = {
    {"none", [](int* p) { write_constant_space<<<1, 1>>>(p); }},
    {"out-of-bounds", [](int* p) { out_of_bounds<<<1, 1>>>(p); }},
    {"null", [](int* p) { null_pointer<<<1, 1>>>(p); }},
    {"misaligned", [](int* p) { misaligned<<<1, 1>>>(reinterpret_cast<char*>(p)); }},
    {"assert", [](int* p) { failed_assert<<<1, 1>>>(p); }},
    {"trap", [](int* p) { trap<<<1, 1>>>(p); }},
    {"divide-by-zero", [](int* p) { divide_by_zero<<<1, 1>>>(p); }},
    {"shared-out-of-bounds", [](int* p) { shared_out_of_bounds<<<1, 1, 1024>>>(p); }},
    {"recursion", [](int* p) { deep_recursion<<<1, 1>>>(p); }},
    {"full-heap", [](int* p) { full_heap<<<1, 1>>>(p); }},
    {"out-of-memory",
     [](int*) {
       void* everything = nullptr;
       SHOW(cudaMalloc(&everything, size_t{1} << 42));
     }},
};

}  // namespace

int main(int argc, char** argv) {
  if (no_device()) return kSkipped;
  for (const Fault& fault : kFaults) {
    if (argc != 2 || std::strcmp(argv[1], fault.name) != 0) continue;
    int* memory = nullptr;
    cudaMalloc(&memory, 1024);
    cudaMemset(memory, 0, 1024);
    cudaDeviceSynchronize();
    fault.launch(memory);
    SHOW(cudaGetLastError());
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaGetLastError());
    SHOW(cudaMalloc(&memory, 16));
    SHOW(cudaDeviceSynchronize());
    return 0;
  }
  std::fprintf(stderr, "usage: faults NAME, one of:");
  for (const Fault& fault : kFaults) std::fprintf(stderr, " %s", fault.name);
  std::fputc('\n', stderr);
  return 2;
}
