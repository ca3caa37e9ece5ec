// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// ThunderKittens' rotary embedding (kernels/rotary) on its load-compute-store-finish template, whose
// producers poll two barriers in turn with a nanosleep between. The published kernel names the rows of its
// sine and cosine tiles by the warp, counted in rows and not in tiles of 16: warp w reads rows w to w + 15.
// The host does the same.
#include <chrono>

#define main published_main
#include "rotary/rotary.cu"
#undef main

#include "compare.hpp"

namespace {

using namespace conformance;

template <int Width>
bool run(std::size_t batches, std::size_t heads, std::size_t positions) {
  using Template = rotary_template<Width>;
  using Sequence = typename Template::layout::seq_global;
  using Angles = typename Template::layout::rope_global;
  constexpr int kHalf = Width / 2, kBatchesPerBlock = 4, kRowsPerBlock = Template::NUM_CONSUMER_WARPS * 16;
  constexpr int kShared = MAX_SHARED_MEMORY - 2048;
  const std::size_t rows = batches * heads * positions;
  const auto x = uniform<bf16>(rows * Width, 1), sine = uniform<bf16>(positions * kHalf, 2),
             cosine = uniform<bf16>(positions * kHalf, 3);
  const DeviceArray<bf16> device_x(x), device_sine(sine), device_cosine(cosine), output(x.size());
  const typename Template::layout::globals globals{
      Sequence{output.get(), batches, heads, positions, nullptr},
      Sequence{device_x.get(), batches, heads, positions, nullptr},
      Angles{device_sine.get(), nullptr, nullptr, positions, nullptr},
      Angles{device_cosine.get(), nullptr, nullptr, positions, nullptr}, kBatchesPerBlock};
  const auto kernel = prototype::lcsf::kernel<Template>;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared), "shared memory");
  const dim3 grid((positions + kRowsPerBlock - 1) / kRowsPerBlock,
                  (batches + kBatchesPerBlock - 1) / kBatchesPerBlock);
  kernel<<<grid, prototype::detail::NUM_THREADS_v<Template>, kShared>>>(globals);
  finish("kernel");

  std::vector<float> want(x.size());
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t position = row % positions, in_block = position % kRowsPerBlock;
    const std::size_t angle_row =
        position / kRowsPerBlock * Template::NUM_CONSUMER_WARPS + in_block / 16 + in_block % 16;
    for (int i = 0; i < kHalf; ++i) {
      const float low = x[row * Width + i], high = x[row * Width + kHalf + i];
      const float s = sine[angle_row * kHalf + i], c = cosine[angle_row * kHalf + i];
      want[row * Width + i] = low * c - high * s;
      want[row * Width + kHalf + i] = high * c + low * s;
    }
  }
  return close("rotary, width " + std::to_string(Width), output.read(), want, {0.01, 0.01});
}

}  // namespace

int main() {
  const bool good = run<64>(5, 2, 160);
  return run<128>(2, 2, 128) && good ? 0 : 1;
}
