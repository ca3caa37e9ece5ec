// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Random descriptions of tensor maps, the same on every machine: right ones, most of them with one or two
// edits to the edge of a rule. What a driver answered to the first kAnswers of them is in
// data/tensor_map_answers.bin, one bit each (1: accepted).
#pragma once

#include <cstdint>
#include <random>

#include "sluice/host/tensor_map_rules.hpp"

namespace sluice::test {

using host::TensorMapSpec;

constexpr int kAnswers = 200000;
/// The driver does not look at the memory.
constexpr std::uint64_t kAddress = 0x7f1234560000;

class TensorMapDescriptions {
 public:
  explicit TensorMapDescriptions(std::uint32_t seed = 1) : random_(seed) {}

  TensorMapSpec next() {
    TensorMapSpec spec = below(3) == 0 ? right_im2col() : right_tiled();
    for (unsigned edits = below(3); edits > 0; --edits) edit(spec);
    return spec;
  }

 private:
  unsigned below(unsigned n) { return static_cast<unsigned>(random_()) % n; }
  template <class T, std::size_t N>
  T one_of(const T (&values)[N]) {
    return values[below(N)];
  }

  TensorMapSpec right_tiled() {
    TensorMapSpec spec;
    spec.element = static_cast<CUtensorMapDataType>(below(13));
    spec.rank = 1 + static_cast<int>(below(5));
    spec.address = reinterpret_cast<void*>(kAddress);
    spec.allow_overlap = true;  // the driver does not ask whether strides cover what lies inside them
    const auto bits = static_cast<std::uint32_t>(host::element_bits(spec.element));
    std::uint64_t bytes = 0;
    for (int i = 0; i < spec.rank; ++i) {
      spec.shape[i] = 32 * (1 + below(8));
      if (i > 0) spec.strides[i - 1] = bytes;
      bytes = i == 0 ? spec.shape[0] * bits / 8 : bytes * spec.shape[i];
      spec.box[i] = i == 0 ? 128 / bits : 4;
    }
    if (spec.rank >= 3 && below(4) == 0) spec.interleave = CU_TENSOR_MAP_INTERLEAVE_16B;
    spec.swizzle = static_cast<CUtensorMapSwizzle>(below(4));
    spec.l2_promotion = static_cast<CUtensorMapL2promotion>(below(4));
    return spec;
  }

  TensorMapSpec right_im2col() {
    TensorMapSpec spec = right_tiled();
    while (spec.rank < 3) spec = right_tiled();
    spec.im2col = true;
    for (int i = 0; i < spec.rank - 2; ++i) {
      spec.lower_corner[i] = -static_cast<int>(below(3));
      spec.upper_corner[i] = -static_cast<int>(below(3));
    }
    spec.channels_per_pixel = spec.box[0];
    spec.pixels_per_column = 1 + below(256);
    return spec;
  }

  void edit(TensorMapSpec& spec) {
    const std::uint32_t boxes[] = {0, 1, 2, 4, 8, 16, 31, 32, 60, 64, 128, 255, 256, 257};
    const std::uint64_t extents[] = {0, 1, 2, 127, 128, 4294967295ull, 4294967296ull, 4294967297ull};
    const std::uint64_t strides[] = {0,         8, 16, 24, 32, 48, 64, (1ull << 40) - 32, (1ull << 40) - 16,
                                     1ull << 40};
    const int corners[] = {-32769, -32768, -129, -128, -17, -16, -1,    0,
                           1,      15,     16,   31,   127, 128, 32767, 32768};
    const std::uint32_t steps[] = {0, 1, 2, 3, 8, 9};
    const std::uint32_t pixels[] = {0, 1, 255, 256, 257, 512, 1023, 1024, 1025};
    const std::uint64_t addresses[] = {0, 16, 1ull << 56, (1ull << 57) - 32, 1ull << 57, 1ull << 63};
    const unsigned dimension = below(5);
    switch (below(16)) {
      case 0:
        spec.rank = static_cast<int>(below(7));
        break;
      case 1:
        spec.address = reinterpret_cast<void*>(kAddress + 8 * below(5));
        break;
      case 2:
        spec.address = reinterpret_cast<void*>(one_of(addresses));
        break;
      case 3:
        spec.shape[dimension] = one_of(extents);
        break;
      case 4:
        spec.strides[dimension % 4] = one_of(strides);
        break;
      case 5:
        spec.box[dimension] = one_of(boxes);
        break;
      case 6:
        for (std::uint32_t& box : spec.box) box = one_of(boxes);
        break;
      case 7:
        spec.element_strides[dimension] = one_of(steps);
        break;
      case 8:
        spec.interleave = static_cast<CUtensorMapInterleave>(below(3));
        break;
      case 9:
        spec.swizzle = static_cast<CUtensorMapSwizzle>(below(7));
        break;
      case 10:
        spec.oob_fill = static_cast<CUtensorMapFloatOOBfill>(below(2));
        break;
      case 11:
        spec.element = static_cast<CUtensorMapDataType>(below(16));
        break;
      case 12:
        spec.lower_corner[dimension % 3] = one_of(corners);
        break;
      case 13:
        spec.upper_corner[dimension % 3] = one_of(corners);
        break;
      case 14:
        spec.channels_per_pixel = one_of(boxes);
        break;
      default:
        spec.pixels_per_column = one_of(pixels);
        break;
    }
  }

  std::mt19937 random_;
};

}  // namespace sluice::test
