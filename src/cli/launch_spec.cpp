// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading of launch descriptions. Every member is checked and unknown ones are errors, so that a misspelt
// name is found.
#include "cli/launch_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

namespace sluice::cli {
namespace {

using Json = nlohmann::json;

constexpr uint64_t kMostBytes = uint64_t{1} << 40;
constexpr uint64_t kMostArguments = 4096;

Error wrong(const std::string& place, std::string message) {
  return Error{std::move(message), place};
}

// Names the first member of `object` that is not in `known`.
Result<void> only(const Json& object, const std::string& place,
                  std::initializer_list<std::string_view> known) {
  if (!object.is_object()) return wrong(place, "an object is wanted here");
  for (const auto& [name, value] : object.items()) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return wrong(place.empty() ? name : place + "." + name, "there is no member of this name");
    }
  }
  return {};
}

std::string inside(const std::string& place, std::string_view name) {
  return place.empty() ? std::string(name) : fmt::format("{}.{}", place, name);
}

Result<uint64_t> whole(const Json& value, const std::string& place, uint64_t least, uint64_t most) {
  if (!value.is_number_integer() ||
      (value.is_number_integer() && !value.is_number_unsigned() && value.get<int64_t>() < 0)) {
    return wrong(place, "a whole number is wanted here");
  }
  const uint64_t number = value.get<uint64_t>();
  if (number < least || number > most)
    return wrong(place, fmt::format("{} is outside {} to {}", number, least, most));
  return number;
}

// An optional whole number; `*out` keeps its value where the member is absent.
template <class T>
Result<void> take_whole(const Json& object, const std::string& place, const char* name, uint64_t least,
                        uint64_t most, T* out) {
  const auto it = object.find(name);
  if (it == object.end()) return {};
  SLUICE_ASSIGN_OR_RETURN(const uint64_t number, whole(*it, inside(place, name), least, most));
  *out = static_cast<T>(number);
  return {};
}

Result<void> take_text(const Json& object, const std::string& place, const char* name, std::string* out) {
  const auto it = object.find(name);
  if (it == object.end()) return {};
  if (!it->is_string()) return wrong(inside(place, name), "a text is wanted here");
  *out = it->get<std::string>();
  return {};
}

Result<void> take_number(const Json& object, const std::string& place, const char* name, double* out) {
  const auto it = object.find(name);
  if (it == object.end()) return {};
  if (!it->is_number()) return wrong(inside(place, name), "a number is wanted here");
  *out = it->get<double>();
  return {};
}

// A list of whole numbers, or one number for a list of one.
template <class T>
Result<std::vector<T>> whole_list(const Json& value, const std::string& place, size_t most_entries,
                                  uint64_t most) {
  std::vector<T> out;
  const Json list = value.is_array() ? value : Json::array({value});
  if (list.size() > most_entries)
    return wrong(place, fmt::format("at most {} numbers are wanted here", most_entries));
  for (size_t i = 0; i < list.size(); ++i) {
    SLUICE_ASSIGN_OR_RETURN(const uint64_t number, whole(list[i], fmt::format("{}[{}]", place, i), 0, most));
    out.push_back(static_cast<T>(number));
  }
  return out;
}

Result<void> take_extent(const Json& object, const char* name, uint32_t (&out)[3]) {
  const auto it = object.find(name);
  if (it == object.end()) return {};
  SLUICE_ASSIGN_OR_RETURN(const auto list,
                          whole_list<uint32_t>(*it, name, 3, std::numeric_limits<int32_t>::max()));
  if (list.empty()) return wrong(name, "one to three numbers are wanted here");
  std::fill(std::begin(out), std::end(out), 1u);
  std::copy(list.begin(), list.end(), out);
  return {};
}

std::optional<Element> element_named(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(Element::F64); ++i) {
    if (name_of(static_cast<Element>(i)) == name) return static_cast<Element>(i);
  }
  return std::nullopt;
}

Result<Element> element_of(const Json& value, const std::string& place) {
  const auto element = value.is_string() ? element_named(value.get<std::string>()) : std::nullopt;
  if (!element) return wrong(place, "the types are u8 s8 u16 s16 u32 s32 u64 s64 e4m3 e5m2 f16 bf16 f32 f64");
  return *element;
}

