// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Launch shapes that cannot be, through every call that launches: which code each returns, and which code the
// runtime remembers.
#include <cuda.h>

#include "check.hpp"

__global__ void plain() {}
__global__ void __launch_bounds__(64) bounded() {}
__global__ void __cluster_dims__(2, 1, 1) paired() {}
__global__ void fixed_shared(int* out) {
  __shared__ int memory[10000];
  memory[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (out != nullptr) out[threadIdx.x] = memory[blockDim.x - 1 - threadIdx.x];
}

namespace {

struct Shape {
  const char* name;
  const void* kernel;
  dim3 grid, block;
  size_t shared = 0;
  /// 0: no attribute.
  unsigned cluster = 0;
};

const void* const kPlain = reinterpret_cast<const void*>(plain);
const void* const kBounded = reinterpret_cast<const void*>(bounded);
const void* const kPaired = reinterpret_cast<const void*>(paired);
const void* const kFixedShared = reinterpret_cast<const void*>(fixed_shared);

const Shape kShapes[] = {
    {"right", kPlain, dim3(1), dim3(32)},
    {"grid x 0", kPlain, dim3(0), dim3(32)},
    {"grid y 0", kPlain, dim3(1, 0), dim3(32)},
    {"grid z 0", kPlain, dim3(1, 1, 0), dim3(32)},
    {"grid x 2^31", kPlain, dim3(1u << 31), dim3(32)},
    {"grid y 65536", kPlain, dim3(1, 65536), dim3(32)},
    {"grid z 65536", kPlain, dim3(1, 1, 65536), dim3(32)},
    {"block x 0", kPlain, dim3(1), dim3(0)},
    {"block y 0", kPlain, dim3(1), dim3(32, 0)},
    {"block z 0", kPlain, dim3(1), dim3(32, 1, 0)},
    {"block x 1025", kPlain, dim3(1), dim3(1025)},
    {"block y 1025", kPlain, dim3(1), dim3(1, 1025)},
    {"block z 65", kPlain, dim3(1), dim3(1, 1, 65)},
    {"block 33x32", kPlain, dim3(1), dim3(33, 32)},
    {"block 2^16 x 2^16", kPlain, dim3(1), dim3(1u << 16, 1u << 16)},
    {"grid and block 0", kPlain, dim3(0), dim3(0)},
    {"above launch bounds", kBounded, dim3(1), dim3(65)},
    {"dynamic shared 49152", kPlain, dim3(1), dim3(32), 49152},
    {"dynamic shared 49153", kPlain, dim3(1), dim3(32), 49153},
    {"dynamic shared 232449", kPlain, dim3(1), dim3(32), 232449},
    {"dynamic shared 2^40", kPlain, dim3(1), dim3(32), size_t{1} << 40},
    {"static and dynamic shared 49153", kFixedShared, dim3(1), dim3(32), 9153},
    {"cluster of 3, grid of 3", kPlain, dim3(3), dim3(32), 0, 3},
    {"cluster of 2, grid of 3", kPlain, dim3(3), dim3(32), 0, 2},
    {"cluster of 9, grid of 9", kPlain, dim3(9), dim3(32), 0, 9},
    {"cluster of 17, grid of 17", kPlain, dim3(17), dim3(32), 0, 17},
    {"compiled cluster of 2, grid of 3", kPaired, dim3(3), dim3(32)},
    {"compiled cluster of 2, asked for 2", kPaired, dim3(4), dim3(32), 0, 2},
    {"compiled cluster of 2, asked for 4", kPaired, dim3(4), dim3(32), 0, 4},
    {"cluster of 8 and block 1025", kPlain, dim3(8), dim3(1025), 0, 8},
    {"cluster of 2, grid 3 and shared 49153", kPlain, dim3(3), dim3(32), 49153, 2},
};

template <class Function>
Function entry(const char* name) {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult found{};
  cudaGetDriverEntryPointByVersion(name, &address, 12000, cudaEnableDefault, &found);
  return reinterpret_cast<Function>(address);
}

const char* driver_name(CUresult result) {
  static const auto name_of = entry<CUresult (*)(CUresult, const char**)>("cuGetErrorName");
  const char* name = nullptr;
  return name_of(result, &name) == CUDA_SUCCESS ? name : "?";
}

/// What a call returned, what is remembered behind it, and what the device says.
void tell(const char* call, cudaError_t result) {
  const cudaError_t peeked = cudaPeekAtLastError(), last = cudaGetLastError();
  std::printf("  %s = %s, remembered %s %s, then %s\n", call, cudaGetErrorName(result),
              cudaGetErrorName(peeked), cudaGetErrorName(last), cudaGetErrorName(cudaDeviceSynchronize()));
}
void tell(const char* call, CUresult result) {
  std::printf("  %s = %s, remembered %s, then %s\n", call, driver_name(result),
              cudaGetErrorName(cudaGetLastError()), cudaGetErrorName(cudaDeviceSynchronize()));
}

void by_runtime(const Shape& shape, void** arguments) {
  if (shape.cluster == 0) {
    tell("cudaLaunchKernel",
         cudaLaunchKernel(shape.kernel, shape.grid, shape.block, arguments, shape.shared, nullptr));
    tell("cudaLaunchCooperativeKernel", cudaLaunchCooperativeKernel(shape.kernel, shape.grid, shape.block,
                                                                    arguments, shape.shared, nullptr));
  }
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {shape.cluster, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.shared;
  config.attrs = &attribute;
  config.numAttrs = shape.cluster != 0;
  tell("cudaLaunchKernelExC", cudaLaunchKernelExC(&config, shape.kernel, arguments));
}

void by_driver(const Shape& shape, void** arguments) {
  static const auto launch =
      entry<CUresult (*)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                         CUstream, void**, void**)>("cuLaunchKernel");
  static const auto launch_ex =
      entry<CUresult (*)(const CUlaunchConfig*, CUfunction, void**, void**)>("cuLaunchKernelEx");
  cudaFunction_t function = nullptr;
  if (cudaGetFuncBySymbol(&function, shape.kernel) != cudaSuccess) return;
  const auto [gx, gy, gz] = shape.grid;
  const auto [bx, by, bz] = shape.block;
  if (shape.shared >> 32 != 0) return;
  const auto shared = static_cast<unsigned>(shape.shared);
  if (shape.cluster == 0)
    tell("cuLaunchKernel", launch(function, gx, gy, gz, bx, by, bz, shared, nullptr, arguments, nullptr));
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim = {shape.cluster, 1, 1};
  const CUlaunchConfig config{gx, gy, gz, bx, by, bz, shared, nullptr, &attribute, shape.cluster != 0};
  tell("cuLaunchKernelEx", launch_ex(&config, function, arguments, nullptr));
}

}  // namespace

int main() {
  if (no_device()) return kSkipped;
  int* nothing = nullptr;
  void* arguments[] = {&nothing};
  for (const Shape& shape : kShapes) {
    std::printf("%s\n", shape.name);
    by_runtime(shape, arguments);
    by_driver(shape, arguments);
  }
  return 0;
}
