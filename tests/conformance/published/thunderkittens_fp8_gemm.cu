// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// ThunderKittens' e4m3 matrix multiplication for H100 (kernels/gemm/fp8_h100): B is column-major, the result
// e4m3.
#include <chrono>

#define main published_main
#include "gemm/fp8_h100/fp8_h100_gemm.cu"
#undef main

#include "thunderkittens_product.hpp"

int main() {
  using namespace conformance;
  using Template = matmul_template<8>;
  constexpr int m = 256, n = 512, k = 512;
  const auto a = uniform<fp8e4m3>(m * k, 1), b = uniform<fp8e4m3>(n * k, 2);
  const auto x = floats(a), y = floats(b);
  const auto want = product(
      m, n, k, [&](int i, int l) { return x[i * k + l]; }, [&](int l, int j) { return y[j * k + l]; });
  // The result has three bits behind the leading one.
  return close("e4m3 256x512x512", multiply<Template>(a, b, m, n, k), want, {0.01, 0.07}) ? 0 : 1;
}
