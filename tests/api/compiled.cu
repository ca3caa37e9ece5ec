// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel template compiled at run time by NVRTC and loaded as a library: its instances by their lowered
// names, a constant that the host sets, and a source that does not compile.
#include <nvrtc.h>

#include <string>
#include <vector>

#include "check.hpp"

namespace {

const char* const kSource = R"(
__constant__ int offset = 1;
template <class T, int Factor>
__global__ void scale(T* values) {
  __shared__ T mirror[64];
  mirror[63 - threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = mirror[threadIdx.x] * Factor + offset;
}
)";

#define SHOW_COMPILER(call) std::printf("%s = %s\n", #call, nvrtcGetErrorString(call))

nvrtcResult compile(nvrtcProgram program) {
  const char* const options[] = {"--gpu-architecture=compute_90a", "--std=c++17"};
  return nvrtcCompileProgram(program, 2, options);
}

void refused() {
  nvrtcProgram program{};
  SHOW_COMPILER(
      nvrtcCreateProgram(&program, "__global__ void k() { x = 1; }", "wrong.cu", 0, nullptr, nullptr));
  SHOW_COMPILER(compile(program));
  SHOW_COMPILER(nvrtcDestroyProgram(&program));
}

template <class T>
void run(cudaLibrary_t library, const char* name) {
  cudaKernel_t kernel{};
  SHOW(cudaLibraryGetKernel(&kernel, library, name));
  std::vector<T> values(64);
  for (int i = 0; i < 64; ++i) values[i] = static_cast<T>(i);
  T* memory = nullptr;
  cudaMalloc(&memory, 64 * sizeof(T));
  cudaMemcpy(memory, values.data(), 64 * sizeof(T), cudaMemcpyHostToDevice);
  void* arguments[] = {&memory};
  SHOW(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), 1, 64, arguments, 0, nullptr));
  SHOW(cudaMemcpy(values.data(), memory, 64 * sizeof(T), cudaMemcpyDeviceToHost));
  SHOW_NUMBER(values[0]);
  SHOW_NUMBER(values[63]);
  cudaFree(memory);
}

}  // namespace

int main() {
  if (no_device()) return kSkipped;
  refused();

  nvrtcProgram program{};
  SHOW_COMPILER(nvrtcCreateProgram(&program, kSource, "scale.cu", 0, nullptr, nullptr));
  SHOW_COMPILER(nvrtcAddNameExpression(program, "scale<float, 2>"));
  SHOW_COMPILER(nvrtcAddNameExpression(program, "scale<unsigned char, 3>"));
  SHOW_COMPILER(nvrtcAddNameExpression(program, "&offset"));
  SHOW_COMPILER(compile(program));
  size_t size = 0;
  SHOW_COMPILER(nvrtcGetPTXSize(program, &size));
  std::string ptx(size, '\0');
  SHOW_COMPILER(nvrtcGetPTX(program, ptx.data()));
  const char *floats = nullptr, *bytes = nullptr, *offset = nullptr;
  SHOW_COMPILER(nvrtcGetLoweredName(program, "scale<float, 2>", &floats));
  SHOW_COMPILER(nvrtcGetLoweredName(program, "scale<unsigned char, 3>", &bytes));
  SHOW_COMPILER(nvrtcGetLoweredName(program, "&offset", &offset));

  cudaLibrary_t library{};
  SHOW(cudaLibraryLoadData(&library, ptx.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  void* constant = nullptr;
  SHOW(cudaLibraryGetGlobal(&constant, &size, library, offset));
  SHOW_NUMBER(size);
  run<float>(library, floats);
  const int seven = 7;
  SHOW(cudaMemcpy(constant, &seven, sizeof seven, cudaMemcpyHostToDevice));
  run<unsigned char>(library, bytes);
  SHOW(cudaLibraryUnload(library));
  SHOW_COMPILER(nvrtcDestroyProgram(&program));
  return 0;
}