std::string path_in(const std::string& directory, const std::string& file) {
  return file.empty() || file[0] == '/' || directory.empty() ? file : directory + "/" + file;
}

Result<void> read_fill(const Json& fill, const std::string& place, const std::string& directory,
                       BufferSpec* buffer) {
  if (fill == "zeros") return {};
  if (fill == "random") {
    buffer->fill = BufferSpec::Fill::Random;
    return {};
  }
  SLUICE_TRY(only(fill, place, {"value", "values", "file"}));
  if (fill.size() != 1) return wrong(place, "one of value, values and file is wanted here");
  if (fill.contains("file")) {
    buffer->fill = BufferSpec::Fill::File;
    SLUICE_TRY(take_text(fill, place, "file", &buffer->fill_file));
    buffer->fill_file = path_in(directory, buffer->fill_file);
    return {};
  }
  const bool one = fill.contains("value");
  buffer->fill = one ? BufferSpec::Fill::Value : BufferSpec::Fill::Values;
  const Json list = one ? Json::array({fill["value"]}) : fill["values"];
  if (!list.is_array()) return wrong(place + ".values", "a list of numbers is wanted here");
  for (const Json& value : list) {
    if (!value.is_number()) return wrong(place, "numbers are wanted here");
    buffer->values.push_back(value.get<double>());
  }
  return {};
}

Result<void> read_output(const Json& output, const std::string& place, const std::string& directory,
                         BufferSpec* buffer) {
  if (output == "print") {
    buffer->output = BufferSpec::Output::Print;
    return {};
  }
  SLUICE_TRY(only(output, place, {"file", "compare", "tolerance"}));
  if (output.contains("file") == output.contains("compare"))
    return wrong(place, "either file or compare is wanted here");
  buffer->output = output.contains("file") ? BufferSpec::Output::File : BufferSpec::Output::Compare;
  SLUICE_TRY(take_text(output, place, output.contains("file") ? "file" : "compare", &buffer->output_file));
  buffer->output_file = path_in(directory, buffer->output_file);
  return take_number(output, place, "tolerance", &buffer->tolerance);
}

Result<BufferSpec> read_buffer(const std::string& name, const Json& value, const std::string& directory) {
  const std::string place = "buffers." + name;
  SLUICE_TRY(only(value, place, {"type", "shape", "fill", "seed", "range", "output"}));
  BufferSpec buffer;
  buffer.name = name;
  if (!value.contains("type") || !value.contains("shape"))
    return wrong(place, "type and shape are wanted here");
  SLUICE_ASSIGN_OR_RETURN(buffer.element, element_of(value["type"], place + ".type"));
  SLUICE_ASSIGN_OR_RETURN(const auto shape,
                          whole_list<uint64_t>(value["shape"], place + ".shape", 8, kMostBytes));
  buffer.count = 1;
  for (const uint64_t extent : shape) {
    if (extent == 0 || buffer.count > kMostBytes / extent)
      return wrong(place + ".shape", "the buffer is empty or too large");
    buffer.count *= extent;
  }
  const bool is_float = buffer.element >= Element::E4M3;
  buffer.low = is_float ? -1 : 0;
  buffer.high = is_float ? 1 : 128;
  if (value.contains("fill")) SLUICE_TRY(read_fill(value["fill"], place + ".fill", directory, &buffer));
  SLUICE_TRY(take_whole(value, place, "seed", 0, std::numeric_limits<int64_t>::max(), &buffer.seed));
  if (value.contains("range")) {
    const Json& range = value["range"];
    if (!range.is_array() || range.size() != 2 || !range[0].is_number() || !range[1].is_number()) {
      return wrong(place + ".range", "two numbers are wanted here: low and high");
    }
    buffer.low = range[0], buffer.high = range[1];
  }
  if (value.contains("output"))
    SLUICE_TRY(read_output(value["output"], place + ".output", directory, &buffer));
  return buffer;
}

