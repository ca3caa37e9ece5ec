// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Prints what a real card says of itself, for src/cuda/device_attributes.def and device_profile.cpp: every
// attribute number with its value, memory size, default limits, and how many clusters of each size are active
// together.
//
//   nvcc -arch=sm_90a -cudart shared device_properties.cu -o device_properties && ./device_properties
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>

__global__ void small(int* p) {
  *p = 1;
}
__global__ void large(int* p) {
  extern __shared__ int memory[];
  memory[threadIdx.x] = 1;
  *p = memory[0];
}

namespace {

void print_attributes() {
  for (int attribute = 1; attribute < CU_DEVICE_ATTRIBUTE_MAX; ++attribute) {
    int value = 0;
    if (cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(attribute), 0) != cudaSuccess) continue;
    std::printf("attribute %d %d\n", attribute, value);
  }
}

void print_limits() {
  for (int limit = 0; limit < 8; ++limit) {
    size_t value = 0;
    if (cudaDeviceGetLimit(&value, static_cast<cudaLimit>(limit)) == cudaSuccess)
      std::printf("limit %d %zu\n", limit, value);
  }
}

template <class Kernel>
void print_clusters(const char* name, Kernel kernel, int threads, size_t shared) {
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448);
  cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  cudaLaunchConfig_t config{};
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared;
  config.attrs = &attribute;
  config.numAttrs = 1;
  for (unsigned size = 1; size <= 16; ++size) {
    attribute.val.clusterDim = {size, 1, 1};
    config.gridDim = dim3(size * 132);
    int clusters = -1;
    const cudaError_t status = cudaOccupancyMaxActiveClusters(&clusters, kernel, &config);
    std::printf("clusters %s threads %d shared %zu size %u: %d %s\n", name, threads, shared, size, clusters,
                cudaGetErrorName(status));
    (void)cudaGetLastError();
  }
}

}  // namespace

int main() {
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) {
    std::puts("no CUDA device here");
    return 77;
  }
  std::printf("name %s\nmemory %zu\n", properties.name, properties.totalGlobalMem);
  size_t free = 0, total = 0;
  cudaMemGetInfo(&free, &total);
  std::printf("memory_info %zu %zu\n", free, total);
  print_attributes();
  print_limits();
  print_clusters("small", small, 128, 0);
  print_clusters("large", large, 384, 200 * 1024);
  for (const int threads : {32, 64, 96, 128, 256, 384, 512, 1024}) {
    int ctas = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, small, threads, 0);
    std::printf("ctas small threads %d: %d\n", threads, ctas);
  }
  for (const size_t shared :
       {1024, 7168, 48 * 1024, 49280, 75 * 1024, 100 * 1024, 113 * 1024, 114 * 1024, 227 * 1024}) {
    int ctas = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, large, 128, shared);
    std::printf("ctas large shared %zu: %d\n", shared, ctas);
  }
  return 0;
}
