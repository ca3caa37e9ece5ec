// finding:   out-of-bounds
// at:        marked
// note:      The grid is rounded up to whole blocks, and the threads behind the last element do not stop.
// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
#include "corpus.hpp"

constexpr int kCount = corpus::kWords;

__global__ void add_one(const uint32_t* in, uint32_t* out) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
#if !BUG
  if (i >= kCount) return;
#endif
  out[i] = in[i] + 1;  // at
}

int main() {
  const corpus::Buffers buffers;
  if (corpus::failed(corpus::launch(add_one, buffers, kCount / 96 + 1, 96))) return 2;
  return corpus::judge(buffers, kCount, [](uint32_t i) { return corpus::input(i) + 1; });
}
