// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Calls with wrong arguments and in the wrong place: copies, what is given back twice, calls from host
// functions. `wrong_calls NAME`.

#include "check.hpp"

namespace {

void copies() {
  char host[64] = {}, other[64] = {};
  char* device = nullptr;
  char* second = nullptr;
  cudaMalloc(&device, 64);
  cudaMalloc(&second, 64);
  SHOW(cudaMemcpy(host, device, 0, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpy(nullptr, device, 0, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpy(host, nullptr, 4, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpy(nullptr, host, 4, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(host, device, 64, static_cast<cudaMemcpyKind>(-1)));
  SHOW(cudaMemcpy(host, device, 64, static_cast<cudaMemcpyKind>(5)));
  SHOW(cudaMemcpy(host, device, 65, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpy(host, device, size_t{1} << 22, cudaMemcpyDefault));
  SHOW(cudaMemcpy(device, second, size_t{1} << 40, cudaMemcpyDeviceToDevice));
  std::puts("-- the kind says something else than the pointers");
  SHOW(cudaMemcpy(host, device, 64, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(device, host, 64, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpy(device, second, 64, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(device, second, 64, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpy(device, second, 64, cudaMemcpyHostToHost));
  SHOW(cudaMemcpy(host, other, 64, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpy(host, other, 64, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(host, other, 64, cudaMemcpyDeviceToDevice));
  SHOW(cudaMemcpy(host, device, 64, cudaMemcpyDeviceToDevice));
  SHOW(cudaMemcpy(host, device, 64, cudaMemcpyHostToHost));
  SHOW(cudaGetLastError());
  std::puts("-- the same on a stream");
  SHOW(cudaMemcpyAsync(host, device, 64, cudaMemcpyHostToDevice, nullptr));
  SHOW(cudaMemcpyAsync(host, device, 65, cudaMemcpyDeviceToHost, nullptr));
  SHOW(cudaMemcpyAsync(nullptr, device, 64, cudaMemcpyDeviceToHost, nullptr));
  SHOW(cudaGetLastError());
  std::puts("-- fills");
  SHOW(cudaMemset(nullptr, 0, 4));
  SHOW(cudaMemset(nullptr, 0, 0));
  SHOW(cudaMemset(device, 0, 65));
  SHOW(cudaMemset(device, 0, size_t{1} << 40));
  SHOW(cudaMemset(host, 0, 4));
  SHOW(cudaMemset2D(device, 4, 0, 8, 2));
  SHOW(cudaGetLastError());
  std::puts("-- two dimensions");
  SHOW(cudaMemcpy2D(host, 8, device, 16, 16, 2, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpy2D(host, 16, device, 8, 16, 2, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpy2D(host, 16, device, 16, 0, 2, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpy2D(host, 16, device, 16, 16, 0, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpy2D(host, 16, device, 16, 16, 2, static_cast<cudaMemcpyKind>(7)));
  SHOW(cudaGetLastError());
  SHOW(cudaDeviceSynchronize());
}

void frees() {
  int host = 0;
  char* device = nullptr;
  char* pinned = nullptr;
  char* managed = nullptr;
  cudaMalloc(&device, 1024);
  cudaMallocHost(&pinned, 1024);
  cudaMallocManaged(&managed, 1024);
  SHOW(cudaFree(device + 16));
  SHOW(cudaFree(&host));
  SHOW(cudaFree(pinned));
  SHOW(cudaFree(reinterpret_cast<void*>(0x1234)));
  SHOW(cudaFreeHost(device));
  SHOW(cudaFreeHost(&host));
  SHOW(cudaFreeHost(pinned + 16));
  SHOW(cudaFreeHost(managed));
  SHOW(cudaFreeHost(nullptr));
  SHOW(cudaFreeAsync(device + 16, nullptr));
  SHOW(cudaFreeAsync(nullptr, nullptr));
  SHOW(cudaFree(device));
  SHOW(cudaFree(device));
  SHOW(cudaFreeAsync(device, nullptr));
  SHOW(cudaFreeHost(pinned));
  SHOW(cudaFreeHost(pinned));
  SHOW(cudaFree(managed));
  SHOW(cudaFree(managed));
  SHOW(cudaGetLastError());
  SHOW(cudaMallocAsync(&device, 1024, nullptr));
  SHOW(cudaFree(device));
  SHOW(cudaFree(device));
  SHOW(cudaGetLastError());
  SHOW(cudaDeviceSynchronize());
}

void streams() {
  cudaStream_t stream = nullptr;
  SHOW(cudaStreamCreateWithFlags(&stream, 77));
  SHOW(cudaStreamCreate(nullptr));
  SHOW(cudaStreamDestroy(nullptr));
  SHOW(cudaStreamDestroy(cudaStreamLegacy));
  SHOW(cudaStreamDestroy(cudaStreamPerThread));
  SHOW(cudaGetLastError());
  SHOW(cudaStreamCreate(&stream));
  SHOW(cudaStreamDestroy(stream));
}

void events() {
  cudaEvent_t event = nullptr, second = nullptr;
  float milliseconds = 0;
  SHOW(cudaEventCreateWithFlags(&event, 77));
  SHOW(cudaEventCreate(nullptr));
  SHOW(cudaEventDestroy(nullptr));
  SHOW(cudaEventRecord(nullptr, nullptr));
  SHOW(cudaEventSynchronize(nullptr));
  SHOW(cudaGetLastError());
  SHOW(cudaEventCreate(&event));
  SHOW(cudaEventCreate(&second));
  SHOW(cudaEventQuery(event));
  SHOW(cudaEventSynchronize(event));
  SHOW(cudaEventElapsedTime(&milliseconds, event, second));
  SHOW(cudaEventRecord(event, nullptr));
  SHOW(cudaEventElapsedTime(&milliseconds, event, second));
  SHOW(cudaGetLastError());
  SHOW(cudaEventDestroy(event));
}

/// CUDA calls from a function that a stream calls are not permitted.
void in_host_function() {
  static char* device = nullptr;
  static cudaStream_t stream = nullptr;
  cudaMalloc(&device, 1024);
  cudaStreamCreate(&stream);
  const cudaHostFn_t function = [](void*) {
    void* memory = nullptr;
    int number = 0;
    SHOW(cudaGetDevice(&number));
    SHOW(cudaGetDeviceCount(&number));
    SHOW(cudaMalloc(&memory, 16));
    SHOW(cudaFree(device));
    SHOW(cudaMemset(device, 0, 4));
    SHOW(cudaStreamQuery(stream));
    SHOW(cudaGetLastError());
    SHOW(cudaGetLastError());
  };
  // The function may run before the call returns.
  const cudaError_t launched = cudaLaunchHostFunc(stream, function, nullptr);
  SHOW(cudaStreamSynchronize(stream));
  SHOW(launched);
  SHOW(cudaGetLastError());
  SHOW(cudaFree(device));
  const cudaStreamCallback_t callback = [](cudaStream_t, cudaError_t status, void*) {
    void* memory = nullptr;
    std::printf("called with %s\n", cudaGetErrorName(status));
    SHOW(cudaMalloc(&memory, 16));
    SHOW(cudaGetLastError());
  };
  const cudaError_t added = cudaStreamAddCallback(stream, callback, nullptr, 0);
  SHOW(cudaStreamSynchronize(stream));
  SHOW(added);
  SHOW(cudaStreamAddCallback(stream, nullptr, nullptr, 0));
  SHOW(cudaLaunchHostFunc(stream, nullptr, nullptr));
  SHOW(cudaGetLastError());
  SHOW(cudaStreamSynchronize(stream));
  SHOW(cudaGetLastError());
}

/// Which calls leave an error behind, and which take it away.
void remembered() {
  void* memory = nullptr;
  int number = 0;
  SHOW(cudaMalloc(&memory, size_t{1} << 60));
  SHOW(cudaPeekAtLastError());
  SHOW(cudaMalloc(&memory, 16));
  SHOW(cudaPeekAtLastError());
  SHOW(cudaSetDevice(99));
  SHOW(cudaPeekAtLastError());
  SHOW(cudaGetDevice(&number));
  SHOW_NUMBER(number);
  SHOW(cudaDeviceSynchronize());
  SHOW(cudaGetLastError());
  SHOW(cudaGetLastError());
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  SHOW(cudaStreamQuery(stream));
  SHOW(cudaGetLastError());
  SHOW(cudaDeviceGetAttribute(&number, static_cast<cudaDeviceAttr>(9999), 0));
  SHOW(cudaGetLastError());
  SHOW(cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0));
  SHOW(cudaGetLastError());
  SHOW(cudaGetDeviceCount(nullptr));
  SHOW(cudaGetLastError());
  SHOW(cudaDeviceSetLimit(static_cast<cudaLimit>(99), 1));
  SHOW(cudaGetLastError());
}

/// The functions that return no error code, and what they say of codes that do not exist.
void other_results() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc(8, 16, 24, 32, cudaChannelFormatKindFloat);
  SHOW_NUMBER(format.x);
  SHOW_NUMBER(format.y);
  SHOW_NUMBER(format.z);
  SHOW_NUMBER(format.w);
  SHOW_NUMBER(format.f);
  const cudaChannelFormatDesc of_type = cudaCreateChannelDesc<float4>();
  SHOW_NUMBER(of_type.x + of_type.y + of_type.z + of_type.w);
  SHOW_NUMBER(of_type.f);
  for (const int code : {0, 1, 98, 719, 12345, -1})
    std::printf("%d: %s: %s\n", code, cudaGetErrorName(static_cast<cudaError_t>(code)),
                cudaGetErrorString(static_cast<cudaError_t>(code)));
}

const Case kCases[] = {
    {"copies", copies},
    {"frees", frees},
    {"streams", streams},
    {"events", events},
    {"in-host-function", in_host_function},
    {"remembered", remembered},
    {"other-results", other_results},
};

}  // namespace

int main(int argc, char** argv) {
  if (no_device()) return kSkipped;
  return run_case(kCases, argc, argv);
}
