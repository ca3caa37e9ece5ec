// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Values of launch descriptions: the bits that they mean in each type, and that no value is taken for
// another.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "cli/launch_elements.hpp"

namespace sluice::cli {
namespace {

constexpr Element kAll[] = {Element::U8,  Element::S8,   Element::U16, Element::S16,  Element::U32,
                            Element::S32, Element::U64,  Element::S64, Element::E4M3, Element::E5M2,
                            Element::F16, Element::BF16, Element::F32, Element::F64};

Result<uint64_t> bits_of(std::string_view type, std::string_view json) {
  static const std::string file = "spec";
  const auto value = parse_json(json);
  return value ? read_element(*element_named(type), Field(*value, file)) : Result<uint64_t>(value.error());
}

std::string printed(Element element, uint64_t bits) {
  return text_of(element, &bits);
}

TEST(LaunchValues, AreTheBitsOfTheirType) {
  const std::tuple<std::string_view, std::string_view, uint64_t> kCases[] = {
      {"u8", "255", 0xff},
      {"s8", "-128", 0x80},
      {"u16", "65535", 0xffff},
      {"s16", "-1", 0xffff},
      {"u32", "4294967295", 0xffffffff},
      {"s32", "-2147483648", 0x80000000},
      {"s32", "\"0xffffffff\"", 0xffffffff},
      {"u64", "18446744073709551615", ~uint64_t{0}},
      {"u64", "9007199254740993", 9007199254740993},
      {"s64", "-9223372036854775808", uint64_t{1} << 63},
      {"s64", "-9007199254740993", static_cast<uint64_t>(-9007199254740993)},
      {"e4m3", "448", 0x7e},
      {"e4m3", "-0.0", 0x80},
      {"e4m3", "\"nan\"", 0x7f},
      {"e5m2", "57344", 0x7b},
      {"e5m2", "\"-inf\"", 0xfc},
      {"f16", "65504", 0x7bff},
      {"f16", "\"0x7e01\"", 0x7e01},
      {"bf16", "1.00390625", 0x3f80},  // a tie rounds to even
      {"bf16", "\"inf\"", 0x7f80},
      {"f32", "0.1", 0x3dcccccd},
      {"f32", "-0", 0x80000000},
      {"f32", "3.4028235e38", 0x7f7fffff},
      {"f32", "\"nan\"", 0x7fc00000},
      {"f32", "\"0x7FA00001\"", 0x7fa00001},
      {"f32", "\"-inf\"", 0xff800000},
      {"f64", "1e300", 0x7e37e43c8800759c},
      {"f64", "\"0x7ff0000000000001\"", 0x7ff0000000000001},
  };
  for (const auto& [type, json, bits] : kCases) {
    const auto seen = bits_of(type, json);
    ASSERT_TRUE(seen) << type << " " << json << ": " << seen.error().text();
    EXPECT_EQ(*seen, bits) << type << " " << json;
  }
}

TEST(LaunchValues, OutsideTheTypeAreErrors) {
  const std::pair<std::string_view, std::string_view> kCases[] = {
      {"u8", "256"},
      {"u8", "300"},
      {"u8", "-1"},
      {"s8", "128"},
      {"s8", "-129"},
      {"u16", "65536"},
      {"s16", "32768"},
      {"u32", "4294967296"},
      {"u32", "-1"},
      {"s32", "1.5"},
      {"s32", "1e3"},
      {"s32", "2147483648"},
      {"s32", "2.0"},
      {"u64", "-1"},
      {"s64", "9223372036854775808"},
      {"u64", "18446744073709551616"},
      {"u32", "\"nan\""},
      {"u32", "\"7\""},
      {"u32", "true"},
      {"u32", "null"},
      {"u32", "[1]"},
      {"u8", "\"0x100\""},
      {"u8", "\"0x\""},
      {"u8", "\"0xg\""},
      {"u8", "\"0x-1\""},
      {"u64", "\"0x10000000000000000\""},
      {"e4m3", "449"},
      {"e4m3", "\"inf\""},
      {"e5m2", "57345"},
      {"f16", "65520"},
      {"bf16", "3.4e38"},
      {"f32", "1e300"},
      {"f32", "3.5e38"},
      {"f32", "-3.5e38"},
      {"f64", "1e400"},
      {"f32", "\"NaN\""},
      {"f32", "\"\""},
      {"f32", "\"0x1ffffffff\""},
  };
  for (const auto& [type, json] : kCases) {
    const auto seen = bits_of(type, json);
    EXPECT_FALSE(seen) << type << " " << json;
    if (!seen) {
      EXPECT_TRUE(seen.error().message.starts_with(std::string(type) + " takes a")) << seen.error().message;
    }
  }
  EXPECT_EQ(
      bits_of("u32", "4294967296").error().text(),
      "spec:1:1: u32 takes a whole number from 0 to 4294967295 or its bits as \"0x...\", not 4294967296");
  EXPECT_EQ(bits_of("e4m3", "1e9").error().text(),
            "spec:1:1: e4m3 takes a number from -448 to 448, \"nan\" or its bits as \"0x...\", not 1e9");
}

// What is printed tells the bits, and reads back as the same bits.
TEST(LaunchValues, PrintedReadBack) {
  std::mt19937_64 random(1);
  for (const Element element : kAll) {
    for (int i = 0; i < 2000; ++i) {
      const uint64_t bits = random() >> (64 - 8 * size_of(element));
      const std::string text = printed(element, bits);
      if (text.ends_with("nan")) continue;
      const std::string json = text.ends_with("inf") ? '"' + text + '"' : text;
      const auto again = bits_of(name_of(element), json);
      ASSERT_TRUE(again) << again.error().text();
      EXPECT_EQ(*again, bits) << name_of(element) << " " << text;
    }
  }
}

TEST(LaunchValues, CompareWithinATolerance) {
  const uint64_t large = uint64_t{1} << 53, next = large + 1;
  EXPECT_FALSE(equal_within(Element::U64, &large, &next, 0));
  EXPECT_TRUE(equal_within(Element::U64, &large, &next, 1));
  const uint64_t least = uint64_t{1} << 63, most = least - 1;
  EXPECT_FALSE(equal_within(Element::S64, &least, &most, 1));
  const float zero = 0, minus_zero = -0.0f, nan = NAN, infinity = INFINITY, one = 1;
  EXPECT_TRUE(equal_within(Element::F32, &zero, &minus_zero, 0));
  const float other_nan = -NAN;
  EXPECT_TRUE(equal_within(Element::F32, &nan, &other_nan, 0));
  EXPECT_FALSE(equal_within(Element::F32, &nan, &one, 1e9));
  EXPECT_FALSE(equal_within(Element::F32, &infinity, &one, 1e9));
}

TEST(LaunchValues, RandomOnesStayInTheirRange) {
  static const std::string file = "spec";
  const std::pair<std::string_view, std::string_view> kRanges[] = {
      {"u8", "[250, 256]"},
      {"s8", "[-128, -126]"},
      {"s64", "[-9223372036854775808, 9223372036854775807]"},
      {"u64", "[18446744073709551613, 18446744073709551615]"},
      {"s64", "[-9223372036854775808, 9223372036854775808]"}};
  std::mt19937_64 random(1);
  for (const auto& [type, json] : kRanges) {
    const Element element = *element_named(type);
    const auto parsed = parse_json(json);
    const auto range = read_range(element, Field(*parsed, file));
    ASSERT_TRUE(range) << range.error().text();
    uint64_t seen = 0;
    for (const uint64_t number : {uint64_t{0}, (uint64_t{1} << 53) - 1}) {
      const uint64_t value = random_element(element, *range, number);
      const uint64_t unused = 64 - 8 * size_of(element);
      const uint64_t behind = (value - range->first) << unused >> unused;
      if (range->count != 0) EXPECT_LT(behind, range->count) << json;
      seen += behind != 0;
    }
    EXPECT_EQ(seen, 1u) << json << ": the least number gives the lowest value, the largest another";
  }
}

TEST(LaunchValues, RangesThatHoldNothingAreErrors) {
  static const std::string file = "spec";
  const std::pair<std::string_view, std::string_view> kRanges[] = {{"u8", "[5, 5]"},
                                                                   {"u8", "[6, 5]"},
                                                                   {"u8", "[0, 257]"},
                                                                   {"s8", "[-129, 0]"},
                                                                   {"u8", "[0.5, 2]"},
                                                                   {"f32", "[1, -1]"},
                                                                   {"f32", "[0, 1e300]"},
                                                                   {"f32", "[0, \"inf\"]"},
                                                                   {"f32", "[1]"},
                                                                   {"f32", "[1, 2, 3]"},
                                                                   {"u64", "[0, 18446744073709551616]"}};
  for (const auto& [type, json] : kRanges) {
    const auto parsed = parse_json(json);
    EXPECT_FALSE(read_range(*element_named(type), Field(*parsed, file))) << type << " " << json;
  }
}

}  // namespace
}  // namespace sluice::cli
