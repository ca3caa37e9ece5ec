// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory of the runtime API: allocation of every kind, copies, fills, symbols, pools, pointer queries,
// refusals.
#include <cstring>
#include <vector>

#include "check.hpp"

__device__ int counter = 5;
__device__ int table[8];
__constant__ int factor = 3;
__managed__ int shared_value = 40;

__global__ void use_symbols() {
  counter += factor;
  shared_value += 2;
  if (threadIdx.x < 8) table[threadIdx.x] = threadIdx.x * factor;
}
__global__ void add_one(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += 1;
}

namespace {

void linear() {
  std::puts("-- linear");
  int* device = nullptr;
  SHOW(cudaMalloc(&device, 1024));
  SHOW(cudaMemset(device, 0, 1024));
  add_one<<<2, 128>>>(device, 256);
  std::vector<int> host(256, -1);
  SHOW(cudaMemcpy(host.data(), device, 1024, cudaMemcpyDeviceToHost));
  int sum = 0;
  for (int value : host) sum += value;
  SHOW_NUMBER(sum);
  SHOW(cudaMemcpy(device + 200, host.data(), 1024, cudaMemcpyHostToDevice));
  SHOW(cudaGetLastError());
  SHOW(cudaMemcpy(host.data(), device, 4, static_cast<cudaMemcpyKind>(9)));
  SHOW(cudaMemcpy(nullptr, device, 4, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyDeviceToHost));
  (void)cudaGetLastError();
  SHOW(cudaFree(device));
  SHOW(cudaFree(device));
  SHOW(cudaFree(nullptr));
  SHOW(cudaMalloc(nullptr, 16));
  void* nothing = &nothing;
  SHOW(cudaMalloc(&nothing, 0));
  SHOW_NUMBER(nothing == nullptr);
  SHOW(cudaMalloc(&nothing, size_t{1} << 50));
  SHOW(cudaPeekAtLastError());
  SHOW(cudaGetLastError());
  SHOW(cudaGetLastError());
}

void pitched() {
  std::puts("-- pitched");
  char* device = nullptr;
  size_t pitch = 0;
  SHOW(cudaMallocPitch(&device, &pitch, 100, 10));
  SHOW_NUMBER(pitch);
  SHOW(cudaMemset2D(device, pitch, 7, 100, 10));
  SHOW(cudaMemset2D(device + pitch, pitch, 1, 50, 2));
  char host[10][120];
  std::memset(host, 0, sizeof host);
  SHOW(cudaMemcpy2D(host, 120, device, pitch, 100, 10, cudaMemcpyDeviceToHost));
  SHOW_NUMBER(host[0][99] + 10 * host[1][49] + 100 * host[2][50] + 1000 * host[9][99]);
  SHOW(cudaMemcpy2D(host, 50, device, pitch, 100, 10, cudaMemcpyDeviceToHost));
  (void)cudaGetLastError();
  SHOW(cudaFree(device));

  cudaPitchedPtr volume{};
  SHOW(cudaMalloc3D(&volume, make_cudaExtent(64, 4, 3)));
  SHOW_NUMBER(volume.pitch);
  SHOW(cudaMemset3D(volume, 2, make_cudaExtent(64, 4, 3)));
  std::vector<unsigned char> box(64 * 4 * 3, 0);
  cudaMemcpy3DParms copy{};
  copy.srcPtr = volume;
  copy.dstPtr = make_cudaPitchedPtr(box.data(), 64, 64, 4);
  copy.extent = make_cudaExtent(32, 4, 2);
  copy.dstPos = make_cudaPos(16, 0, 1);
  copy.kind = cudaMemcpyDeviceToHost;
  SHOW(cudaMemcpy3D(&copy));
  int sum = 0;
  for (unsigned char value : box) sum += value;
  SHOW_NUMBER(sum);
  SHOW_NUMBER(box[64 * 4 + 16]);
  SHOW(cudaFree(volume.ptr));
}

void symbols() {
  std::puts("-- symbols");
  use_symbols<<<1, 32>>>();
  int value = 0;
  SHOW(cudaMemcpyFromSymbol(&value, counter, sizeof value));
  SHOW_NUMBER(value);
  int rows[8] = {};
  SHOW(cudaMemcpyFromSymbol(rows, table, 4 * sizeof(int), 2 * sizeof(int)));
  SHOW_NUMBER(rows[0] * 1000 + rows[3]);
  SHOW_NUMBER(shared_value);
  const int two = 2;
  SHOW(cudaMemcpyToSymbol(factor, &two, sizeof two));
  use_symbols<<<1, 32>>>();
  SHOW(cudaMemcpyFromSymbol(&value, counter, sizeof value));
  SHOW_NUMBER(value);
  size_t bytes = 0;
  SHOW(cudaGetSymbolSize(&bytes, table));
  SHOW_NUMBER(bytes);
  void* address = nullptr;
  SHOW(cudaGetSymbolAddress(&address, counter));
  SHOW(cudaMemcpy(&value, address, sizeof value, cudaMemcpyDeviceToHost));
  SHOW_NUMBER(value);
  SHOW(cudaMemcpyFromSymbol(rows, table, 64));
  SHOW(cudaGetLastError());
}

void host_memory() {
  std::puts("-- host memory");
  int* pinned = nullptr;
  SHOW(cudaMallocHost(&pinned, 256));
  for (int i = 0; i < 64; ++i) pinned[i] = i;
  int* mapped = nullptr;
  SHOW(cudaHostGetDevicePointer(&mapped, pinned, 0));
  add_one<<<1, 64>>>(mapped, 64);
  SHOW(cudaDeviceSynchronize());
  SHOW_NUMBER(pinned[63]);
  cudaPointerAttributes attributes{};
  SHOW(cudaPointerGetAttributes(&attributes, pinned));
  SHOW_NUMBER(attributes.type);
  SHOW(cudaFreeHost(pinned));

  static int registered[1024];
  SHOW(cudaHostRegister(registered, sizeof registered, cudaHostRegisterDefault));
  SHOW(cudaHostRegister(registered, sizeof registered, cudaHostRegisterDefault));
  SHOW(cudaHostGetDevicePointer(&mapped, registered, 0));
  add_one<<<8, 128>>>(mapped, 1024);
  SHOW(cudaDeviceSynchronize());
  SHOW_NUMBER(registered[1023]);
  SHOW(cudaHostUnregister(registered));
  SHOW(cudaHostUnregister(registered));
  (void)cudaGetLastError();
  SHOW(cudaPointerGetAttributes(&attributes, registered));
  SHOW_NUMBER(attributes.type);

  int* managed = nullptr;
  SHOW(cudaMallocManaged(&managed, 256));
  for (int i = 0; i < 64; ++i) managed[i] = 10;
  add_one<<<1, 64>>>(managed, 64);
  SHOW(cudaDeviceSynchronize());
  SHOW_NUMBER(managed[0]);
  SHOW(cudaPointerGetAttributes(&attributes, managed));
  SHOW_NUMBER(attributes.type);
  SHOW(cudaFree(managed));
}

void pools() {
  std::puts("-- pools");
  cudaStream_t stream = nullptr;
  SHOW(cudaStreamCreate(&stream));
  int* device = nullptr;
  SHOW(cudaMallocAsync(&device, 4096, stream));
  SHOW(cudaMemsetAsync(device, 0, 4096, stream));
  add_one<<<8, 128, 0, stream>>>(device, 1024);
  int last = 0;
  SHOW(cudaMemcpyAsync(&last, device + 1023, 4, cudaMemcpyDeviceToHost, stream));
  SHOW(cudaFreeAsync(device, stream));
  SHOW(cudaStreamSynchronize(stream));
  SHOW_NUMBER(last);
  cudaMemPool_t pool = nullptr;
  SHOW(cudaDeviceGetDefaultMemPool(&pool, 0));
  unsigned long long threshold = 1 << 20;
  SHOW(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  threshold = 0;
  SHOW(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  SHOW_NUMBER(threshold);
  SHOW(cudaStreamDestroy(stream));
}

}  // namespace

int main() {
  if (no_device()) return kSkipped;
  linear();
  pitched();
  symbols();
  host_memory();
  pools();
  SHOW(cudaDeviceSynchronize());
  return 0;
}
