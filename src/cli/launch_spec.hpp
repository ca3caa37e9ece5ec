// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A launch description as read from JSON, checked but with nothing allocated.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "machine/tensor_map.hpp"

namespace sluice::cli {

/// Element types of buffers and scalars.
enum class Element : uint8_t { U8, S8, U16, S16, U32, S32, U64, S64, E4M3, E5M2, F16, BF16, F32, F64 };

uint32_t size_of(Element element);
std::string_view name_of(Element element);
/// Writes `value`, rounded to the type, to `out`.
void store(Element element, double value, void* out);
double load(Element element, const void* in);

struct BufferSpec {
  enum class Fill : uint8_t { Zeros, Value, Values, Random, File };
  enum class Output : uint8_t { None, Print, File, Compare };

  std::string name;
  Element element = Element::U8;
  uint64_t count = 0;
  Fill fill = Fill::Zeros;
  std::vector<double> values;  ///< of Fill::Value (one) and Fill::Values
  std::string fill_file;
  uint64_t seed = 0;
  double low = 0, high = 1;  ///< of random values: [low, high)
  Output output = Output::None;
  std::string output_file;  ///< to write, or to compare with
  double tolerance = 0;     ///< largest absolute difference that compares equal

  uint64_t bytes() const { return count * size_of(element); }
};

struct TensorMapSpec {
  std::string name;
  std::string buffer;
  uint64_t offset = 0;
  machine::TensorMapInfo info;  ///< without its address
};

struct ArgumentSpec {
  enum class Kind : uint8_t { Buffer, TensorMap, Bytes, Structure };
  Kind kind = Kind::Bytes;
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
};

/// The error's place is the member, such as "buffers.a.type". File names in it are taken as relative to
/// `directory`.
Result<LaunchSpec> parse_launch_spec(std::string_view text, const std::string& directory);

}  // namespace sluice::cli