// The index of a text in a list of words; absent members give 0.
Result<uint8_t> word(const Json& object, const std::string& place, const char* name,
                     std::initializer_list<std::string_view> words) {
  const auto it = object.find(name);
  if (it == object.end()) return uint8_t{0};
  if (it->is_string()) {
    const auto found = std::find(words.begin(), words.end(), it->get<std::string>());
    if (found != words.end()) return static_cast<uint8_t>(found - words.begin());
  }
  return wrong(inside(place, name), fmt::format("one of {} is wanted here", fmt::join(words, ", ")));
}

template <class T, size_t N>
Result<size_t> take_list(const Json& object, const std::string& place, const char* name,
                         std::array<T, N>* out) {
  const auto it = object.find(name);
  if (it == object.end()) return size_t{0};
  SLUICE_ASSIGN_OR_RETURN(const auto list, whole_list<T>(*it, inside(place, name), N, kMostBytes));
  std::copy(list.begin(), list.end(), out->begin());
  return list.size();
}

Result<TensorMapSpec> read_tensor_map(const std::string& name, const Json& value) {
  const std::string place = "tensor_maps." + name;
  SLUICE_TRY(only(value, place,
                  {"buffer", "offset", "type", "dims", "strides", "box", "element_strides", "swizzle",
                   "interleave", "l2_promotion", "fill"}));
  TensorMapSpec map;
  map.name = name;
  SLUICE_TRY(take_text(value, place, "buffer", &map.buffer));
  SLUICE_TRY(take_whole(value, place, "offset", 0, kMostBytes, &map.offset));
  SLUICE_ASSIGN_OR_RETURN(const uint8_t type, word(value, place, "type",
                                                   {"u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32",
                                                    "f64", "bf16", "f32_ftz", "tf32", "tf32_ftz"}));
  map.info.type = static_cast<machine::TensorType>(type);
  SLUICE_ASSIGN_OR_RETURN(map.info.swizzle, word(value, place, "swizzle", {"none", "32B", "64B", "128B"}));
  SLUICE_ASSIGN_OR_RETURN(map.info.interleave, word(value, place, "interleave", {"none", "16B", "32B"}));
  SLUICE_ASSIGN_OR_RETURN(map.info.l2_promotion,
                          word(value, place, "l2_promotion", {"none", "64B", "128B", "256B"}));
  SLUICE_ASSIGN_OR_RETURN(map.info.fill, word(value, place, "fill", {"zero", "nan"}));
  SLUICE_ASSIGN_OR_RETURN(const size_t rank, take_list(value, place, "dims", &map.info.dims));
  if (rank == 0) return wrong(place + ".dims", "one to five extents are wanted here, innermost first");
  map.info.rank = static_cast<uint8_t>(rank);
  SLUICE_ASSIGN_OR_RETURN(const size_t boxes, take_list(value, place, "box", &map.info.box));
  if (boxes != rank) return wrong(place + ".box", fmt::format("{} extents are wanted here", rank));
  SLUICE_ASSIGN_OR_RETURN(const size_t strides, take_list(value, place, "strides", &map.info.strides));
  if (strides == 0) {
    // Without strides the tensor has no gaps.
    uint64_t bytes = map.info.dims[0] * machine::element_bits(map.info.type) / 8;
    for (size_t i = 0; i + 1 < rank; ++i) {
      map.info.strides[i] = bytes;
      bytes *= map.info.dims[i + 1];
    }
  } else if (strides != rank - 1) {
    return wrong(place + ".strides", fmt::format("{} strides in bytes are wanted here, or none", rank - 1));
  }
  SLUICE_ASSIGN_OR_RETURN(const size_t steps, take_list(value, place, "element_strides", &map.info.steps));
  if (steps == 0)
    std::fill_n(map.info.steps.begin(), rank, 1u);
  else if (steps != rank)
    return wrong(place + ".element_strides", fmt::format("{} numbers are wanted here, or none", rank));
  return map;
}

