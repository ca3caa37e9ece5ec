// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Grid barriers of cooperative groups.
#include <cooperative_groups.h>

#include "check.hpp"

namespace cg = cooperative_groups;

__global__ void grid_wide(int* out) {
  cg::grid_group grid = cg::this_grid();
  for (int round = 0; round < 3; ++round) {
    if (threadIdx.x == 0) atomicAdd(out, 1);
    grid.sync();
    if (threadIdx.x == 0 && blockIdx.x == 0) out[round + 1] = out[0];
    grid.sync();
  }
}

int main() {
  if (no_device()) return kSkipped;
  int* out = nullptr;
  SHOW(cudaMalloc(&out, 16));
  SHOW(cudaMemset(out, 0, 16));
  void* arguments[] = {&out};
  SHOW(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(grid_wide), dim3(16), dim3(64), arguments, 0,
                                   nullptr));
  int host[4] = {};
  SHOW(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  for (const int value : host) SHOW_NUMBER(value);
  SHOW(cudaFree(out));
  return 0;
}
