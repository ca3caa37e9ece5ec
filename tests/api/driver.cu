// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The driver API, reached through cudaGetDriverEntryPoint so that nothing needs libcuda at link time: modules
// from PTX text, launches with both forms of parameters, JIT linking, contexts, pointer queries, tensor maps,
// libraries.
#include <cuda.h>

#include <cstring>
#include <string>

#include "check.hpp"

namespace {

template <class Function>
Function entry(const char* name, unsigned version = 12000) {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult result{};
  if (cudaGetDriverEntryPointByVersion(name, &address, version, cudaEnableDefault, &result) != cudaSuccess)
    return nullptr;
  return reinterpret_cast<Function>(address);
}

#define DRIVER(name, version) const auto name = entry<PFN_##name>(#name, version)
using PFN_cuGetErrorName = CUresult (*)(CUresult, const char**);
using PFN_cuModuleLoadData = CUresult (*)(CUmodule*, const void*);
using PFN_cuModuleLoadDataEx = CUresult (*)(CUmodule*, const void*, unsigned, CUjit_option*, void**);
using PFN_cuModuleGetFunction = CUresult (*)(CUfunction*, CUmodule, const char*);
using PFN_cuModuleGetGlobal = CUresult (*)(CUdeviceptr*, size_t*, CUmodule, const char*);
using PFN_cuModuleUnload = CUresult (*)(CUmodule);
using PFN_cuLaunchKernel = CUresult (*)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                                        unsigned, unsigned, CUstream, void**, void**);
using PFN_cuMemAlloc = CUresult (*)(CUdeviceptr*, size_t);
using PFN_cuMemFree = CUresult (*)(CUdeviceptr);
using PFN_cuMemcpyDtoH = CUresult (*)(void*, CUdeviceptr, size_t);
using PFN_cuMemsetD32 = CUresult (*)(CUdeviceptr, unsigned, size_t);
using PFN_cuLinkCreate = CUresult (*)(unsigned, CUjit_option*, void**, CUlinkState*);
using PFN_cuLinkAddData = CUresult (*)(CUlinkState, CUjitInputType, void*, size_t, const char*, unsigned,
                                       CUjit_option*, void**);
using PFN_cuLinkComplete = CUresult (*)(CUlinkState, void**, size_t*);
using PFN_cuLinkDestroy = CUresult (*)(CUlinkState);
using PFN_cuCtxGetCurrent = CUresult (*)(CUcontext*);
using PFN_cuCtxGetDevice = CUresult (*)(CUdevice*);
using PFN_cuPointerGetAttribute = CUresult (*)(void*, CUpointer_attribute, CUdeviceptr);
using PFN_cuTensorMapEncodeTiled = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*,
                                                const cuuint64_t*, const cuuint64_t*, const cuuint32_t*,
                                                const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                                                CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

const char* const kScale =
    ".version 8.0\n.target sm_90a\n.address_size 64\n"
    ".visible .global .align 4 .u32 step = 10;\n"
    ".visible .entry scale(.param .u64 out, .param .u32 factor) {\n"
    "  .reg .b64 %rd<4>; .reg .b32 %r<6>;\n"
    "  ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1; ld.param.u32 %r1, [factor];\n"
    "  mov.u32 %r2, %tid.x; ld.global.u32 %r3, [step]; mad.lo.u32 %r4, %r2, %r1, %r3;\n"
    "  mul.wide.u32 %rd2, %r2, 4; add.u64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r4; ret; }\n";
const char* const kCaller =
    ".version 8.0\n.target sm_90a\n.address_size 64\n"
    ".extern .func (.param .b32 result) helper(.param .b32 value);\n"
    ".visible .entry call_helper(.param .u64 out) {\n"
    "  .reg .b64 %rd<3>; .reg .b32 %r<4>;\n"
    "  ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1; mov.u32 %r1, 20;\n"
    "  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), helper, (a); ld.param.b32 %r2, "
    "[b]; }\n"
    "  st.global.u32 [%rd1], %r2; ret; }\n";
