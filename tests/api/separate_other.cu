// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The other object of separate_main.cu.
__device__ int offset_elsewhere = 1000;
static __device__ int hidden = 50;

__device__ int elsewhere(int value) {
  return value * 2 + hidden;
}
