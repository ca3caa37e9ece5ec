// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The host's half of DeepGEMM: tensor maps, shared memory and launches as its just-in-time layer makes them.
#pragma once

#include <cudaTypedefs.h>

#include "compare.hpp"

namespace conformance {

constexpr int kMultiprocessors = 132;  ///< CTAs of the persistent kernels
constexpr int kCopyThreads = 128;

constexpr int ceil_div(int a, int b) {
  return (a + b - 1) / b;
}
constexpr int align_up(int a, int b) {
  return ceil_div(a, b) * b;
}
constexpr int math_threads(int block_m) {
  return block_m <= 64 ? 128 : 256;
}

template <class T>
constexpr CUtensorMapDataType kMapType = sizeof(T) == 1   ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                                         : sizeof(T) == 2 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                                          : CU_TENSOR_MAP_DATA_TYPE_FLOAT32;

/// A matrix of `rows` times `columns`, columns innermost, fetched in boxes. A swizzled box is as wide as its
/// swizzle.
template <class T>
CUtensorMap matrix_map(const T* matrix, int rows, int columns, int box_rows, int box_columns, int swizzle) {
  static const auto encode = [] {
    void* address = nullptr;
    cudaDriverEntryPointQueryResult found{};
    check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &address, 12000, cudaEnableDefault,
                                           &found),
          "cuTensorMapEncodeTiled");
    return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(address);
  }();
  const cuuint64_t dims[] = {cuuint64_t(columns), cuuint64_t(rows)}, strides[] = {columns * sizeof(T)};
  const cuuint32_t steps[] = {1, 1};
  const cuuint32_t box[] = {swizzle != 0 ? cuuint32_t(swizzle / sizeof(T)) : cuuint32_t(box_columns),
                            cuuint32_t(box_rows)};
  const auto mode = swizzle == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                    : swizzle == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                    : swizzle == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                    : CU_TENSOR_MAP_SWIZZLE_NONE;
  CUtensorMap map{};
  const CUresult result = encode(&map, kMapType<T>, 2, const_cast<T*>(matrix), dims, strides, box, steps,
                                 CU_TENSOR_MAP_INTERLEAVE_NONE, mode, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                                 CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  check(result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue, "tensor map");
  return map;
}

/// The widest swizzle that divides rows of this many bytes.
constexpr int swizzle_for(int bytes) {
  for (const int swizzle : {128, 64, 32}) {
    if (bytes % swizzle == 0) return swizzle;
  }
  return 0;
}

template <class Kernel, class... Arguments>
void launch(Kernel kernel, int block_m, int shared, int cluster, Arguments... arguments) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), "shared memory");
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim = {unsigned(cluster), 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = kMultiprocessors;
  config.blockDim = kCopyThreads + math_threads(block_m);
  config.dynamicSmemBytes = shared;
  config.attrs = attributes;
  config.numAttrs = cluster > 1 ? 2 : 1;
  void* pointers[] = {&arguments...};
  check(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), pointers), "launch");
  finish("kernel");
}

inline std::string describe(const char* what, int m, int n, int k, int block_m, int block_n, int stages,
                            int cluster) {
  char text[160];
  std::snprintf(text, sizeof text, "%s %dx%dx%d, tile %dx%d, %d stages, clusters of %d", what, m, n, k,
                block_m, block_n, stages, cluster);
  return text;
}

}  // namespace conformance
