// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares a set of rules with the answers of an H200's driver that tensor_map_parity recorded.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "unit_host/tensor_map_descriptions.hpp"

namespace sluice::test {

inline std::string describe(const TensorMapSpec& spec) {
  std::string text = (spec.im2col ? "im2col" : "tiled");
  const auto add = [&](const char* name, auto value) {
    text += std::string(" ") + name + " " + std::to_string(value);
  };
  const auto list = [&](const char* name, const auto* values, int count) {
    text += std::string(" ") + name;
    for (int i = 0; i < count; ++i) text += (i == 0 ? " " : ",") + std::to_string(values[i]);
  };
  add("element", static_cast<int>(spec.element));
  add("rank", spec.rank);
  add("address", reinterpret_cast<std::uintptr_t>(spec.address));
  add("interleave", static_cast<int>(spec.interleave));
  add("swizzle", static_cast<int>(spec.swizzle));
  add("fill", static_cast<int>(spec.oob_fill));
  list("shape", spec.shape, 5);
  list("strides", spec.strides, 4);
  list("steps", spec.element_strides, 5);
  if (!spec.im2col) {
    list("box", spec.box, 5);
  } else {
    list("lower", spec.lower_corner, 3);
    list("upper", spec.upper_corner, 3);
    add("channels", spec.channels_per_pixel);
    add("pixels", spec.pixels_per_column);
  }
  return text;
}

/// `broken_rule` says which rule a description breaks, in words; nothing for a right one.
inline void expect_driver_answers(const std::function<std::string(const TensorMapSpec&)>& broken_rule) {
  std::ifstream file(SLUICE_TENSOR_MAP_ANSWERS, std::ios::binary);
  const std::vector<char> answers{std::istreambuf_iterator<char>(file), {}};
  ASSERT_EQ(answers.size(), static_cast<std::size_t>((kAnswers + 7) / 8)) << SLUICE_TENSOR_MAP_ANSWERS;
  TensorMapDescriptions descriptions;
  int disagreements = 0;
  for (int i = 0; i < kAnswers; ++i) {
    const TensorMapSpec spec = descriptions.next();
    const bool accepted = (answers[static_cast<std::size_t>(i / 8)] >> i % 8 & 1) != 0;
    const std::string rule = broken_rule(spec);
    if (rule.empty() == accepted || ++disagreements > 20) continue;
    ADD_FAILURE() << "description " << i << ": the driver " << (accepted ? "accepts" : "refuses")
                  << ", the rules say: " << (rule.empty() ? "right" : rule) << "\n  " << describe(spec);
  }
  EXPECT_EQ(disagreements, 0);
}

}  // namespace sluice::test
