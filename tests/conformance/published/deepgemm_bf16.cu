// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// DeepGEMM's bf16 matrix multiplication for sm_90: ragged extents, merged stages, multicast and accumulation
// in fp32, and operands that lie the other way.
#include <deep_gemm/impls/sm90_bf16_gemm.cuh>

#include "deepgemm.hpp"

namespace {

using namespace conformance;
using cute::UMMA::Major;
using T = __nv_bfloat16;

template <class Result, bool Accumulate, Major MajorA, Major MajorB, int BlockM, int BlockN, int Stages,
          int Cluster>
bool run(int m, int n, int k) {
  constexpr bool kRowsA = MajorA == Major::K, kRowsB = MajorB == Major::K, kFloat = sizeof(Result) == 4;
  const auto a = uniform<T>(std::size_t(m) * k, 1), b = uniform<T>(std::size_t(n) * k, 2);
  const auto c = uniform<Result>(std::size_t(m) * n, 3);
  const DeviceArray<T> device_a(a), device_b(b);
  const DeviceArray<Result> d(c);
  const auto map_a = kRowsA ? matrix_map(device_a.get(), m, k, BlockM, 64, 128)
                            : matrix_map(device_a.get(), k, m, 64, BlockM, 128);
  const auto map_b = kRowsB ? matrix_map(device_b.get(), n, k, BlockN, 64, 128)
                            : matrix_map(device_b.get(), k, n, 64, BlockN, 128);
  constexpr int kSwizzleD = kFloat ? 0 : swizzle_for(BlockN * sizeof(Result));
  const auto map_d = matrix_map(d.get(), m, n, BlockM, BlockN, kSwizzleD);
  constexpr int kShared =
      align_up(BlockM * BlockN * sizeof(Result), 1024) + 256 + Stages * 128 * (BlockM + BlockN);
  const auto kernel =
      deep_gemm::sm90_bf16_gemm_impl<MajorA, MajorB, 0, 0, 0, 1, BlockM, BlockN, 64, 128, 128, kSwizzleD,
                                     Stages, kCopyThreads, math_threads(BlockM), Cluster, true,
                                     kMultiprocessors, deep_gemm::GemmType::Normal, Accumulate,
                                     std::conditional_t<kFloat, float, cutlass::bfloat16_t>>;
  launch(kernel, BlockM, kShared, Cluster, static_cast<int*>(nullptr), unsigned(m), unsigned(n), unsigned(k),
         map_a, map_b, map_d);

  const auto x = floats(a), y = floats(b), z = floats(c);
  auto want = product(
      m, n, k, [&](int i, int l) { return kRowsA ? x[i * k + l] : x[l * m + i]; },
      [&](int l, int j) { return kRowsB ? y[j * k + l] : y[l * n + j]; });
  for (std::size_t i = 0; Accumulate && i < want.size(); ++i) want[i] += z[i];
  return close(describe("bf16", m, n, k, BlockM, BlockN, Stages, Cluster), d.read(), want,
               kFloat ? Tolerance{1e-5, 1e-5} : Tolerance{0.001, 0.005});
}

}  // namespace

int main() {
  bool good = run<T, false, Major::K, Major::K, 128, 128, 4, 1>(300, 512, 512);
  good = run<T, false, Major::K, Major::K, 64, 64, 10, 1>(200, 256, 1024) && good;
  good = run<float, true, Major::K, Major::K, 128, 128, 4, 2>(256, 512, 256) && good;
  good = run<float, true, Major::MN, Major::MN, 128, 64, 4, 1>(256, 256, 256) && good;
  return good ? 0 : 1;
}
