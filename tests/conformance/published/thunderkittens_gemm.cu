// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// ThunderKittens' bf16 matrix multiplication for H100 (kernels/gemm/bf16_h100), included with its main
// function renamed: this program brings its own.
#include <chrono>

#define main published_main
#include "gemm/bf16_h100/bf16_h100_gemm.cu"
#undef main

#include "thunderkittens_product.hpp"

namespace {

using namespace conformance;

template <class Template>
bool run(int m, int n, int k) {
  const auto a = uniform<bf16>(std::size_t(m) * k, 1), b = uniform<bf16>(std::size_t(k) * n, 2);
  const auto x = floats(a), y = floats(b);
  const auto want = product(
      m, n, k, [&](int i, int l) { return x[i * k + l]; }, [&](int l, int j) { return y[l * n + j]; });
  return close("bf16 " + std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k),
               multiply<Template>(a, b, m, n, k), want, {0.01, 0.01});
}

}  // namespace

int main() {
  bool good = run<matmul_template<2, 4, 8>>(512, 512, 512);
  good = run<matmul_template<2, 4, 11>>(640, 256, 320) && good;
  return good ? 0 : 1;
}
