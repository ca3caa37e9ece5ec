// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Each rule of a tensor map: the last value that keeps it, the first that breaks it, and what the sentence
// says.
#include "sluice/host/tensor_map_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::host {
namespace {

using testing::HasSubstr;

void* at(std::uintptr_t address) {
  return reinterpret_cast<void*>(address);
}

/// A 1024 x 512 matrix of halves, boxes of 64 x 128 with the 128-byte swizzle.
TensorMapSpec matrix() {
  TensorMapSpec spec;
  spec.element = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  spec.rank = 2;
  spec.address = at(0x10000);
  spec.shape[0] = 512;
  spec.shape[1] = 1024;
  spec.strides[0] = 1024;
  spec.box[0] = 64;
  spec.box[1] = 128;
  spec.swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
  return spec;
}

/// An NHWC image of 8 x 32 x 32 x 64 halves in im2col mode.
TensorMapSpec image() {
  TensorMapSpec spec;
  spec.element = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  spec.rank = 4;
  spec.address = at(0x10000);
  const std::uint64_t shape[4] = {64, 32, 32, 8};
  std::uint64_t bytes = 128;
  for (int i = 0; i < 4; ++i) spec.shape[i] = shape[i];
  for (int i = 0; i < 3; bytes *= shape[++i]) spec.strides[i] = bytes;
  spec.im2col = true;
  spec.lower_corner[0] = spec.lower_corner[1] = -1;
  spec.upper_corner[0] = spec.upper_corner[1] = -1;
  spec.channels_per_pixel = 64;
  spec.pixels_per_column = 128;
  spec.swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
  return spec;
}

TensorMapRule rule_of(const TensorMapSpec& spec) {
  return check(spec).rule;
}

TEST(TensorMapRules, complete_descriptions_break_nothing) {
  EXPECT_EQ(rule_of(matrix()), TensorMapRule::None) << check(matrix()).text;
  EXPECT_EQ(rule_of(image()), TensorMapRule::None) << check(image()).text;
}

TEST(TensorMapRules, rank_is_one_to_five) {
  for (int rank : {-1, 0, 6}) {
    auto spec = matrix();
    spec.rank = rank;
    EXPECT_EQ(rule_of(spec), TensorMapRule::RankInRange) << rank;
  }
  auto line = matrix();
  line.rank = 1;
  EXPECT_EQ(rule_of(line), TensorMapRule::None);
}

TEST(TensorMapRules, im2col_rank_is_three_to_five) {
  auto spec = image();
  spec.rank = 2;
  EXPECT_EQ(rule_of(spec), TensorMapRule::RankInRange);
  EXPECT_THAT(check(spec).text, HasSubstr("2 dimensions, an im2col map takes 3 to 5"));
}

TEST(TensorMapRules, interleave_needs_three_dimensions) {
  auto spec = matrix();
  spec.interleave = CU_TENSOR_MAP_INTERLEAVE_16B;
  EXPECT_EQ(rule_of(spec), TensorMapRule::RankForInterleave);
  spec.rank = 3;
  spec.shape[2] = 1;
  spec.strides[1] = spec.strides[0] * spec.shape[1];
  spec.box[2] = 1;
  EXPECT_EQ(rule_of(spec), TensorMapRule::None) << check(spec).text;
}

TEST(TensorMapRules, address_is_aligned_and_present) {
  auto spec = matrix();
  spec.address = at(0x10008);
  EXPECT_EQ(rule_of(spec), TensorMapRule::AddressAligned);
  EXPECT_THAT(check(spec).text, HasSubstr("8 bytes above a multiple of 16"));
  spec.address = at(0x10010);
  EXPECT_EQ(rule_of(spec), TensorMapRule::None);
  spec.address = nullptr;
  EXPECT_EQ(rule_of(spec), TensorMapRule::AddressPresent);
}

TEST(TensorMapRules, address_needs_32_bytes_for_wide_interleave) {
  auto interleaved = image();
  interleaved.im2col = false;
  interleaved.interleave = CU_TENSOR_MAP_INTERLEAVE_32B;
  interleaved.swizzle = CU_TENSOR_MAP_SWIZZLE_32B;
  for (auto& extent : interleaved.box) extent = 8;
  EXPECT_EQ(rule_of(interleaved), TensorMapRule::None) << check(interleaved).text;
  interleaved.address = at(0x10010);
  EXPECT_EQ(rule_of(interleaved), TensorMapRule::AddressAligned);
}

TEST(TensorMapRules, address_is_below_two_to_the_57) {
  auto spec = matrix();
  spec.address = at(kAddressLimit - 16);
  EXPECT_EQ(rule_of(spec), TensorMapRule::None) << check(spec).text;
  spec.address = at(kAddressLimit);
  EXPECT_EQ(rule_of(spec), TensorMapRule::AddressInRange);
}

TEST(TensorMapRules, extents_are_one_to_two_to_the_32) {
  auto spec = matrix();
  spec.shape[1] = 0;
  EXPECT_EQ(rule_of(spec), TensorMapRule::ShapeInRange);
  EXPECT_THAT(check(spec).text, HasSubstr("shape[1] is 0"));
  spec.shape[1] = kMaxExtent;
  EXPECT_EQ(rule_of(spec), TensorMapRule::None) << check(spec).text;
  spec.shape[1] = kMaxExtent + 1;
  EXPECT_EQ(rule_of(spec), TensorMapRule::ShapeInRange);
}

TEST(TensorMapRules, strides_are_multiples_of_16) {
  auto spec = matrix();
  spec.strides[0] = 1032;
  EXPECT_EQ(rule_of(spec), TensorMapRule::StrideMultiple);
  EXPECT_THAT(check(spec).text, HasSubstr("pad the rows to 1040 bytes"));
  spec.strides[0] = 1040;
  EXPECT_EQ(rule_of(spec), TensorMapRule::None);
}

TEST(TensorMapRules, strides_are_multiples_of_32_for_wide_interleave) {
  auto spec = image();
  spec.im2col = false;
  spec.interleave = CU_TENSOR_MAP_INTERLEAVE_32B;
  spec.swizzle = CU_TENSOR_MAP_SWIZZLE_32B;
  for (auto& extent : spec.box) extent = 8;
  spec.allow_overlap = true;
  spec.strides[0] = 144;
  EXPECT_EQ(rule_of(spec), TensorMapRule::StrideMultiple);
  spec.strides[0] = 160;
  EXPECT_EQ(rule_of(spec), TensorMapRule::None) << check(spec).text;
}

TEST(TensorMapRules, a_stride_that_nothing_can_be_padded_to_is_out_of_range) {
  auto spec = matrix();
  spec.strides[0] = ~std::uint64_t{0};
  EXPECT_EQ(rule_of(spec), TensorMapRule::StrideInRange);
}

TEST(TensorMapRules, what_lies_inside_may_be_longer_than_64_bits_count) {
  auto spec = matrix();
  spec.rank = 3;
  spec.shape[0] = 16;
  spec.shape[1] = std::uint64_t{1} << 25;
  spec.shape[2] = 2;
  spec.strides[0] = std::uint64_t{1} << 39;
  spec.strides[1] = 16;
  spec.box[0] = 16;
  spec.box[1] = spec.box[2] = 1;
  EXPECT_EQ(rule_of(spec), TensorMapRule::StrideCoversExtent);
  EXPECT_THAT(check(spec).text, HasSubstr("more than 1099511627776"));
}

TEST(TensorMapRules, enumerators_that_do_not_exist_are_named) {
  const auto expect_unknown = [](TensorMapSpec spec, const char* text) {
    EXPECT_EQ(rule_of(spec), TensorMapRule::UnknownMode) << text;
    EXPECT_THAT(check(spec).text, HasSubstr(text));
  };
  auto spec = matrix();
  spec.element = static_cast<CUtensorMapDataType>(-1);
  expect_unknown(spec, "element type -1 does not exist");
  spec.element = static_cast<CUtensorMapDataType>(16);
  expect_unknown(spec, "element type 16");
  spec = matrix();
  spec.interleave = static_cast<CUtensorMapInterleave>(3);
  expect_unknown(spec, "interleave 3");
  spec = matrix();
  spec.swizzle = static_cast<CUtensorMapSwizzle>(9);
  expect_unknown(spec, "swizzle 9");
  spec = matrix();
  spec.l2_promotion = static_cast<CUtensorMapL2promotion>(4);
  expect_unknown(spec, "L2 promotion 4");
  spec = matrix();
  spec.oob_fill = static_cast<CUtensorMapFloatOOBfill>(2);
  expect_unknown(spec, "fill mode 2");
}

TEST(TensorMapRules, strides_stay_below_two_to_the_40) {
  auto spec = matrix();
  spec.strides[0] = kStrideLimit;
  EXPECT_EQ(rule_of(spec), TensorMapRule::StrideInRange);
  spec.strides[0] = kStrideLimit - 16;
  EXPECT_EQ(rule_of(spec), TensorMapRule::None);
}

TEST(TensorMapRules, strides_cover_what_lies_inside) {
  auto spec = matrix();
  spec.strides[0] = 512;  // elements instead of bytes
  EXPECT_EQ(rule_of(spec), TensorMapRule::StrideCoversExtent);
  EXPECT_THAT(check(spec).text, HasSubstr("in bytes, not in elements"));
  spec.allow_overlap = true;
  EXPECT_EQ(rule_of(spec), TensorMapRule::None);
}

TEST(TensorMapRules, outer_strides_cover_what_lies_inside) {
  auto spec = image();
  spec.strides[1] -= 16;
  EXPECT_EQ(rule_of(spec), TensorMapRule::StrideCoversExtent);
  EXPECT_THAT(check(spec).text, HasSubstr("strides[1] is 4080 bytes"));
}

TEST(TensorMapRules, box_extents_are_one_to_256) {
  auto spec = matrix();
  spec.box[1] = 256;
  EXPECT_EQ(rule_of(spec), TensorMapRule::None);
  spec.box[1] = 257;
  EXPECT_EQ(rule_of(spec), TensorMapRule::BoxInRange);
  spec.box[1] = 0;
  EXPECT_EQ(rule_of(spec), TensorMapRule::BoxInRange);
}

TEST(TensorMapRules, box_may_exceed_the_tensor) {
  auto spec = matrix();
  spec.shape[1] = 3;
  EXPECT_EQ(rule_of(spec), TensorMapRule::None) << check(spec).text;
}

TEST(TensorMapRules, inner_box_row_is_a_multiple_of_16_bytes) {
  auto spec = matrix();
  spec.box[0] = 60;
  EXPECT_EQ(rule_of(spec), TensorMapRule::BoxInnerMultiple);
  EXPECT_THAT(check(spec).text, HasSubstr("60 elements of 16 bits = 120 bytes"));
  EXPECT_THAT(check(spec).text, HasSubstr("a multiple of 8 elements"));
  spec.box[0] = 56;
  EXPECT_EQ(rule_of(spec), TensorMapRule::None);
}

TEST(TensorMapRules, inner_box_row_fits_the_swizzle) {
  const struct {
    CUtensorMapSwizzle swizzle;
    std::uint32_t elements;
  } cases[] = {
      {CU_TENSOR_MAP_SWIZZLE_32B, 16}, {CU_TENSOR_MAP_SWIZZLE_64B, 32}, {CU_TENSOR_MAP_SWIZZLE_128B, 64}};
  for (const auto& [swizzle, elements] : cases) {
    auto spec = matrix();
    spec.swizzle = swizzle;
    spec.box[0] = elements;
    EXPECT_EQ(rule_of(spec), TensorMapRule::None) << swizzle;
    spec.box[0] = elements + 8;
    EXPECT_EQ(rule_of(spec), TensorMapRule::BoxWithinSwizzle) << swizzle;
    EXPECT_THAT(check(spec).text, HasSubstr("at most " + std::to_string(elements) + " elements"));
  }
}

TEST(TensorMapRules, inner_box_row_is_free_without_swizzle) {
  auto spec = matrix();
  spec.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  spec.box[0] = 256;
  EXPECT_EQ(rule_of(spec), TensorMapRule::None);
}

TEST(TensorMapRules, box_fits_shared_memory) {
  auto spec = matrix();
  spec.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  spec.element = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  spec.strides[0] = 2048;
  spec.box[0] = 256;
  spec.box[1] = 227;
  EXPECT_EQ(rule_of(spec), TensorMapRule::None) << check(spec).text;
  spec.box[1] = 228;
  EXPECT_EQ(rule_of(spec), TensorMapRule::BoxFitsShared);
  EXPECT_THAT(check(spec).text, HasSubstr("233472 bytes"));
  spec.element_strides[1] = 2;  // takes half of them
  EXPECT_EQ(rule_of(spec), TensorMapRule::None) << check(spec).text;
}

TEST(TensorMapRules, element_strides_are_one_to_eight) {
  for (int dimension : {0, 1}) {
    auto spec = matrix();
    spec.element_strides[dimension] = 8;
    EXPECT_EQ(rule_of(spec), TensorMapRule::None) << check(spec).text;
    for (std::uint32_t step : {0u, 9u}) {
      spec.element_strides[dimension] = step;
      EXPECT_EQ(rule_of(spec), TensorMapRule::ElementStrideInRange) << step;
    }
  }
}

TEST(TensorMapRules, wide_interleave_goes_with_the_narrow_swizzle) {
  auto spec = image();
  spec.interleave = CU_TENSOR_MAP_INTERLEAVE_32B;
  EXPECT_EQ(rule_of(spec), TensorMapRule::SwizzleForInterleave);
  spec.swizzle = CU_TENSOR_MAP_SWIZZLE_32B;
  EXPECT_EQ(rule_of(spec), TensorMapRule::None) << check(spec).text;
}

TEST(TensorMapRules, what_later_devices_bring_is_refused) {
  auto spec = matrix();
  spec.swizzle = CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B;
  EXPECT_EQ(rule_of(spec), TensorMapRule::LaterDevice);
  EXPECT_THAT(check(spec).text, HasSubstr("take the 128-byte swizzle"));
  for (auto element : {CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B, CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B,
                       CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B}) {
    spec = matrix();
    spec.element = element;
    EXPECT_EQ(rule_of(spec), TensorMapRule::LaterDevice) << element;
  }
}

TEST(TensorMapRules, nan_fill_needs_floating_point) {
  auto spec = matrix();
  spec.oob_fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  EXPECT_EQ(rule_of(spec), TensorMapRule::None);
  spec.element = CU_TENSOR_MAP_DATA_TYPE_UINT16;
  EXPECT_EQ(rule_of(spec), TensorMapRule::FillForInteger);
}

TEST(TensorMapRules, corners_fit_the_bits_of_the_rank) {
  const struct { int rank, least, most; } cases[] = {{3, -32768, 32767}, {4, -128, 127}, {5, -16, 15}};
  for (const auto& [rank, least, most] : cases) {
    auto spec = image();
    spec.rank = rank;
    for (int i = 1; i < rank; ++i) spec.shape[i] = 70000;
    spec.allow_overlap = true;
    for (int i = 0; i < rank - 1; ++i) spec.strides[i] = 128;
    spec.lower_corner[rank - 3] = least;
    spec.upper_corner[rank - 3] = most;
    EXPECT_EQ(rule_of(spec), TensorMapRule::None) << check(spec).text;
    spec.lower_corner[rank - 3] = least - 1;
    EXPECT_EQ(rule_of(spec), TensorMapRule::CornerInRange) << rank;
    spec.lower_corner[rank - 3] = least;
    spec.upper_corner[rank - 3] = most + 1;
    EXPECT_EQ(rule_of(spec), TensorMapRule::CornerInRange) << rank;
    EXPECT_THAT(check(spec).text, HasSubstr("upper_corner"));
  }
}

TEST(TensorMapRules, corners_leave_a_box) {
  auto spec = image();
  spec.lower_corner[0] = 31;
  spec.upper_corner[0] = -1;
  EXPECT_EQ(rule_of(spec), TensorMapRule::CornerLeavesBox);
  spec.lower_corner[0] = 30;
  EXPECT_EQ(rule_of(spec), TensorMapRule::None) << check(spec).text;
}

TEST(TensorMapRules, corners_of_interleaved_layouts_begin_at_the_innermost_extent) {
  auto spec = image();
  spec.interleave = CU_TENSOR_MAP_INTERLEAVE_16B;
  spec.lower_corner[0] = 63;
  spec.upper_corner[0] = 0;
  EXPECT_EQ(rule_of(spec), TensorMapRule::None) << check(spec).text;
  spec.lower_corner[0] = 64;
  EXPECT_EQ(rule_of(spec), TensorMapRule::CornerLeavesBox);
}

TEST(TensorMapRules, channels_and_pixels_are_bounded) {
  auto spec = image();
  spec.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  spec.channels_per_pixel = 256;
  spec.pixels_per_column = 454;
  EXPECT_EQ(rule_of(spec), TensorMapRule::None) << check(spec).text;
  spec.pixels_per_column = 455;
  EXPECT_EQ(rule_of(spec), TensorMapRule::BoxFitsShared);
  spec.channels_per_pixel = 264;
  EXPECT_EQ(rule_of(spec), TensorMapRule::ChannelsInRange);
  spec.channels_per_pixel = 64;
  spec.pixels_per_column = 1024;
  EXPECT_EQ(rule_of(spec), TensorMapRule::None) << check(spec).text;
  spec.pixels_per_column = 1025;
  EXPECT_EQ(rule_of(spec), TensorMapRule::PixelsInRange);
  spec.pixels_per_column = 0;
  EXPECT_EQ(rule_of(spec), TensorMapRule::PixelsInRange);
}

TEST(TensorMapRules, channels_fit_the_swizzle) {
  auto spec = image();
  spec.channels_per_pixel = 128;
  EXPECT_EQ(rule_of(spec), TensorMapRule::BoxWithinSwizzle);
  EXPECT_THAT(check(spec).text, HasSubstr("channels_per_pixel is 128 elements"));
}

TEST(TensorMapRules, every_rule_has_a_name_of_its_own) {
  for (int i = 0; i <= static_cast<int>(TensorMapRule::DriverCall); ++i) {
    EXPECT_STRNE(name_of(static_cast<TensorMapRule>(i)), "?");
    for (int j = 0; j < i; ++j) {
      EXPECT_STRNE(name_of(static_cast<TensorMapRule>(i)), name_of(static_cast<TensorMapRule>(j)));
    }
  }
}

TEST(TensorMapRules, sentences_fit_their_buffer) {
  auto spec = matrix();
  spec.strides[0] = 512;
  spec.shape[0] = kMaxExtent;
  EXPECT_LT(std::string(check(spec).text).size(), TensorMapError::kTextSize - 1u);
  EXPECT_THAT(check(spec).text, HasSubstr("overlap"));
}

}  // namespace
}  // namespace sluice::host
