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
  for (unsigned s = 0; s + 2 < map.rank; ++s) {
    const unsigned d = first_spatial(map) + s;
    const int64_t last = static_cast<int64_t>(map.dims[d]) - 1 + map.upper[s];
    if (box.start[d] >= map.lower[s] && box.start[d] <= last) continue;
    return fmt::format(
        "coordinate {} of an im2col copy is {}, outside the bounding box of the tensor map, which reaches "
        "from "
        "{} to {}",
        d, box.start[d], map.lower[s], last);
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

std::string store_with_wide_box(const TensorBox& box) {
  const TensorMapInfo& map = box.map;
  if (!map.im2col) return {};
  for (unsigned s = 0; s + 2 < map.rank; ++s) {
    if (map.lower[s] >= 0 && map.upper[s] <= 0) continue;
    return fmt::format(
        "the tensor map of an im2col store has the corner offsets {} and {} in dimension {}; the bounding "
        "box of a "
        "store must lie in the tensor",
        map.lower[s], map.upper[s], first_spatial(map) + s);
  }
  return {};
}

}  // namespace

std::string broken_start_rule(const TensorBox& box, bool store) {
  std::string rule = unaligned_row(box);
  if (rule.empty() && store) rule = store_before_tensor(box);
  if (rule.empty() && store) rule = store_with_wide_box(box);
  if (rule.empty()) rule = outside_bounding_box(box);
  return rule;
}

std::string broken_reduction_rule(TensorType type, Reduction reduction) {
  const bool word = type == TensorType::U32 || type == TensorType::U64;
  const bool half = type == TensorType::F16 || type == TensorType::BF16;
  switch (reduction) {
    case Reduction::None:
      return {};
    case Reduction::Add:
      if (word || type == TensorType::S32 || is_floating(type)) return {};
      return "a tensor copy adds elements of 32 bits, unsigned ones of 64 bits and floating-point numbers; "
             "the "
             "tensor map has another type (to add signed 64-bit numbers, make the map of unsigned ones)";
    case Reduction::Min:
    case Reduction::Max:
      if (word || half || type == TensorType::S32 || type == TensorType::S64) return {};
      return "a tensor copy takes minima and maxima of elements of 32 and 64 bits that are integers, and of "
             "F16 "
             "and BF16; the tensor map has another type";
    case Reduction::Inc:
    case Reduction::Dec:
      if (type == TensorType::U32) return {};
      return "a tensor copy increments and decrements elements of type U32; the tensor map has another type";
    default:
      if (word) return {};
      return "a tensor copy combines bits of elements of type U32 and U64; the tensor map has another type";
  }
}

}  // namespace sluice::machine
