// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The rules against the driver: many descriptions go to `check` and to the driver's encode call; both must
// agree. Prints each disagreement, and how many descriptions broke which rule.
//
//   tensor_map_parity [COUNT [SEED]]
//   tensor_map_parity --record FILE    writes the driver's answers to the first kAnswers descriptions, as the
//   test
//                                      that runs without a driver replays them
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "sluice/host/tensor_map.hpp"
#include "tensor_map_descriptions.hpp"

namespace {

using sluice::TensorMapRule;
using sluice::TensorMapSpec;

bool driver_accepts(const TensorMapSpec& spec) {
  CUtensorMap map{};
  return !sluice::host::detail::encode(spec, map);
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

int record(const char* path) {
  std::vector<unsigned char> answers((sluice::test::kAnswers + 7) / 8);
  sluice::test::TensorMapDescriptions descriptions;
  int accepted = 0;
  for (int i = 0; i < sluice::test::kAnswers; ++i) {
    const bool yes = driver_accepts(descriptions.next());
    answers[static_cast<std::size_t>(i / 8)] |= static_cast<unsigned char>(yes << i % 8);
    accepted += yes;
  }
  std::FILE* file = std::fopen(path, "wb");
  const bool written =
      file != nullptr && std::fwrite(answers.data(), 1, answers.size(), file) == answers.size();
  if (file == nullptr || std::fclose(file) != 0 || !written) {
    std::fprintf(stderr, "error: %s cannot be written\n", path);
    return 2;
  }
  std::printf("%d of %d descriptions accepted\n", accepted, sluice::test::kAnswers);
  return 0;
}

int compare(int count, std::uint32_t seed) {
  int disagreements = 0;
  int broken[static_cast<int>(TensorMapRule::DriverCall) + 1] = {};
  sluice::test::TensorMapDescriptions descriptions(seed);
  for (int i = 0; i < count; ++i) {
    const TensorMapSpec spec = descriptions.next();
    const sluice::TensorMapError mine = sluice::host::check(spec);
    const bool accepts = driver_accepts(spec);
    // Two of the rules are not the driver's.
    const bool beyond =
        mine.rule == TensorMapRule::AddressPresent || mine.rule == TensorMapRule::SwizzleForInterleave;
    ++broken[static_cast<int>(mine.rule)];
    if (accepts != (!mine || beyond) && ++disagreements <= 20) {
      std::printf("description %d: the driver %s, the rules say %s: %s\n", i, accepts ? "accepts" : "refuses",
                  sluice::host::name_of(mine.rule), mine.text);
      print(spec);
    }
  }
  for (int i = 0; i <= static_cast<int>(TensorMapRule::DriverCall); ++i) {
    if (broken[i] > 0)
      std::printf("%6d %s\n", broken[i], sluice::host::name_of(static_cast<TensorMapRule>(i)));
  }
  std::printf("%s: %d descriptions, %d disagreements\n", disagreements == 0 ? "PASS" : "FAIL", count,
              disagreements);
  return disagreements == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0 || cudaFree(nullptr) != cudaSuccess) {
    std::printf("tensor_map_parity: skipped, no CUDA device and driver here\n");
    return 77;
  }
  if (argc == 3 && std::strcmp(argv[1], "--record") == 0) return record(argv[2]);
  return compare(argc > 1 ? std::atoi(argv[1]) : 20000,
                 argc > 2 ? static_cast<std::uint32_t>(std::atoi(argv[2])) : 1u);
}
