// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// __syncthreads that not every thread reaches: `divergent_barriers NAME`. A GPU may wait for ever here: run
// it with a time limit.
#include "check.hpp"

__device__ __noinline__ void barrier() {
  __syncthreads();
}
__device__ void finish(int* out) {
  out[threadIdx.x] = 1;
}
/// Some lanes of the first warp leave before the barrier.
__global__ void lanes_exit(int* out) {
  if (threadIdx.x < 5) return;
  barrier();
  finish(out);
}
__global__ void warp_exits(int* out) {
  if (threadIdx.x < 32) return;
  barrier();
  finish(out);
}
/// Some lanes of the first warp go around the barrier and live on.
__global__ void lanes_skip(int* out) {
  if (threadIdx.x >= 5) barrier();
  finish(out);
}
__global__ void warp_skips(int* out) {
  if (threadIdx.x >= 32) barrier();
  finish(out);
}
/// Both sides of a branch have a barrier of their own.
__global__ void two_barriers(int* out) {
  if (threadIdx.x % 2 == 0) {
    asm volatile("barrier.sync 0;" ::: "memory");
    out[threadIdx.x] = 2;
  } else {
    asm volatile("barrier.sync 0;" ::: "memory");
    out[threadIdx.x] = 3;
  }
}
__global__ void two_aligned_barriers(int* out) {
  if (threadIdx.x % 2 == 0) {
    __syncthreads();
    out[threadIdx.x] = 2;
  } else {
    __syncthreads();
    out[threadIdx.x] = 3;
  }
}
/// One lane comes later than the rest of its warp.
__global__ void lane_is_late(int* out) {
  if (threadIdx.x == 0) __nanosleep(100000);
  barrier();
  finish(out);
}
/// The lanes that skip spin for what the others do behind the barrier.
__global__ void skippers_spin(int* out) {
  if (threadIdx.x < 5) {
    while (*const_cast<volatile int*>(out + 63) == 0) {
    }
  } else {
    __syncthreads();
  }
  out[threadIdx.x] = 1;
}
/// bar.red of the lanes that are there.
__global__ void count_of_some(int* out) {
  if (threadIdx.x >= 5) out[threadIdx.x] = __syncthreads_count(1);
}

namespace {

/// Runs a kernel on two warps and tells what some of its threads left.
template <void (*kernel)(int*)>
void run() {
  int* out = nullptr;
  cudaMalloc(&out, 64 * sizeof(int));
  cudaMemset(out, 0, 64 * sizeof(int));
  kernel<<<1, 64>>>(out);
  SHOW(cudaGetLastError());
  std::fflush(stdout);
  SHOW(cudaDeviceSynchronize());
  int host[64] = {};
  SHOW(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  for (int thread : {0, 1, 4, 5, 31, 32, 63}) std::printf("thread %d: %d\n", thread, host[thread]);
}

const Case kCases[] = {
    {"lanes-exit", run<lanes_exit>},       {"warp-exits", run<warp_exits>},
    {"lanes-skip", run<lanes_skip>},       {"warp-skips", run<warp_skips>},
    {"two-barriers", run<two_barriers>},   {"two-aligned-barriers", run<two_aligned_barriers>},
    {"lane-is-late", run<lane_is_late>},   {"skippers-spin", run<skippers_spin>},
    {"count-of-some", run<count_of_some>},
};

}  // namespace

int main(int argc, char** argv) {
  if (no_device()) return kSkipped;
  return run_case(kCases, argc, argv);
}
