// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Launches of every form, the codes of launches that cannot be, function attributes, occupancy.
#include <cooperative_groups.h>

#include "check.hpp"

namespace cg = cooperative_groups;

__global__ void ids(int* out) {
  if (threadIdx.x == 0) atomicAdd(out, blockIdx.x + 1);
}
__global__ void __cluster_dims__(2, 1, 1) paired(int* out) {
  const cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) atomicAdd(out, cluster.block_rank() * 10 + cluster.num_blocks());
}
__global__ void ranks(int* out) {
  const cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) atomicAdd(out, cluster.block_rank() * 100 + cluster.num_blocks());
}
__global__ void __launch_bounds__(128) bounded(int* out) {
  atomicAdd(out, 1);
}
__global__ void dynamic(int* out, int words) {
  extern __shared__ int memory[];
  for (int i = threadIdx.x; i < words; i += blockDim.x) memory[i] = i;
  __syncthreads();
  if (threadIdx.x == 0) *out = memory[words - 1];
}
__global__ void fixed_shared(int* out) {
  __shared__ int memory[1000];
  memory[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = memory[blockDim.x - 1 - threadIdx.x];
}
namespace {

int* out = nullptr;

int result() {
  const cudaError_t status = cudaDeviceSynchronize();
  if (status != cudaSuccess) return -static_cast<int>(status);
  int value = 0;
  cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost);
  cudaMemset(out, 0, 4096);
  return value;
}

void forms() {
  std::puts("-- forms");
  ids<<<10, 32>>>(out);
  SHOW_NUMBER(result());
  void* arguments[] = {&out};
  SHOW(cudaLaunchKernel(reinterpret_cast<void*>(ids), dim3(4), dim3(32), arguments, 0, nullptr));
  SHOW_NUMBER(result());
  paired<<<4, 32>>>(out);
  SHOW_NUMBER(result());
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {4, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(8);
  config.blockDim = dim3(32);
  config.attrs = &attribute;
  config.numAttrs = 1;
  SHOW(cudaLaunchKernelEx(&config, ranks, out));
  SHOW_NUMBER(result());
  SHOW(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(ids), dim3(16), dim3(64), arguments, 0, nullptr));
  SHOW_NUMBER(result());
  fixed_shared<<<1, 500>>>(out);
  SHOW_NUMBER(result());
}

// Prints what the launch and the synchronisation after it say, and clears the error.
#define SHOW_LAUNCH(...)                                                                              \
  do {                                                                                                \
    __VA_ARGS__;                                                                                      \
    const cudaError_t launch = cudaGetLastError();                                                    \
    const cudaError_t wait = cudaDeviceSynchronize();                                                 \
    std::printf("%s: %s, then %s\n", #__VA_ARGS__, cudaGetErrorName(launch), cudaGetErrorName(wait)); \
  } while (false)

void refusals() {
  std::puts("-- refusals");
  const int zero = 0, many = 2048, deep = 128, large = 60 * 1024;
  SHOW_LAUNCH(ids<<<zero, 32>>>(out));
  SHOW_LAUNCH(ids<<<1, zero>>>(out));
  SHOW_LAUNCH(ids<<<1, many>>>(out));
  SHOW_LAUNCH(ids<<<dim3(1, 70000), 32>>>(out));
  SHOW_LAUNCH(ids<<<1, dim3(1, 1, deep)>>>(out));
  SHOW_LAUNCH(bounded<<<1, 256>>>(out));
  SHOW_LAUNCH(dynamic<<<1, 32, large>>>(out, large / 4));
  SHOW(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, large));
  SHOW_LAUNCH(dynamic<<<1, 32, large>>>(out, large / 4));
  SHOW_NUMBER(result());
  SHOW(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
  SHOW(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 232449));
  (void)cudaGetLastError();
  SHOW_LAUNCH(dynamic<<<1, 32, 232448>>>(out, 232448 / 4));
  SHOW_NUMBER(result());
  SHOW_LAUNCH(paired<<<3, 32>>>(out));
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  cudaLaunchConfig_t config{};
  config.blockDim = dim3(32);
  config.attrs = &attribute;
  config.numAttrs = 1;
  for (const unsigned size : {0u, 3u, 8u, 16u, 32u}) {
    attribute.val.clusterDim = {size, 1, 1};
    config.gridDim = dim3(size == 0 ? 1 : 2 * size);
    std::printf("cluster of %u: ", size);
    SHOW_LAUNCH(cudaLaunchKernelEx(&config, ranks, out));
  }
  SHOW(cudaFuncSetAttribute(ranks, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  for (const unsigned size : {16u, 32u}) {
    attribute.val.clusterDim = {size, 1, 1};
    config.gridDim = dim3(2 * size);
    std::printf("cluster of %u: ", size);
    SHOW_LAUNCH(cudaLaunchKernelEx(&config, ranks, out));
  }
  attribute.val.clusterDim = {4, 1, 1};
  config.gridDim = dim3(6);
  SHOW_LAUNCH(cudaLaunchKernelEx(&config, ranks, out));
  config.gridDim = dim3(8);
  SHOW_LAUNCH(cudaLaunchKernelEx(&config, paired, out));
  void* arguments[] = {&out};
  SHOW_LAUNCH(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(ids), dim3(100000), dim3(64), arguments, 0,
                                          nullptr));
  SHOW(cudaLaunchKernel(nullptr, dim3(1), dim3(1), arguments, 0, nullptr));
  SHOW(cudaLaunchKernel(arguments, dim3(1), dim3(1), arguments, 0, nullptr));
  (void)cudaGetLastError();
  result();
}

void attributes() {
  std::puts("-- attributes");
  cudaFuncAttributes a{};
  SHOW(cudaFuncGetAttributes(&a, fixed_shared));
  SHOW_NUMBER(a.sharedSizeBytes);
  SHOW_NUMBER(a.maxDynamicSharedSizeBytes);
  SHOW_NUMBER(a.maxThreadsPerBlock);
  SHOW_NUMBER(a.ptxVersion);
  SHOW_NUMBER(a.binaryVersion);
  SHOW_NUMBER(a.clusterDimMustBeSet);
  SHOW(cudaFuncGetAttributes(&a, bounded));
  SHOW_NUMBER(a.maxThreadsPerBlock);
  SHOW(cudaFuncGetAttributes(&a, paired));
  SHOW_NUMBER(a.requiredClusterWidth * 100 + a.requiredClusterHeight * 10 + a.requiredClusterDepth);
  SHOW(cudaFuncGetAttributes(&a, nullptr));
  (void)cudaGetLastError();
  int ctas = 0;
  SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, ids, 128, 0));
  SHOW_NUMBER(ctas);
  SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, ids, 32, 0));
  SHOW_NUMBER(ctas);
  SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, dynamic, 128, 49280));
  SHOW_NUMBER(ctas);
  SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, dynamic, 128, 232448));
  SHOW_NUMBER(ctas);
  SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, ids, 2000, 0));
  SHOW_NUMBER(ctas);
  size_t bytes = 0;
  SHOW(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, dynamic, 2, 128));
  SHOW_NUMBER(bytes);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {2, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(264);
  config.blockDim = dim3(128);
  config.dynamicSmemBytes = 200 * 1024;
  config.attrs = &attribute;
  config.numAttrs = 1;
  int clusters = 0;
  for (const unsigned size : {1u, 2u, 4u, 8u, 16u}) {
    attribute.val.clusterDim = {size, 1, 1};
    config.gridDim = dim3(size * 132);
    cudaFuncSetAttribute(dynamic, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    std::printf("clusters of %u: ", size);
    SHOW(cudaOccupancyMaxActiveClusters(&clusters, dynamic, &config));
    SHOW_NUMBER(clusters);
  }
  SHOW(cudaOccupancyMaxPotentialClusterSize(&clusters, dynamic, &config));
  SHOW_NUMBER(clusters);
}

}  // namespace

int main() {
  if (no_device()) return kSkipped;
  cudaMalloc(&out, 4096);
  cudaMemset(out, 0, 4096);
  forms();
  refusals();
  attributes();
  SHOW(cudaDeviceSynchronize());
  return 0;
}
