// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// One step of ThunderKittens' course on matrix multiplication
// (-DLEVEL='"gemm/educational_h100/level_08.cu"'): from mma.sync over TMA and wgmma to specialised warps.
// Level 1 is for fp32 and left out.
#define main published_main
#include LEVEL
#undef main

#include "compare.hpp"

int main() {
  using namespace conformance;
  using T = __nv_bfloat16;
  constexpr int n = 512;
  const auto a = uniform<T>(n * n, 1), b = uniform<T>(n * n, 2);
  const DeviceArray<T> device_a(a), device_b(b), c(n * n);
  matmul(device_a.get(), device_b.get(), c.get(), n);
  finish("kernel");
  const auto x = floats(a), y = floats(b);
  const auto want = product(
      n, n, n, [&](int i, int l) { return x[i * n + l]; }, [&](int l, int j) { return y[l * n + j]; });
  // The first ones round each product to bf16.
  return close(LEVEL, c.read(), want, {0.05, 0.02}) ? 0 : 1;
}
