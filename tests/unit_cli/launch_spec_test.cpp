// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Launch descriptions: what is wrong in them is told with file, line, column and path, and what is allowed.
#include "cli/launch_spec.hpp"

#include <gtest/gtest.h>

namespace sluice::cli {
namespace {

std::string error_of(std::string_view text) {
  const auto spec = parse_launch_spec(text, "folder/spec.json");
  return spec ? "none" : spec.error().text();
}

// A description with one buffer `a` of 16 floats and what `more` adds behind it.
std::string with_buffer(std::string_view more) {
  return "{\"buffers\": {\"a\": {\"type\": \"f32\", \"shape\": 16}}, " + std::string(more) + "}";
}

// The error of a buffer with these members, without its place.
std::string buffer_error(std::string_view members) {
  const std::string error = error_of("{\"buffers\": {\"a\": {" + std::string(members) + "}}}");
  const size_t at = error.find("buffers.a");
  return at == std::string::npos ? error : error.substr(at);
}

TEST(LaunchSpec, TellsFileLineColumnAndPath) {
  EXPECT_EQ(error_of("{\n  \"gird\": 2\n}"),
            "folder/spec.json:2:11: gird: there is no such member here, only kernel, grid, block, cluster, "
            "shared, cooperative, buffers, tensor_maps or arguments");
  EXPECT_EQ(error_of("{\n  \"grid\": 2,,\n}"),
            "folder/spec.json:2:13: expected a member's name in quotes, found ','");
  EXPECT_EQ(error_of("[]"),
            "folder/spec.json:1:1: an object is wanted here, with kernel, grid, block, cluster, shared, "
            "cooperative, buffers, tensor_maps or arguments");
}

TEST(LaunchSpec, ChecksTheShape) {
  const std::pair<std::string_view, std::string_view> kCases[] = {
      {"{\"grid\": 0}", "1:10: grid: a whole number from 1 to 2147483647 is wanted here, not 0"},
      {"{\"grid\": [1, 4294967297]}",
       "1:14: grid[1]: a whole number from 1 to 2147483647 is wanted here, not 4294967297"},
      {"{\"grid\": 1.5}", "1:10: grid: a whole number from 1 to 2147483647 is wanted here, not 1.5"},
      {"{\"block\": []}", "1:11: block: 1 to 3 numbers are wanted here, not 0"},
      {"{\"block\": [1, 1, 1, 1]}", "1:11: block: 1 to 3 numbers are wanted here, not 4"},
      {"{\"cluster\": -2}", "1:13: cluster: a whole number from 1 to 2147483647 is wanted here, not -2"},
      {"{\"shared\": \"1\"}", "1:12: shared: a whole number from 0 to 1048576 is wanted here"},
      {"{\"cooperative\": 1}", "1:17: cooperative: true or false is wanted here"},
      {"{\"kernel\": 1}", "1:12: kernel: a text in quotes is wanted here"},
  };
  for (const auto& [text, error] : kCases)
    EXPECT_EQ(error_of(text), "folder/spec.json:" + std::string(error));
}

TEST(LaunchSpec, ChecksBuffers) {
  const std::pair<std::string_view, std::string_view> kCases[] = {
      {R"("type": "f32")", "buffers.a: the member 'shape' is missing"},
      {R"("shape": 1)", "buffers.a: the member 'type' is missing"},
      {R"("type": "f33", "shape": 1)",
       "buffers.a.type: one of u8 s8 u16 s16 u32 s32 u64 s64 e4m3 e5m2 f16 bf16 f32 f64 is wanted here"},
      {R"("type": "f32", "shape": 0)",
       "buffers.a.shape: a whole number from 1 to 1099511627776 is wanted here, not 0"},
      {R"("type": "f32", "shape": [])", "buffers.a.shape: 1 to 8 numbers are wanted here, not 0"},
      {R"("type": "f32", "shape": [1048576, 1048576])",
       "buffers.a.shape: the buffer has more than 1099511627776 bytes"},
      {R"("type": "u8", "shape": 3, "fill": {"values": [1, 2]})",
       "buffers.a.fill.values: 3 values are wanted here, as the shape says, not 2"},
      {R"("type": "u8", "shape": 1, "fill": {"values": [1, 2]})",
       "buffers.a.fill.values: 1 values are wanted here, as the shape says, not 2"},
      {R"("type": "u8", "shape": 2, "fill": {"values": [1, 300]})",
       "buffers.a.fill.values[1]: u8 takes a whole number from 0 to 255 or its bits as \"0x...\", not 300"},
      {R"("type": "u8", "shape": 2, "fill": {"value": 1, "values": [1]})",
       "buffers.a.fill: one of value, values and file is wanted here"},
      {R"("type": "u8", "shape": 2, "fill": "ones")",
       "buffers.a.fill: one of zeros or random is wanted here"},
      {R"("type": "u8", "shape": 2, "fill": {"file": ""})",
       "buffers.a.fill.file: the name of a file is wanted here"},
      {R"("type": "u8", "shape": 2, "seed": 1)", "buffers.a.seed: this belongs to \"fill\": \"random\""},
      {R"("type": "u8", "shape": 2, "fill": "random", "range": [3, 1])",
       "buffers.a.range: the first number must be below the second"},
      {R"("type": "u8", "shape": 2, "output": "show")", "buffers.a.output: one of print is wanted here"},
      {R"("type": "u8", "shape": 2, "output": {"file": "a", "tolerance": 1})",
       "buffers.a.output.tolerance: this belongs to compare"},
      {R"("type": "u8", "shape": 2, "output": {"compare": "a", "tolerance": -1})",
       "buffers.a.output.tolerance: a number from 0 on is wanted here"},
  };
  for (const auto& [members, error] : kCases) EXPECT_EQ(buffer_error(members), error);
}

TEST(LaunchSpec, ChecksArguments) {
  const std::pair<std::string_view, std::string_view> kCases[] = {
      {R"("arguments": [{"buffer": "b"}])", "arguments[0].buffer: there is no buffer 'b'; there are: 'a'"},
      {R"("arguments": [{"buffer": "a", "offset": 64}])",
       "arguments[0].offset: the buffer 'a' has 64 bytes, 64 is behind them"},
      {R"("arguments": [{"tensor_map": "m"}])",
       "arguments[0].tensor_map: there is no tensor map 'm'; there are: none"},
      {R"("arguments": [{"tensor_map": "m", "offset": 1}])",
       "arguments[0].offset: there is no such member here, only tensor_map"},
      {R"("arguments": [{"u32": 1, "u64": 2}])",
       "arguments[0]: one of buffer, tensor_map or a type such as u32 is wanted here"},
      {R"("arguments": [[{"u32": -1}]])",
       "arguments[0][0].u32: u32 takes a whole number from 0 to 4294967295 or its bits as \"0x...\", not -1"},
      {R"("arguments": [[[{"u32": 1}]]])",
       "arguments[0][0]: an object such as {\"buffer\": \"a\"} or {\"u32\": 7} is wanted here"},
      {R"("arguments": [[]])", "arguments[0]: a structure has 1 to 4096 members"},
      {R"("arguments": {})", "arguments: a list of at most 4096 arguments is wanted here"},
  };
  for (const auto& [more, error] : kCases) {
    const std::string seen = error_of(with_buffer(more));
    EXPECT_EQ(seen.substr(std::min(seen.find(" arguments") + 1, seen.size())), error) << seen;
  }
}

TEST(LaunchSpec, KeepsTensorMapsInsideTheirBuffer) {
  const auto map_error = [](std::string_view members) {
    const std::string seen =
        error_of(with_buffer("\"tensor_maps\": {\"m\": {" + std::string(members) + "}}"));
    const size_t at = seen.find("tensor_maps.m");
    return at == std::string::npos ? seen : seen.substr(at);
  };
  EXPECT_EQ(map_error(R"("buffer": "a", "type": "f32", "dims": [4, 4], "box": [4, 4])"), "none");
  EXPECT_EQ(map_error(R"("buffer": "a", "type": "f32", "dims": [4, 4], "strides": [16], "box": [4, 4])"),
            "none");
  EXPECT_EQ(map_error(R"("buffer": "a", "type": "f32", "dims": [4, 5], "box": [4, 4])"),
            "tensor_maps.m: the tensor reaches over 80 bytes, the buffer 'a' has 64 from the offset on");
  EXPECT_EQ(map_error(R"("buffer": "a", "offset": 16, "type": "f32", "dims": [4, 4], "box": [4, 4])"),
            "tensor_maps.m: the tensor reaches over 64 bytes, the buffer 'a' has 48 from the offset on");
  EXPECT_EQ(map_error(R"("buffer": "a", "type": "f32", "dims": [4, 4], "strides": [32], "box": [4, 4])"),
            "tensor_maps.m: the tensor reaches over 112 bytes, the buffer 'a' has 64 from the offset on");
  EXPECT_EQ(
      map_error(
          R"("buffer": "a", "type": "f32", "dims": [4294967296, 4294967296, 4294967296], "box": [1, 1, 1],
                       "strides": [1099511627776, 1099511627776])"),
      "tensor_maps.m: the tensor reaches over more than 2^64 bytes, the buffer 'a' has 64 from the offset "
      "on");
  // In an interleaved layout the innermost dimension counts slices of 16 bytes.
  EXPECT_EQ(
      map_error(R"("buffer": "a", "type": "f32", "dims": [4, 1, 1], "box": [4, 1, 1], "interleave": "16B")"),
      "none");
  EXPECT_EQ(
      map_error(R"("buffer": "a", "type": "f32", "dims": [5, 1, 1], "box": [4, 1, 1], "interleave": "16B")"),
      "tensor_maps.m: the tensor reaches over 80 bytes, the buffer 'a' has 64 from the offset on");
  EXPECT_EQ(map_error(R"("buffer": "a", "dims": 4, "box": 4)"),
            "tensor_maps.m: the member 'type' is missing");
  EXPECT_EQ(map_error(R"("buffer": "a", "type": "f32", "dims": [4, 4], "box": [4])"),
            "tensor_maps.m.box: 2 numbers are wanted here, not 1");
  EXPECT_EQ(map_error(R"("buffer": "a", "type": "f32", "dims": [4, 4], "box": [4, 4294967296])"),
            "tensor_maps.m.box[1]: a whole number from 0 to 4294967295 is wanted here, not 4294967296");
  EXPECT_EQ(map_error(R"("buffer": "a", "type": "f32", "dims": [4, 4], "box": [4, 4], "swizzle": "16B")"),
            "tensor_maps.m.swizzle: one of none, 32B, 64B or 128B is wanted here");
}

TEST(LaunchSpec, ReadsAll) {
  const auto spec = parse_launch_spec(R"({
    "kernel": "k", "grid": [2, 3], "block": 128, "cluster": [2, 1, 1], "shared": 4096, "cooperative": true,
    "buffers": {
      "z": {"type": "u8", "shape": [2, 2], "fill": {"values": [1, 2, 3, "0xff"]}, "output": {"file": "out/z"}},
      "a": {"type": "f32", "shape": 1, "fill": {"file": "/absolute"}}},
    "arguments": [{"buffer": "z", "offset": 3}, {"f32": "nan"}, [{"u8": 1}, {"u64": 2}]]})",
                                      "folder/spec.json");
  ASSERT_TRUE(spec) << spec.error().text();
  EXPECT_EQ(spec->grid[1], 3u);
  EXPECT_EQ(spec->grid[2], 1u);
  EXPECT_TRUE(spec->cooperative);
  ASSERT_EQ(spec->buffers.size(), 2u);
  EXPECT_EQ(spec->buffers[0].name, "z");  // in the order of the file
  EXPECT_EQ(spec->buffers[0].values, (std::vector<uint64_t>{1, 2, 3, 255}));
  EXPECT_EQ(spec->buffers[0].output_file, "folder/out/z");
  EXPECT_EQ(spec->buffers[1].fill_file, "/absolute");
  ASSERT_EQ(spec->arguments.size(), 3u);
  EXPECT_EQ(spec->arguments[0].offset, 3u);
  EXPECT_EQ(spec->arguments[1].bytes, (std::vector<uint8_t>{0, 0, 0xc0, 0x7f}));
  EXPECT_EQ(spec->arguments[2].members.size(), 2u);
}

}  // namespace
}  // namespace sluice::cli