Result<ArgumentSpec> read_argument(const Json& value, const std::string& place, bool may_be_structure) {
  ArgumentSpec argument;
  if (value.is_array() && may_be_structure) {
    if (value.empty() || value.size() > kMostArguments) return wrong(place, "a structure has members");
    argument.kind = ArgumentSpec::Kind::Structure;
    for (size_t i = 0; i < value.size(); ++i) {
      SLUICE_ASSIGN_OR_RETURN(ArgumentSpec member,
                              read_argument(value[i], fmt::format("{}[{}]", place, i), false));
      argument.members.push_back(std::move(member));
    }
    return argument;
  }
  if (!value.is_object() || value.empty())
    return wrong(place, "an object such as {\"buffer\": \"a\"} or {\"u32\": 7} is wanted here");
  if (value.contains("buffer") || value.contains("tensor_map")) {
    const bool buffer = value.contains("buffer");
    SLUICE_TRY(only(value, place, {"buffer", "tensor_map", "offset"}));
    argument.kind = buffer ? ArgumentSpec::Kind::Buffer : ArgumentSpec::Kind::TensorMap;
    SLUICE_TRY(take_text(value, place, buffer ? "buffer" : "tensor_map", &argument.name));
    SLUICE_TRY(take_whole(value, place, "offset", 0, kMostBytes, &argument.offset));
    return argument;
  }
  const auto first = value.begin();
  const std::string& type = first.key();
  const Json& number = first.value();
  const auto element = element_named(type);
  if (value.size() != 1 || !element)
    return wrong(place, "one of buffer, tensor_map or a type such as u32 is wanted here");
  if (!number.is_number()) return wrong(inside(place, type), "a number is wanted here");
  argument.bytes.resize(size_of(*element));
  if (number.is_number_integer() && *element <= Element::S64) {
    // Whole numbers keep all their bits.
    const uint64_t bits =
        number.is_number_unsigned() ? number.get<uint64_t>() : static_cast<uint64_t>(number.get<int64_t>());
    for (size_t i = 0; i < argument.bytes.size(); ++i)
      argument.bytes[i] = static_cast<uint8_t>(bits >> (8 * i));
  } else {
    store(*element, number.get<double>(), argument.bytes.data());
  }
  return argument;
}

}  // namespace

Result<LaunchSpec> parse_launch_spec(std::string_view text, const std::string& directory) {
  const Json root = Json::parse(text, nullptr, /*allow_exceptions=*/false, /*ignore_comments=*/true);
  if (!root.is_object()) return wrong("", "this is not a JSON object");
  SLUICE_TRY(only(root, "",
                  {"kernel", "grid", "block", "cluster", "shared", "cooperative", "buffers", "tensor_maps",
                   "arguments"}));
  LaunchSpec spec;
  SLUICE_TRY(take_text(root, "", "kernel", &spec.kernel));
  SLUICE_TRY(take_extent(root, "grid", spec.grid));
  SLUICE_TRY(take_extent(root, "block", spec.block));
  SLUICE_TRY(take_extent(root, "cluster", spec.cluster));
  SLUICE_TRY(take_whole(root, "", "shared", 0, uint64_t{1} << 20, &spec.shared));
  if (root.contains("cooperative")) {
    if (!root["cooperative"].is_boolean()) return wrong("cooperative", "true or false is wanted here");
    spec.cooperative = root["cooperative"];
  }
  for (const char* name : {"buffers", "tensor_maps"}) {
    if (root.contains(name) && !root[name].is_object()) return wrong(name, "an object is wanted here");
  }
  if (root.contains("buffers")) {
    for (const auto& [name, value] : root["buffers"].items()) {
      SLUICE_ASSIGN_OR_RETURN(BufferSpec buffer, read_buffer(name, value, directory));
      spec.buffers.push_back(std::move(buffer));
    }
  }
  if (root.contains("tensor_maps")) {
    for (const auto& [name, value] : root["tensor_maps"].items()) {
      SLUICE_ASSIGN_OR_RETURN(TensorMapSpec map, read_tensor_map(name, value));
      spec.tensor_maps.push_back(std::move(map));
    }
  }
  if (root.contains("arguments")) {
    if (!root["arguments"].is_array() || root["arguments"].size() > kMostArguments)
      return wrong("arguments", "a list is wanted here");
    for (size_t i = 0; i < root["arguments"].size(); ++i) {
      SLUICE_ASSIGN_OR_RETURN(ArgumentSpec argument,
                              read_argument(root["arguments"][i], fmt::format("arguments[{}]", i), true));
      spec.arguments.push_back(std::move(argument));
    }
  }
  return spec;
}

}  // namespace sluice::cli
