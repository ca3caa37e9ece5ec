// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What every kind of call answers after a kernel has failed, before and after a reset of the device:
// `after_faults trap|assert|address|launch`. `launch` is an error that does not stay.
#undef NDEBUG
#include <cassert>

#include "check.hpp"

__device__ int symbol;
__global__ void trap() {
  asm volatile("trap;");
}
__global__ void failed_assert() {
  assert(blockIdx.x == 1);
}
__global__ void bad_address() {
  *reinterpret_cast<volatile int*>(8) = 1;
}
__global__ void nothing() {}

namespace {

struct Before {
  int* memory = nullptr;
  int* other = nullptr;
  int* pinned = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
};

void queries(Before& b) {
  int number = 0;
  size_t bytes = 0, total = 0;
  cudaPointerAttributes attributes{};
  cudaDeviceProp properties{};
  cudaFuncAttributes function{};
  void* address = nullptr;
  SHOW(cudaGetDevice(&number));
  SHOW(cudaGetDeviceCount(&number));
  SHOW(cudaSetDevice(0));
  SHOW(cudaGetDeviceProperties(&properties, 0));
  SHOW(cudaDeviceGetAttribute(&number, cudaDevAttrWarpSize, 0));
  SHOW(cudaDeviceGetLimit(&bytes, cudaLimitStackSize));
  SHOW(cudaRuntimeGetVersion(&number));
  SHOW(cudaDriverGetVersion(&number));
  SHOW(cudaMemGetInfo(&bytes, &total));
  SHOW(cudaPointerGetAttributes(&attributes, b.memory));
  SHOW(cudaFuncGetAttributes(&function, nothing));
  SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&number, nothing, 32, 0));
  SHOW(cudaGetSymbolAddress(&address, symbol));
  SHOW(cudaStreamQuery(nullptr));
  SHOW(cudaStreamQuery(b.stream));
  SHOW(cudaEventQuery(b.event));
}

void work(Before& b) {
  int host = 0;
  int* fresh = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  nothing<<<1, 1>>>();
  SHOW(cudaPeekAtLastError());
  SHOW(cudaMalloc(&fresh, 16));
  SHOW(cudaMallocHost(&fresh, 16));
  SHOW(cudaMallocManaged(&fresh, 16));
  SHOW(cudaMemset(b.memory, 0, 4));
  SHOW(cudaMemsetAsync(b.memory, 0, 4, b.stream));
  SHOW(cudaMemcpy(&host, b.memory, 4, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpyAsync(&host, b.memory, 4, cudaMemcpyDeviceToHost, b.stream));
  SHOW(cudaMemcpyToSymbol(symbol, &host, sizeof host));
  SHOW(cudaStreamCreate(&stream));
  SHOW(cudaEventCreate(&event));
  SHOW(cudaEventRecord(b.event, b.stream));
  SHOW(cudaStreamWaitEvent(b.stream, b.event, 0));
  static bool called = false;
  const cudaHostFn_t call = [](void*) { called = true; };
  SHOW(cudaLaunchHostFunc(b.stream, call, nullptr));
  SHOW(cudaEventSynchronize(b.event));
  SHOW(cudaStreamSynchronize(b.stream));
  SHOW(cudaStreamSynchronize(nullptr));
  SHOW(cudaDeviceSynchronize());
  SHOW_NUMBER(called);
}

void give_back(Before& b) {
  SHOW(cudaEventDestroy(b.event));
  SHOW(cudaStreamDestroy(b.stream));
  SHOW(cudaFreeHost(b.pinned));
  SHOW(cudaFree(b.memory));
  SHOW(cudaFree(nullptr));
}

}  // namespace

int main(int argc, char** argv) {
  if (no_device()) return kSkipped;
  const char fault = argc == 2 ? argv[1][0] : '?';
  Before b;
  cudaMalloc(&b.memory, 1024);
  cudaMalloc(&b.other, 1024);
  cudaMallocHost(&b.pinned, 1024);
  cudaStreamCreate(&b.stream);
  cudaEventCreate(&b.event);
  cudaEventRecord(b.event, b.stream);
  SHOW(cudaDeviceSynchronize());
  if (fault == 't') trap<<<1, 1>>>();
  if (fault == 'a' && argv[1][1] == 's') failed_assert<<<1, 1>>>();
  if (fault == 'a' && argv[1][1] == 'd') bad_address<<<1, 1>>>();
  if (fault == 'l') nothing<<<1, 2000>>>();
  SHOW(cudaPeekAtLastError());
  SHOW(cudaPeekAtLastError());
  SHOW(cudaDeviceSynchronize());
  SHOW(cudaPeekAtLastError());
  SHOW(cudaGetLastError());
  SHOW(cudaGetLastError());
  std::puts("-- queries");
  queries(b);
  SHOW(cudaGetLastError());
  std::puts("-- work");
  work(b);
  SHOW(cudaGetLastError());
  std::puts("-- give back");
  give_back(b);
  SHOW(cudaGetLastError());
  std::puts("-- reset");
  SHOW(cudaDeviceReset());
  SHOW(cudaPeekAtLastError());
  SHOW(cudaGetLastError());
  SHOW(cudaGetLastError());
  SHOW(cudaFree(b.other));
  SHOW(cudaGetLastError());
  int* fresh = nullptr;
  SHOW(cudaMalloc(&fresh, 16));
  nothing<<<1, 1>>>();
  SHOW(cudaGetLastError());
  SHOW(cudaDeviceSynchronize());
  SHOW(cudaFree(fresh));
  SHOW(cudaGetLastError());
  return 0;
}
