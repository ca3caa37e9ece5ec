// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The rules against the driver: many descriptions, right ones and ones with random edits, go to `check` and
// to the driver's encode call; both must agree. The one rule that the driver does not ask for
// (StrideCoversExtent) is left out by allow_overlap. Prints each disagreement, and how many descriptions
// broke which rule.
//
//   tensor_map_parity [COUNT [SEED]]
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "sluice/host/tensor_map.hpp"

namespace {

using sluice::TensorMapRule;
using sluice::TensorMapSpec;

template <class T, std::size_t N>
T one_of(std::mt19937& random, const T (&values)[N]) {
  return values[random() % N];
}

/// A right tiled description.
TensorMapSpec right_tiled(std::mt19937& random, void* memory) {
  TensorMapSpec spec;
  spec.element = static_cast<CUtensorMapDataType>(random() % 13);
  spec.rank = 1 + static_cast<int>(random() % 5);
  spec.address = memory;
  spec.allow_overlap = true;
  std::uint64_t bytes = 0;
  for (int i = 0; i < spec.rank; ++i) {
    spec.shape[i] = 32 * (1 + random() % 8);
    if (i > 0) spec.strides[i - 1] = bytes;
    bytes = i == 0 ? spec.shape[0] * sluice::host::element_bits(spec.element) / 8 : bytes * spec.shape[i];
    spec.box[i] = i == 0 ? 128 / static_cast<std::uint32_t>(sluice::host::element_bits(spec.element)) : 4;
  }
  if (spec.rank >= 3 && random() % 4 == 0) spec.interleave = CU_TENSOR_MAP_INTERLEAVE_16B;
  spec.swizzle = static_cast<CUtensorMapSwizzle>(random() % 4);
  spec.l2_promotion = static_cast<CUtensorMapL2promotion>(random() % 4);
  return spec;
}

TensorMapSpec right_im2col(std::mt19937& random, void* memory) {
  TensorMapSpec spec = right_tiled(random, memory);
  while (spec.rank < 3) spec = right_tiled(random, memory);
  spec.im2col = true;
  for (int i = 0; i < spec.rank - 2; ++i) {
    spec.lower_corner[i] = -static_cast<int>(random() % 3);
    spec.upper_corner[i] = -static_cast<int>(random() % 3);
  }
  spec.channels_per_pixel = spec.box[0];
  spec.pixels_per_column = 1 + random() % 256;
  return spec;
}

/// One edit, often to the edge of a rule.
void edit(std::mt19937& random, TensorMapSpec& spec) {
  const std::uint32_t boxes[] = {0, 1, 8, 16, 31, 32, 60, 64, 128, 255, 256, 257};
  const std::uint64_t extents[] = {0, 1, 2, 127, 128, 4294967295ull, 4294967296ull, 4294967297ull};
  const std::uint64_t strides[] = {0, 8, 16, 24, 32, 48, (1ull << 40) - 32, (1ull << 40) - 16, 1ull << 40};
  const int corners[] = {-32769, -32768, -129, -128, -17, -16, -1, 0, 15, 16, 31, 127, 128, 32767, 32768};
  const std::uint32_t steps[] = {0, 1, 2, 8, 9};
  const std::uint32_t pixels[] = {0, 1, 1024, 1025};
  const int dimension = static_cast<int>(random() % 5);
  switch (random() % 14) {
    case 0:
      spec.rank = static_cast<int>(random() % 7);
      break;
    case 1:
      spec.address = static_cast<char*>(spec.address) + 8 * (random() % 5);
      break;
    case 2:
      spec.shape[dimension] = one_of(random, extents);
      break;
    case 3:
      spec.strides[dimension % 4] = one_of(random, strides);
      break;
    case 4:
      spec.box[dimension] = one_of(random, boxes);
      break;
    case 5:
      spec.element_strides[dimension] = one_of(random, steps);
      break;
    case 6:
      spec.interleave = static_cast<CUtensorMapInterleave>(random() % 3);
      break;
    case 7:
      spec.swizzle = static_cast<CUtensorMapSwizzle>(random() % 4);
      break;
    case 8:
      spec.oob_fill = static_cast<CUtensorMapFloatOOBfill>(random() % 2);
      break;
    case 9:
      spec.element = static_cast<CUtensorMapDataType>(random() % 13);
      break;
    case 10:
      spec.lower_corner[dimension % 3] = one_of(random, corners);
      break;
    case 11:
      spec.upper_corner[dimension % 3] = one_of(random, corners);
      break;
    case 12:
      spec.channels_per_pixel = one_of(random, boxes);
      break;
    case 13:
      spec.pixels_per_column = one_of(random, pixels);
      break;
  }
}

void print(const TensorMapSpec& s) {
  std::printf("  element %d rank %d address %p interleave %d swizzle %d fill %d im2col %d\n", s.element,
              s.rank, s.address, s.interleave, s.swizzle, s.oob_fill, s.im2col);
  for (int i = 0; i < 5; ++i) {
    std::printf("  [%d] shape %llu stride %llu box %u step %u corners %d %d\n", i,
                static_cast<unsigned long long>(s.shape[i]),
                static_cast<unsigned long long>(i < 4 ? s.strides[i] : 0), s.box[i], s.element_strides[i],
                i < 3 ? s.lower_corner[i] : 0, i < 3 ? s.upper_corner[i] : 0);
  }
  std::printf("  channels %u pixels %u\n", s.channels_per_pixel, s.pixels_per_column);
}

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 20000;
  std::mt19937 random(argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1u);
  void* memory = nullptr;
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0 ||
      cudaMalloc(&memory, 1 << 20) != cudaSuccess) {
    std::printf("tensor_map_parity: skipped, no CUDA device and driver here\n");
    return 77;
  }

  int disagreements = 0;
  int broken[static_cast<int>(TensorMapRule::DriverCall) + 1] = {};
  for (int i = 0; i < count; ++i) {
    TensorMapSpec spec = random() % 3 == 0 ? right_im2col(random, memory) : right_tiled(random, memory);
    for (unsigned edits = random() % 3; edits > 0; --edits) edit(random, spec);
    const sluice::TensorMapError mine = sluice::host::check(spec);
    CUtensorMap map{};
    const bool driver_accepts = !sluice::host::detail::encode(spec, map);
    ++broken[static_cast<int>(mine.rule)];
    if (driver_accepts != !mine && ++disagreements <= 20) {
      std::printf("description %d: the driver %s, the rules say %s: %s\n", i,
                  driver_accepts ? "accepts" : "refuses", sluice::host::name_of(mine.rule), mine.text);
      print(spec);
    }
  }
  for (int i = 0; i <= static_cast<int>(TensorMapRule::DriverCall); ++i) {
    if (broken[i] > 0)
      std::printf("%6d %s\n", broken[i], sluice::host::name_of(static_cast<TensorMapRule>(i)));
  }
  std::printf("%s: %d descriptions, %d disagreements\n", disagreements == 0 ? "PASS" : "FAIL", count,
              disagreements);
  cudaFree(memory);
  return disagreements == 0 ? 0 : 1;
}
