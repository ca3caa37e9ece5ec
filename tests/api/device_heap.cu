// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// malloc and free of device code: `device_heap NAME`, each case in a process of its own since some of them
// end the context.

#include "check.hpp"

__device__ void* kept;

/// How many blocks of one size the heap gives, up to a limit.
__global__ void count_blocks(unsigned long long bytes, int limit, int* count) {
  int n = 0;
  for (; n < limit; ++n) {
    char* block = static_cast<char*>(malloc(bytes));
    if (block == nullptr) break;
    block[0] = 1;
    block[bytes - 1] = 1;
  }
  *count = n;
}
__global__ void one_block(unsigned long long bytes, int* got) {
  void* block = malloc(bytes);
  *got = block != nullptr;
  free(block);
}
__global__ void free_twice() {
  void* block = malloc(100);
  free(block);
  free(block);
}
__global__ void free_null() {
  free(nullptr);
}
__global__ void free_pointer(void* pointer) {
  free(pointer);
}
__global__ void free_inside() {
  free(static_cast<char*>(malloc(100)) + 16);
}
__global__ void free_local() {
  int local[4];
  free(local);
}
__global__ void write_freed() {
  int* block = static_cast<int*>(malloc(100));
  free(block);
  *reinterpret_cast<volatile int*>(block) = 1;
}
__global__ void write_behind() {
  int* block = static_cast<int*>(malloc(100));
  reinterpret_cast<volatile int*>(block)[26] = 1;
}
__global__ void keep() {
  kept = malloc(100);
  *static_cast<int*>(kept) = 42;
}
__global__ void take(int* value) {
  *value = *static_cast<int*>(kept);
  free(kept);
}

namespace {

int* answer = nullptr;

int result() {
  int value = -1;
  SHOW(cudaDeviceSynchronize());
  SHOW(cudaMemcpy(&value, answer, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}

/// Takes blocks until there are no more. How much the heap loses between blocks is its own affair.
void show_blocks(unsigned long long bytes, int most) {
  count_blocks<<<1, 1>>>(bytes, 100000, answer);
  const int count = result();
  std::printf("between two fifths and all of %d blocks: %d\n", most, 5 * count >= 2 * most && count < most);
}

void sizes() {
  size_t limit = 0;
  SHOW(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
  SHOW_NUMBER(limit);
  for (const unsigned long long bytes :
       {0ull, 1ull, 1ull << 20, 7ull << 20, 8ull << 20, 9ull << 20, 1ull << 30, 1ull << 62}) {
    one_block<<<1, 1>>>(bytes, answer);
    std::printf("one block of %llu: %d\n", bytes, result());
  }
}

/// The heap is of 8 MiB when nobody asks for another.
void many_megabytes() {
  show_blocks(1 << 20, 8);
}
void many_small() {
  show_blocks(1024, 8192);
}
void larger() {
  SHOW(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20));
  size_t limit = 0;
  SHOW(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
  SHOW_NUMBER(limit);
  show_blocks(1 << 20, 64);
  SHOW(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 128 << 20));
}
void smaller() {
  SHOW(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1));
  size_t limit = 0;
  SHOW(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
  SHOW_NUMBER(limit);
  show_blocks(1 << 20, 4);
}
/// A block of the device's heap is not the host's to free or to copy from.
void host_calls() {
  keep<<<1, 1>>>();
  void* block = nullptr;
  SHOW(cudaMemcpyFromSymbol(&block, kept, sizeof block));
  int value = 0;
  SHOW(cudaMemcpy(&value, block, sizeof value, cudaMemcpyDeviceToHost));
  SHOW(cudaFree(block));
  (void)cudaGetLastError();
  take<<<1, 1>>>(answer);
  SHOW_NUMBER(result());
}

const Case kCases[] = {
    {"sizes", sizes},
    {"many-megabytes", many_megabytes},
    {"many-small", many_small},
    {"larger", larger},
    {"smaller", smaller},
    {"host-calls", host_calls},
    {"free-twice", [] { free_twice<<<1, 1>>>(); }},
    {"free-null", [] { free_null<<<1, 1>>>(); }},
    {"free-cudaMalloc", [] { free_pointer<<<1, 1>>>(answer); }},
    {"free-inside", [] { free_inside<<<1, 1>>>(); }},
    {"free-local", [] { free_local<<<1, 1>>>(); }},
    {"free-wild", [] { free_pointer<<<1, 1>>>(reinterpret_cast<void*>(0x123456789abc)); }},
    {"write-freed", [] { write_freed<<<1, 1>>>(); }},
    {"write-behind", [] { write_behind<<<1, 1>>>(); }},
};

}  // namespace

int main(int argc, char** argv) {
  if (no_device()) return kSkipped;
  // The limits of the heap can be set as long as no kernel has run.
  cudaMalloc(&answer, 1024);
  if (const int status = run_case(kCases, argc, argv); status != 0) return status;
  SHOW(cudaGetLastError());
  SHOW(cudaDeviceSynchronize());
  SHOW(cudaMemset(answer, 0, 1024));
  SHOW(cudaFree(answer));
  SHOW(cudaDeviceSynchronize());
  return 0;
}
