// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The engine's rules for tensor maps against a driver's answers to random descriptions
// (tests/unit_host/tensor_map_descriptions.hpp).
#include <gtest/gtest.h>

#include "machine/tensor_map.hpp"
#include "unit_host/tensor_map_answers.hpp"

namespace sluice::machine {
namespace {

using host::TensorMapSpec;

TensorMapInfo info_of(const TensorMapSpec& spec) {
  TensorMapInfo m;
  m.type = static_cast<TensorType>(spec.element);
  m.im2col = spec.im2col;
  m.rank = static_cast<uint8_t>(spec.rank);
  m.interleave = static_cast<uint8_t>(spec.interleave);
  m.swizzle = static_cast<uint8_t>(spec.swizzle);
  m.l2_promotion = static_cast<uint8_t>(spec.l2_promotion);
  m.fill = static_cast<uint8_t>(spec.oob_fill);
  m.address = reinterpret_cast<uint64_t>(spec.address);
  std::copy_n(spec.shape, 5, m.dims.begin());
  std::copy_n(spec.strides, 4, m.strides.begin());
  std::copy_n(spec.box, 5, m.box.begin());
  std::copy_n(spec.element_strides, 5, m.steps.begin());
  std::copy_n(spec.lower_corner, 3, m.lower.begin());
  std::copy_n(spec.upper_corner, 3, m.upper.begin());
  m.channels = spec.channels_per_pixel;
  m.pixels = spec.pixels_per_column;
  return m;
}

TEST(TensorMapAnswers, TheEngineAnswersAsTheDriver) {
  test::expect_driver_answers([](const TensorMapSpec& spec) {
    const Result<void> checked = check_tensor_map(info_of(spec));
    return checked ? std::string() : checked.error().message;
  });
}

}  // namespace
}  // namespace sluice::machine
