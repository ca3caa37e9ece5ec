// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Buffers of launch descriptions: type and shape, what fills them, what becomes of them.
#include <fmt/format.h>

#include <filesystem>

#include "cli/launch_spec.hpp"

namespace sluice::cli {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 40;
constexpr size_t kMostDimensions = 8;

// A file name, relative to the folder of the description `file`.
Result<std::string> read_file_name(const Field& field, const std::string& file) {
  SLUICE_ASSIGN_OR_RETURN(const std::string name, field.text());
  if (name.empty() || name.find('\0') != std::string::npos)
    return field.wrong("the name of a file is wanted here");
  return (std::filesystem::path(file).parent_path() / name).string();
}

Result<void> read_type_and_shape(const Field& field, BufferSpec& buffer) {
  SLUICE_ASSIGN_OR_RETURN(const Field type, field.need("type"));
  const auto element = type.is(Json::Kind::Text) ? element_named(type.json().text) : std::optional<Element>();
  if (!element)
    return type.wrong("one of u8 s8 u16 s16 u32 s32 u64 s64 e4m3 e5m2 f16 bf16 f32 f64 is wanted here");
  buffer.element = *element;
  SLUICE_ASSIGN_OR_RETURN(const Field shape, field.need("shape"));
  SLUICE_ASSIGN_OR_RETURN(const auto extents, shape.wholes(1, kMostDimensions, 1, kMostBytes));
  buffer.count = 1;
  for (const uint64_t extent : extents) {
    if (buffer.count > kMostBytes / size_of(*element) / extent)
      return shape.wrong(fmt::format("the buffer has more than {} bytes", kMostBytes));
    buffer.count *= extent;
  }
  return {};
}

Result<void> read_values(const Field& field, BufferSpec& buffer) {
  if (!field.is(Json::Kind::List)) return field.wrong("a list of values is wanted here");
  if (field.size() != buffer.count) {
    return field.wrong(
        fmt::format("{} values are wanted here, as the shape says, not {}", buffer.count, field.size()));
  }
  for (size_t i = 0; i < field.size(); ++i) {
    SLUICE_ASSIGN_OR_RETURN(const uint64_t bits, read_element(buffer.element, field.item(i)));
    buffer.values.push_back(bits);
  }
  return {};
}

Result<void> read_fill(const Field& field, const std::string& file, BufferSpec& buffer) {
  buffer.fill_place = field.place();
  if (field.is(Json::Kind::Text)) {
    SLUICE_ASSIGN_OR_RETURN(const uint8_t word, field.one_of({"zeros", "random"}));
    if (word == 1) buffer.fill = BufferSpec::Fill::Random;
    return {};
  }
  SLUICE_TRY(field.only({"value", "values", "file"}));
  if (field.size() != 1) return field.wrong("one of value, values and file is wanted here");
  const Field source = field.member(0);
  if (const auto value = field.find("value")) {
    buffer.fill = BufferSpec::Fill::Value;
    SLUICE_ASSIGN_OR_RETURN(const uint64_t bits, read_element(buffer.element, source));
    buffer.values = {bits};
    return {};
  }
  if (const auto values = field.find("values")) {
    buffer.fill = BufferSpec::Fill::Values;
    return read_values(source, buffer);
  }
  buffer.fill = BufferSpec::Fill::File;
  buffer.fill_place = source.place();
  SLUICE_ASSIGN_OR_RETURN(buffer.fill_file, read_file_name(source, file));
  return {};
}

// `seed` and `range`, which belong to random values alone.
Result<void> read_random(const Field& field, BufferSpec& buffer) {
  buffer.range = default_range(buffer.element);
  for (const char* name : {"seed", "range"}) {
    const auto member = field.find(name);
    if (member && buffer.fill != BufferSpec::Fill::Random)
      return member->wrong("this belongs to \"fill\": \"random\"");
  }
  if (const auto seed = field.find("seed")) {
    SLUICE_ASSIGN_OR_RETURN(buffer.seed, seed->whole(0, std::numeric_limits<uint64_t>::max()));
  }
  if (const auto range = field.find("range")) {
    SLUICE_ASSIGN_OR_RETURN(buffer.range, read_range(buffer.element, *range));
  }
  return {};
}

Result<void> read_output(const Field& field, const std::string& file, BufferSpec& buffer) {
  buffer.output_place = field.place();
  if (field.is(Json::Kind::Text)) {
    SLUICE_TRY(field.one_of({"print"}));
    buffer.output = BufferSpec::Output::Print;
    return {};
  }
  SLUICE_TRY(field.only({"file", "compare", "tolerance"}));
  const auto written = field.find("file"), compared = field.find("compare");
  if (written.has_value() == compared.has_value())
    return field.wrong("either file or compare is wanted here");
  const Field& name = written ? *written : *compared;
  buffer.output = written ? BufferSpec::Output::File : BufferSpec::Output::Compare;
  buffer.output_place = name.place();
  SLUICE_ASSIGN_OR_RETURN(buffer.output_file, read_file_name(name, file));
  const auto tolerance = field.find("tolerance");
  if (!tolerance) return {};
  if (written) return tolerance->wrong("this belongs to compare");
  SLUICE_ASSIGN_OR_RETURN(buffer.tolerance, tolerance->number());
  if (buffer.tolerance < 0) return tolerance->wrong("a number from 0 on is wanted here");
  return {};
}

}  // namespace

Result<BufferSpec> read_buffer(const std::string& name, const Field& field, const std::string& file) {
  SLUICE_TRY(field.only({"type", "shape", "fill", "seed", "range", "output"}));
  BufferSpec buffer;
  buffer.name = name;
  buffer.place = field.place();
  SLUICE_TRY(read_type_and_shape(field, buffer));
  if (const auto fill = field.find("fill")) SLUICE_TRY(read_fill(*fill, file, buffer));
  SLUICE_TRY(read_random(field, buffer));
  if (const auto output = field.find("output")) SLUICE_TRY(read_output(*output, file, buffer));
  return buffer;
}

}  // namespace sluice::cli
