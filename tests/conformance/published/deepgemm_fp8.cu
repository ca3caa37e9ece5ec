// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// DeepGEMM's e4m3 matrix multiplications for sm_90, scaled by blocks of 128 along k: A by row and block with
// B by square
// ("1d2d"), both by row and block with accumulation in fp32 ("1d1d"), and the latter over groups of k, for
// which the kernel rewrites its tensor maps on the device.
#include <deep_gemm/impls/sm90_fp8_gemm_1d1d.cuh>
#include <deep_gemm/impls/sm90_fp8_gemm_1d2d.cuh>

#include <numeric>

#include "deepgemm.hpp"

namespace {

using namespace conformance;
using T = __nv_fp8_e4m3;
using deep_gemm::GemmType;

/// One operand and its scales: `scale_of(block)` gives the scales of all rows. Rows of scales are a multiple
/// of four long, as the copy engine wants them.
struct Operand {
  int rows, columns, padded = align_up(rows, 4), blocks = ceil_div(columns, 128);
  std::vector<T> host;
  std::vector<float> values, scales;
  DeviceArray<T> device;
  DeviceArray<float> device_scales;

  Operand(int rows, int columns, unsigned seed)
      : rows(rows),
        columns(columns),
        host(uniform<T>(std::size_t(rows) * columns, seed)),
        values(floats(host)),
        scales(uniform<float>(std::size_t(blocks) * padded, seed + 10, 0.5, 2)),
        device(host),
        device_scales(scales) {}
  CUtensorMap map(int box_rows) const { return matrix_map(device.get(), rows, columns, box_rows, 128, 128); }
  CUtensorMap scale_map(int box_rows) const {
    return matrix_map(device_scales.get(), blocks, padded, 1, box_rows, 0);
  }
  float scaled(int row, int l) const {
    return values[std::size_t(row) * columns + l] * scales[std::size_t(l / 128) * padded + row];
  }
};

constexpr int shared_bytes(int block_m, int block_n, int result_bytes, int stages, int scales_b, int extra) {
  const int stage = 128 * (block_m + block_n) + align_up(4 * block_m, 128) + align_up(4 * scales_b, 128);
  return align_up(block_m * block_n * result_bytes, 1024) + 256 + extra + stages * stage;
}

template <int BlockM, int BlockN, int Stages, int Cluster>
bool scaled_by_squares(int m, int n, int k) {
  const Operand a(m, k, 1), b(n, k, 2);
  const int blocks = a.blocks;
  const auto squares = uniform<float>(std::size_t(ceil_div(n, 128)) * blocks, 3, 0.5, 2);
  const DeviceArray<float> device_squares(squares);
  const DeviceArray<__nv_bfloat16> d(std::size_t(m) * n);
  constexpr int kSwizzleD = swizzle_for(BlockN * 2);
  const int extra = align_up(4 * blocks * (128 % BlockN == 0 ? 1 : 2), 8);
  const auto kernel =
      deep_gemm::sm90_fp8_gemm_1d2d_impl<cute::UMMA::Major::K, 0, 0, 0, 1, BlockM, BlockN, 128, 128, 128,
                                         kSwizzleD, Stages, kCopyThreads, math_threads(BlockM), Cluster, true,
                                         kMultiprocessors, GemmType::Normal, cutlass::bfloat16_t,
                                         deep_gemm::epilogue::transform::EpilogueIdentity>;
  launch(kernel, BlockM, shared_bytes(BlockM, BlockN, 2, Stages, 0, extra), Cluster, device_squares.get(),
         static_cast<int*>(nullptr), unsigned(m), unsigned(n), unsigned(k), a.map(BlockM), b.map(BlockN),
         matrix_map(d.get(), m, n, BlockM, BlockN, kSwizzleD), a.scale_map(BlockM));

  const auto want = product(
      m, n, k, [&](int i, int l) { return a.scaled(i, l); },
      [&](int l, int j) { return b.values[std::size_t(j) * k + l] * squares[(j / 128) * blocks + l / 128]; });
  return close(describe("1d2d", m, n, k, BlockM, BlockN, Stages, Cluster), d.read(), want, {0.001, 0.005});
}

template <int BlockM, int BlockN, int Stages, int Cluster>
bool scaled_by_rows(int m, int n, int k) {
  const Operand a(m, k, 1), b(n, k, 2);
  const auto c = uniform<float>(std::size_t(m) * n, 3);
  const DeviceArray<float> d(c);
  const auto kernel = deep_gemm::sm90_fp8_gemm_1d1d_impl<0, 0, 0, 1, BlockM, BlockN, 128, 128, 128, Stages,
                                                         kCopyThreads, math_threads(BlockM), Cluster, false,
                                                         kMultiprocessors, GemmType::Normal, float>;
  launch(kernel, BlockM, shared_bytes(BlockM, BlockN, 4, Stages, BlockN, 0), Cluster,
         static_cast<T*>(nullptr), static_cast<T*>(nullptr), static_cast<int*>(nullptr),
         static_cast<CUtensorMap*>(nullptr), unsigned(m), unsigned(n), unsigned(k), a.map(BlockM),
         b.map(BlockN), a.scale_map(BlockM), b.scale_map(BlockN), matrix_map(d.get(), m, n, 64, BlockN, 0));

  auto want = product(
      m, n, k, [&](int i, int l) { return a.scaled(i, l); }, [&](int l, int j) { return b.scaled(j, l); });
  for (std::size_t i = 0; i < want.size(); ++i) want[i] += c[i];
  return close(describe("1d1d", m, n, k, BlockM, BlockN, Stages, Cluster), d.read(), want, {4e-3, 1e-3});
}

/// Group g multiplies A_g (m x k_g) and B_g (k_g x n), which lie one behind the other.
template <int BlockM, int BlockN, int Stages, int Groups>
bool groups_of_k(int m, int n, const std::vector<int>& ks) {
  const int k = std::accumulate(ks.begin(), ks.end(), 0), first = ks.front();
  const Operand a(m, k, 1), b(n, k, 2);
  const auto c = uniform<float>(std::size_t(Groups) * m * n, 3);
  const DeviceArray<float> d(c);
  const DeviceArray<int> device_ks(ks);
  const DeviceArray<CUtensorMap> maps(2 * kMultiprocessors);
  const auto kernel =
      deep_gemm::sm90_fp8_gemm_1d1d_impl<0, 0, 0, Groups, BlockM, BlockN, 128, 128, 128, Stages, kCopyThreads,
                                         math_threads(BlockM), 1, false, kMultiprocessors,
                                         GemmType::KGroupedContiguous, float>;
  launch(kernel, BlockM, shared_bytes(BlockM, BlockN, 4, Stages, BlockN, 512), 1, a.device.get(),
         b.device.get(), device_ks.get(), maps.get(), unsigned(m), unsigned(n), unsigned(k),
         matrix_map(a.device.get(), m, first, BlockM, 128, 128),
         matrix_map(b.device.get(), n, first, BlockN, 128, 128), a.scale_map(BlockM), b.scale_map(BlockN),
         matrix_map(d.get(), Groups * m, n, 64, BlockN, 0));

  std::vector<float> want;
  int before = 0;
  for (const int length : ks) {
    const auto element = [&](const Operand& operand, int row, int l) {
      return operand.values[std::size_t(before) * operand.rows + std::size_t(row) * length + l] *
             operand.scales[std::size_t((before + l) / 128) * operand.padded + row];
    };
    const auto part = product(
        m, n, length, [&](int i, int l) { return element(a, i, l); },
        [&](int l, int j) { return element(b, j, l); });
    want.insert(want.end(), part.begin(), part.end());
    before += length;
  }
  for (std::size_t i = 0; i < want.size(); ++i) want[i] += c[i];
  return close(describe("1d1d by groups of k", m, n, k, BlockM, BlockN, Stages, 1), d.read(), want,
               {4e-3, 1e-3});
}

}  // namespace

int main() {
  bool good = scaled_by_squares<128, 128, 5, 1>(300, 512, 512);
  good = scaled_by_squares<64, 160, 4, 1>(100, 480, 640) && good;
  good = scaled_by_squares<128, 112, 5, 2>(512, 448, 384) && good;
  good = scaled_by_rows<128, 128, 4, 1>(256, 384, 512) && good;
  good = scaled_by_rows<64, 56, 5, 2>(512, 224, 384) && good;
  good = groups_of_k<128, 128, 4, 4>(256, 256, {128, 384, 0, 256}) && good;
  return good ? 0 : 1;
}
