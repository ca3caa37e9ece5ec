// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// One function for each rule, as tests/machine_units/tensor_limits.hpp tries them.
#include "machine/units/tensor_rules.hpp"

#include <fmt/format.h>

namespace sluice::machine {
namespace {

constexpr int64_t kChunk = 16;

std::string unaligned_row(const TensorBox& box) {
  if (box.map.interleave != 0) return {};
  const int64_t bytes = int64_t{box.start[0]} * (element_bits(box.map.type) / 8);
  if (bytes % kChunk == 0) return {};
  return fmt::format(
      "the innermost coordinate of a tensor copy is {}, {} bytes into the row; a copy must start on a "
      "multiple "
      "of {} bytes",
      box.start[0], bytes, kChunk);
}

std::string outside_bounding_box(const TensorBox& box) {
  const TensorMapInfo& map = box.map;
  if (!map.im2col) return {};
  for (unsigned d = 1; d + 1 < map.rank; ++d) {
    const int64_t last = static_cast<int64_t>(map.dims[d]) - 1 + map.upper[d - 1];
    if (box.start[d] >= map.lower[d - 1] && box.start[d] <= last) continue;
    return fmt::format(
        "coordinate {} of an im2col copy is {}, outside the bounding box of the tensor map, which reaches "
        "from "
        "{} to {}",
        d, box.start[d], map.lower[d - 1], last);
  }
  return {};
}

std::string store_before_tensor(const TensorBox& box) {
  for (unsigned d = 0; d < box.map.rank; ++d) {
    if (box.start[d] >= 0) continue;
    return fmt::format(
        "coordinate {} of a tensor store is {}; a store may reach behind the tensor, but not before it", d,
        box.start[d]);
  }
  return {};
}

/// MODEL: an H200 took no store with other corners of those that were tried.
std::string store_with_corners(const TensorBox& box) {
  const TensorMapInfo& map = box.map;
  if (!map.im2col) return {};
  for (unsigned s = 0; s + 2 < map.rank; ++s) {
    if (map.lower[s] == 0 && map.upper[s] == 0) continue;
    return fmt::format(
        "the tensor map of an im2col store has the corner offsets {} and {} in dimension {}; a store needs a "
        "map whose bounding box is the tensor",
        map.lower[s], map.upper[s], s + 1);
  }
  return {};
}

}  // namespace

std::string broken_start_rule(const TensorBox& box, bool store) {
  std::string rule = unaligned_row(box);
  if (rule.empty() && store) rule = store_before_tensor(box);
  if (rule.empty() && store) rule = store_with_corners(box);
  if (rule.empty()) rule = outside_bounding_box(box);
  return rule;
}

}  // namespace sluice::machine
