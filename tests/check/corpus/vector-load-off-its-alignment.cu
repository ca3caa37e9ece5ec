// finding:   misaligned-access
// at:        marked
// note:      Four words are loaded at once from an address that is a multiple of four bytes only.
// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
#include "corpus.hpp"

__global__ void add_four(const uint32_t* in, uint32_t* out) {
  const uint32_t* row = in + threadIdx.x * 4 + (BUG ? 1 : 0);
  const uint4 words = *reinterpret_cast<const uint4*>(row);  // at
  out[threadIdx.x] = words.x + words.y + words.z + words.w;
}

int main() {
  const corpus::Buffers buffers;
  if (corpus::failed(corpus::launch(add_four, buffers, 1, 32))) return 2;
  return corpus::judge(buffers, 32, [](uint32_t i) {
    return corpus::input(4 * i) + corpus::input(4 * i + 1) + corpus::input(4 * i + 2) +
           corpus::input(4 * i + 3);
  });
}
