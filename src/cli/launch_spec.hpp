// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A launch description as read from JSON: complete and consistent in itself, with nothing allocated and no
// other file touched. The format is documented in docs/tools/run.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cli/launch_elements.hpp"
#include "cli/located_json.hpp"
#include "machine/tensor_map.hpp"

namespace sluice::cli {

/// Each `place` is that of the value in the description, "file:line:column: path", for errors found later.
struct BufferSpec {
  enum class Fill : uint8_t { Zeros, Value, Values, Random, File };
  enum class Output : uint8_t { None, Print, File, Compare };

  std::string name;
  std::string place;
  Element element = Element::U8;
  uint64_t count = 0;
  Fill fill = Fill::Zeros;
  std::vector<uint64_t> values;  ///< bits: one of Fill::Value, `count` of Fill::Values
  std::string fill_file, fill_place;
  uint64_t seed = 0;
  RandomRange range;
  Output output = Output::None;
  std::string output_file, output_place;  ///< to write, or to compare with
  double tolerance = 0;                   ///< largest absolute difference that compares equal

  uint64_t bytes() const { return count * size_of(element); }
};

struct TensorMapSpec {
  std::string name;
  std::string place;
  std::string buffer;
  uint64_t offset = 0;
  machine::TensorMapInfo info;  ///< without its address
};

struct ArgumentSpec {
  enum class Kind : uint8_t { Buffer, TensorMap, Bytes, Structure };
  Kind kind = Kind::Bytes;
  std::string place;
  std::string name;                   ///< of the buffer or tensor map
  uint64_t offset = 0;                ///< into the buffer
  std::vector<uint8_t> bytes;         ///< of a scalar
  std::vector<ArgumentSpec> members;  ///< of a structure, which is laid out as C does it
};

struct LaunchSpec {
  std::string kernel;  ///< empty: the only one
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};
  uint32_t cluster[3] = {0, 0, 0};
  uint64_t shared = 0;
  bool cooperative = false;
  std::vector<BufferSpec> buffers;
  std::vector<TensorMapSpec> tensor_maps;
  std::vector<ArgumentSpec> arguments;
  std::string place, kernel_place, grid_place, block_place, cluster_place, shared_place, arguments_place;

  const BufferSpec* buffer(std::string_view name) const;
  const TensorMapSpec* tensor_map(std::string_view name) const;
};

/// Reads the description in `text`. `file` is its name: errors begin with it, and names of other files are
/// taken as relative to its folder.
Result<LaunchSpec> parse_launch_spec(std::string_view text, const std::string& file);

// --- parts of it

Result<BufferSpec> read_buffer(const std::string& name, const Field& field, const std::string& file);
/// `spec` has the buffers, one of which the map must lie in.
Result<TensorMapSpec> read_tensor_map(const std::string& name, const Field& field, const LaunchSpec& spec);
/// The buffer that the member `name` of `field` names, and the offset into it, which must lie inside.
Result<const BufferSpec*> read_buffer_place(const Field& field, const LaunchSpec& spec, uint64_t* offset);

}  // namespace sluice::cli
