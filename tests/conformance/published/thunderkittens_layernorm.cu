// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// ThunderKittens' fused residual and layer norm (kernels/layernorm), rows of 1024.
#include <chrono>

#define main published_main
#include "layernorm/layernorm.cu"
#undef main

#include "compare.hpp"

int main() {
  using namespace conformance;
  constexpr int batches = 2, rows = 64, width = 1024, count = batches * rows * width;
  const auto x = uniform<bf16>(count, 1), residual = uniform<bf16>(count, 2),
             weight = uniform<bf16>(width, 3, 0.5, 1.5), bias = uniform<bf16>(width, 4);
  const DeviceArray<bf16> device_x(x), device_residual(residual), device_weight(weight), device_bias(bias),
      norm(count), sum(count);
  dispatch_layernorm(device_x.get(), device_residual.get(), device_weight.get(), device_bias.get(),
                     norm.get(), sum.get(), 0.0f, batches, rows);
  finish("kernel");

  std::vector<float> want_sum(count), want_norm(count);
  for (int row = 0; row < count; row += width) {
    double mean = 0, variance = 0;
    for (int i = row; i < row + width; ++i) {
      want_sum[i] = static_cast<float>(x[i]) + static_cast<float>(residual[i]);
      mean += want_sum[i] / width;
    }
    for (int i = row; i < row + width; ++i) variance += (want_sum[i] - mean) * (want_sum[i] - mean) / width;
    for (int i = row; i < row + width; ++i) {
      const double normal = (want_sum[i] - mean) / std::sqrt(variance + 1e-5);
      want_norm[i] = static_cast<float>(normal * static_cast<float>(weight[i - row]) +
                                        static_cast<float>(bias[i - row]));
    }
  }
  // The kernel computes in bf16 throughout.
  const bool good = close("sum", sum.read(), want_sum, {0.01, 0.01});
  return close("norm", norm.read(), want_norm, {0.06, 0.03}) && good ? 0 : 1;
}
