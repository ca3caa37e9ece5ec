// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The encoder of tensor maps against an H200's driver: data/tensor_maps.txt holds over a thousand calls with
// what the driver answered (tools/record/tensor_maps.cu wrote it). Accepted maps must come out bit for bit,
// refused ones must be refused.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "machine/tensor_map.hpp"

namespace sluice::machine {
namespace {

struct Line {
  std::string kind, text;
  std::map<std::string, std::string> fields;
};

std::vector<Line> read_lines() {
  std::vector<Line> lines;
  std::ifstream file(SLUICE_UNITS_DATA "/tensor_maps.txt");
  for (std::string text; std::getline(file, text);) {
    if (text.empty() || text[0] == '#') continue;
    Line line;
    line.text = text;
    std::istringstream words(text);
    words >> line.kind;
    for (std::string pair; words >> pair;) {
      const size_t equals = pair.find('=');
      line.fields[pair.substr(0, equals)] = pair.substr(equals + 1);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<int64_t> numbers(const std::string& list) {
  std::vector<int64_t> out;
  std::istringstream in(list);
  for (std::string one; std::getline(in, one, ',');) out.push_back(std::stoll(one));
  return out;
}

TensorMapWords words_of(const std::string& list) {
  TensorMapWords words{};
  std::istringstream in(list);
  size_t i = 0;
  for (std::string one; std::getline(in, one, ',') && i < 16;) words[i++] = std::stoull(one, nullptr, 16);
  return words;
}

template <class A>
void take(const std::vector<int64_t>& from, A& to) {
  for (size_t i = 0; i < from.size() && i < to.size(); ++i)
    to[i] = static_cast<typename A::value_type>(from[i]);
}

TensorMapInfo info_of(const Line& line) {
  const auto number = [&](const char* key) { return std::stoll(line.fields.at(key)); };
  TensorMapInfo m;
  m.im2col = line.kind == "im2col";
  m.type = static_cast<TensorType>(number("type"));
  m.rank = static_cast<uint8_t>(number("rank"));
  m.address = std::stoull(line.fields.at("address"), nullptr, 16);
  take(numbers(line.fields.at("dims")), m.dims);
  take(numbers(line.fields.at("strides")), m.strides);
  take(numbers(line.fields.at("steps")), m.steps);
  m.interleave = static_cast<uint8_t>(number("interleave"));
  m.swizzle = static_cast<uint8_t>(number("swizzle"));
  m.l2_promotion = static_cast<uint8_t>(number("l2"));
  m.fill = static_cast<uint8_t>(number("oob"));
  if (m.im2col) {
    take(numbers(line.fields.at("lower")), m.lower);
    take(numbers(line.fields.at("upper")), m.upper);
    m.channels = static_cast<uint32_t>(number("channels"));
    m.pixels = static_cast<uint32_t>(number("pixels"));
  } else {
    take(numbers(line.fields.at("box")), m.box);
  }
  return m;
}

TEST(TensorMap, EncodesAndRefusesAsTheDriver) {
  int accepted = 0, refused = 0;
  for (const Line& line : read_lines()) {
    if (line.kind == "replace") continue;
    const TensorMapInfo info = info_of(line);
    const Result<TensorMapWords> words = encode_tensor_map(info);
    const bool driver_accepts = line.fields.at("result") == "0";
    EXPECT_EQ(words.has_value(), driver_accepts)
        << line.text << "\nwe say: " << (words ? "fine" : words.error().message);
    ++(driver_accepts ? accepted : refused);
    if (!driver_accepts || !words) continue;
    EXPECT_EQ(*words, words_of(line.fields.at("words"))) << line.text;
  }
  EXPECT_GT(accepted, 600);
  EXPECT_GT(refused, 400);
}

TEST(TensorMap, DecodesWhatTheDriverEncoded) {
  for (const Line& line : read_lines()) {
    if (line.kind == "replace" || line.fields.at("result") != "0") continue;
    const TensorMapInfo info = info_of(line);
    const Result<TensorMapInfo> decoded = decode_tensor_map(words_of(line.fields.at("words")));
    ASSERT_TRUE(decoded.has_value()) << line.text;
    const Result<TensorMapWords> again = encode_tensor_map(*decoded);
    ASSERT_TRUE(again.has_value()) << line.text << "\n" << again.error().message;
    EXPECT_EQ((*again)[1], words_of(line.fields.at("words"))[1]) << line.text;
    EXPECT_EQ(decoded->address, info.address);
    for (unsigned i = 0; i < info.rank; ++i) {
      EXPECT_EQ(decoded->dims[i], info.dims[i]) << line.text;
      if (i + 1 < info.rank) EXPECT_EQ(decoded->strides[i], info.strides[i]) << line.text;
      if (!info.im2col) EXPECT_EQ(decoded->box[i], info.box[i]) << line.text;
      if (info.im2col && i + 2 < info.rank) {
        EXPECT_EQ(decoded->lower[i], info.lower[i]) << line.text;
        EXPECT_EQ(decoded->upper[i], info.upper[i]) << line.text;
      }
    }
  }
}

TEST(TensorMap, ReplacesAddressesAsTheDriver) {
  int seen = 0;
  for (const Line& line : read_lines()) {
    if (line.kind != "replace") continue;
    TensorMapWords words = words_of(line.fields.at("before"));
    const Result<void> done =
        replace_tensor_map_address(words, std::stoull(line.fields.at("address"), nullptr, 16));
    EXPECT_EQ(done.has_value(), line.fields.at("result") == "0") << line.text;
    EXPECT_EQ(words, words_of(line.fields.at("after"))) << line.text;
    ++seen;
  }
  EXPECT_GE(seen, 8);
}

}  // namespace
}  // namespace sluice::machine
