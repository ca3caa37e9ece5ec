// finding:   device-trap
// at:        marked
// note:      The kernel checks how it is launched and traps, and the host launches it with half of the
// threads. SPDX-FileCopyrightText: The sluice authors SPDX-License-Identifier: Apache-2.0
#include "corpus.hpp"

__global__ void copy_words(const uint32_t* in, uint32_t* out) {
  if (blockDim.x != 64) __trap();  // at
  out[threadIdx.x] = in[threadIdx.x];
}

int main() {
  const corpus::Buffers buffers;
  if (corpus::failed(corpus::launch(copy_words, buffers, 1, BUG ? 32 : 64))) return 2;
  return corpus::judge(buffers, 64, [](uint32_t i) { return corpus::input(i); });
}