const char* const kHelper =
    ".version 8.0\n.target sm_90a\n.address_size 64\n"
    ".visible .func (.param .b32 result) helper(.param .b32 value) {\n"
    "  .reg .b32 %r<3>; ld.param.b32 %r1, [value]; add.u32 %r2, %r1, 22; st.param.b32 [result], %r2; ret; "
    "}\n";

void modules(PFN_cuGetErrorName cuGetErrorName) {
  std::puts("-- modules");
  DRIVER(cuModuleLoadData, 12000);
  DRIVER(cuModuleLoadDataEx, 12000);
  DRIVER(cuModuleGetFunction, 12000);
  DRIVER(cuModuleGetGlobal, 12000);
  DRIVER(cuModuleUnload, 12000);
  DRIVER(cuLaunchKernel, 12000);
  DRIVER(cuMemAlloc, 12000);
  DRIVER(cuMemFree, 12000);
  DRIVER(cuMemcpyDtoH, 12000);
  DRIVER(cuMemsetD32, 12000);
  CUmodule module = nullptr;
  SHOW_DRIVER(cuModuleLoadData(&module, kScale));
  CUfunction scale = nullptr;
  SHOW_DRIVER(cuModuleGetFunction(&scale, module, "scale"));
  SHOW_DRIVER(cuModuleGetFunction(&scale, module, "scale"));
  CUfunction none = nullptr;
  SHOW_DRIVER(cuModuleGetFunction(&none, module, "nothing"));
  CUdeviceptr memory = 0, step = 0;
  size_t bytes = 0;
  SHOW_DRIVER(cuModuleGetGlobal(&step, &bytes, module, "step"));
  SHOW_NUMBER(bytes);
  SHOW_DRIVER(cuMemAlloc(&memory, 128));
  SHOW_DRIVER(cuMemsetD32(memory, 0, 32));
  unsigned factor = 3, host[32] = {};
  void* arguments[] = {&memory, &factor};
  SHOW_DRIVER(cuLaunchKernel(scale, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
  SHOW_DRIVER(cuMemcpyDtoH(host, memory, 128));
  SHOW_NUMBER(host[0] * 1000 + host[31]);
  SHOW_DRIVER(cuMemsetD32(step, 7, 1));
  struct {
    CUdeviceptr out;
    unsigned factor;
  } packed{memory, 2};
  size_t size = 12;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  SHOW_DRIVER(cuLaunchKernel(scale, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra));
  SHOW_DRIVER(cuMemcpyDtoH(host, memory, 128));
  SHOW_NUMBER(host[0] * 1000 + host[31]);
  SHOW_DRIVER(cuLaunchKernel(scale, 0, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
  SHOW_DRIVER(cuLaunchKernel(nullptr, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
  char log[256] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUmodule broken = nullptr;
  SHOW_DRIVER(cuModuleLoadDataEx(&broken, ".version 8.0\n.target sm_90a\n.address_size 64\nnonsense\n", 2,
                                 options, values));
  SHOW_NUMBER(log[0] != '\0');
  SHOW_DRIVER(cuModuleUnload(module));

  std::puts("-- linking");
  DRIVER(cuLinkCreate, 12000);
  DRIVER(cuLinkAddData, 12000);
  DRIVER(cuLinkComplete, 12000);
  DRIVER(cuLinkDestroy, 12000);
  CUlinkState link = nullptr;
  SHOW_DRIVER(cuLinkCreate(0, nullptr, nullptr, &link));
  SHOW_DRIVER(cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(kCaller), std::strlen(kCaller) + 1,
                            "caller", 0, nullptr, nullptr));
  SHOW_DRIVER(cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(kHelper), std::strlen(kHelper) + 1,
                            "helper", 0, nullptr, nullptr));
  void* image = nullptr;
  SHOW_DRIVER(cuLinkComplete(link, &image, &bytes));
  SHOW_DRIVER(cuModuleLoadData(&module, image));
  SHOW_DRIVER(cuLinkDestroy(link));
  CUfunction caller = nullptr;
  SHOW_DRIVER(cuModuleGetFunction(&caller, module, "call_helper"));
  void* caller_arguments[] = {&memory};
  SHOW_DRIVER(cuLaunchKernel(caller, 1, 1, 1, 1, 1, 1, 0, nullptr, caller_arguments, nullptr));
  SHOW_DRIVER(cuMemcpyDtoH(host, memory, 4));
  SHOW_NUMBER(host[0]);
  SHOW_DRIVER(cuModuleUnload(module));
  SHOW_DRIVER(cuMemFree(memory));
}

void queries(PFN_cuGetErrorName cuGetErrorName) {
  std::puts("-- contexts and pointers");
  DRIVER(cuCtxGetCurrent, 12000);
  DRIVER(cuCtxGetDevice, 12000);
  DRIVER(cuPointerGetAttribute, 12000);
  CUcontext context = nullptr;
  SHOW_DRIVER(cuCtxGetCurrent(&context));
  SHOW_NUMBER(context != nullptr);
  CUdevice device = -1;
  SHOW_DRIVER(cuCtxGetDevice(&device));
  SHOW_NUMBER(device);
  char* memory = nullptr;
  SHOW(cudaMalloc(&memory, 4096));
  const CUdeviceptr inside = reinterpret_cast<CUdeviceptr>(memory + 100);
  CUmemorytype type{};
  SHOW_DRIVER(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, inside));
  SHOW_NUMBER(type);
  CUdeviceptr start = 0;
  SHOW_DRIVER(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, inside));
  SHOW_NUMBER(inside - start);
  size_t bytes = 0;
  SHOW_DRIVER(cuPointerGetAttribute(&bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE, inside));
  SHOW_NUMBER(bytes);
  int local = 0;
  SHOW_DRIVER(
      cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, reinterpret_cast<CUdeviceptr>(&local)));
  void* address = nullptr;
  cudaDriverEntryPointQueryResult result{};
  SHOW(cudaGetDriverEntryPointByVersion("cuNoSuchFunction", &address, 12000, cudaEnableDefault, &result));
  SHOW_NUMBER(result);
  SHOW(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &address, 11000, cudaEnableDefault,
                                        &result));
  SHOW_NUMBER(result);

  std::puts("-- tensor maps");
  DRIVER(cuTensorMapEncodeTiled, 12000);
  alignas(64) CUtensorMap map;
  const cuuint64_t dims[] = {64, 128}, strides[] = {128}, odd_strides[] = {130};
  const cuuint32_t box[] = {64, 128}, wide_box[] = {128, 64}, steps[] = {1, 1};
  const auto encode = [&](void* base, const cuuint64_t* stride, const cuuint32_t* extents) {
    return cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, base, dims, stride, extents,
                                  steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                  CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  SHOW_DRIVER(encode(memory, strides, box));
  SHOW_DRIVER(encode(memory + 8, strides, box));
  SHOW_DRIVER(encode(memory, odd_strides, box));
  SHOW_DRIVER(encode(memory, strides, wide_box));
  SHOW(cudaFree(memory));
}

void libraries() {
  std::puts("-- libraries");
  cudaLibrary_t library = nullptr;
  SHOW(cudaLibraryLoadData(&library, kScale, nullptr, nullptr, 0, nullptr, nullptr, 0));
  unsigned count = 0;
  SHOW(cudaLibraryGetKernelCount(&count, library));
  SHOW_NUMBER(count);
  cudaKernel_t kernel = nullptr;
  SHOW(cudaLibraryGetKernel(&kernel, library, "scale"));
  unsigned* memory = nullptr;
  SHOW(cudaMallocManaged(&memory, 128));
  unsigned factor = 5;
  void* arguments[] = {&memory, &factor};
  SHOW(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(32), arguments, 0, nullptr));
  SHOW(cudaDeviceSynchronize());
  SHOW_NUMBER(memory[2]);
  SHOW(cudaFree(memory));
  SHOW(cudaLibraryUnload(library));
}

}  // namespace

int main() {
  if (no_device()) return kSkipped;
  SHOW(cudaFree(nullptr));
  DRIVER(cuGetErrorName, 12000);
  modules(cuGetErrorName);
  queries(cuGetErrorName);
  libraries();
  return 0;
}
