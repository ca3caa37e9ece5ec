// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Source of the fat binaries beside it: nvcc 13.0, -fatbin, --compress-mode=none, size, speed; tiny_rdc with
// -rdc=true.
__constant__ int table[4] = {1, 2, 3, 4};
__global__ void __launch_bounds__(256, 2) scale(float* data, int n) {
  __shared__ float tile[64];
  tile[threadIdx.x % 64] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = tile[(threadIdx.x + 1) % 64] * table[n & 3];
}
__global__ void __cluster_dims__(2, 1, 1) fill(float* data) {
  data[0] = 1;
}
