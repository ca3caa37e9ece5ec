// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Asks for tensor maps that cannot be, each wrong in its own way, as often as the argument says.
#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr || argc < 2) return 1;
  const auto encode =
      reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(dlsym(driver, "cuTensorMapEncodeTiled"));
  int refused = 0;
  for (int i = 0; i < std::atoi(argv[1]); ++i) {
    alignas(64) CUtensorMap map;
    const cuuint64_t extent[1] = {1024};
    const cuuint32_t box[1] = {257u + static_cast<cuuint32_t>(i)}, step[1] = {1};
    const CUresult result = encode(&map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, &map, extent, nullptr, box, step,
                                   CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                   CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    refused += result != CUDA_SUCCESS;
  }
  std::printf("%d refused\n", refused);
  return 0;
}
