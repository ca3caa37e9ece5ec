// finding:   dependent-launch-race
// at:        marked
// note:      A kernel that may start early reads what the kernel before writes, and waits for it afterwards.
// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
#include "corpus.hpp"

__global__ void produce(const uint32_t* in, uint32_t* between) {
  cudaTriggerProgrammaticLaunchCompletion();
  between[threadIdx.x] = in[threadIdx.x] + 1;  // at
}

__global__ void consume(const uint32_t* between, uint32_t* out) {
#if BUG
  const uint32_t word = between[threadIdx.x];  // at
  cudaGridDependencySynchronize();
#else
  cudaGridDependencySynchronize();
  const uint32_t word = between[threadIdx.x];
#endif
  out[threadIdx.x] = word;
}

int main() {
  const corpus::Buffers buffers;
  uint32_t* between = nullptr;
  if (corpus::failed(cudaMalloc(&between, 64 * sizeof(uint32_t)))) return 2;
  cudaMemset(between, 0, 64 * sizeof(uint32_t));
  produce<<<1, 64>>>(buffers.in, between);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(64);
  config.attrs = &attribute;
  config.numAttrs = 1;
  if (corpus::failed(cudaLaunchKernelEx(&config, consume, const_cast<const uint32_t*>(between), buffers.out)))
    return 2;
  return corpus::judge(buffers, 64, [](uint32_t i) { return corpus::input(i) + 1; });
}
