// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading of launch descriptions. Every member is checked and unknown ones are errors, so that a misspelt
// name is found and no value is taken for another.
#include "cli/launch_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace sluice::cli {
namespace {

constexpr size_t kMostArguments = 4096;
constexpr uint64_t kMostShared = uint64_t{1} << 20;

template <class T>
std::string names_of(const std::vector<T>& things) {
  std::string names;
  for (const T& thing : things) names += fmt::format("{}'{}'", names.empty() ? "" : ", ", thing.name);
  return names.empty() ? "none" : names;
}

template <class T>
const T* named(const std::vector<T>& things, std::string_view name) {
  const auto it = std::find_if(things.begin(), things.end(), [&](const T& t) { return t.name == name; });
  return it == things.end() ? nullptr : &*it;
}

Result<void> take_extent(const Field& root, const char* name, uint32_t (&out)[3], std::string& place) {
  place = root.place();
  const auto field = root.find(name);
  if (!field) return {};
  place = field->place();
  SLUICE_ASSIGN_OR_RETURN(const auto list, field->wholes(1, 3, 1, std::numeric_limits<int32_t>::max()));
  std::fill(std::begin(out), std::end(out), 1u);
  std::transform(list.begin(), list.end(), out, [](uint64_t n) { return static_cast<uint32_t>(n); });
  return {};
}

Result<void> read_shape(const Field& root, LaunchSpec& spec) {
  SLUICE_TRY(take_extent(root, "grid", spec.grid, spec.grid_place));
  SLUICE_TRY(take_extent(root, "block", spec.block, spec.block_place));
  SLUICE_TRY(take_extent(root, "cluster", spec.cluster, spec.cluster_place));
  spec.shared_place = spec.kernel_place = root.place();
  if (const auto kernel = root.find("kernel")) {
    SLUICE_ASSIGN_OR_RETURN(spec.kernel, kernel->text());
    spec.kernel_place = kernel->place();
  }
  if (const auto shared = root.find("shared")) {
    SLUICE_ASSIGN_OR_RETURN(spec.shared, shared->whole(0, kMostShared));
    spec.shared_place = shared->place();
  }
  if (const auto cooperative = root.find("cooperative")) {
    SLUICE_ASSIGN_OR_RETURN(spec.cooperative, cooperative->boolean());
  }
  return {};
}

// Calls `read` with the name and the value of each member of the object `name`.
template <class Read>
Result<void> for_each_named(const Field& root, const char* name, const Read& read) {
  const auto field = root.find(name);
  if (!field) return {};
  if (!field->is(Json::Kind::Object)) return field->wrong("an object is wanted here, with a member for each");
  for (size_t i = 0; i < field->size(); ++i) SLUICE_TRY(read(field->json().names[i], field->member(i)));
  return {};
}

Result<ArgumentSpec> read_argument(const Field& field, const LaunchSpec& spec, bool may_be_structure);

Result<ArgumentSpec> read_structure(const Field& field, const LaunchSpec& spec) {
  if (field.size() == 0 || field.size() > kMostArguments)
    return field.wrong(fmt::format("a structure has 1 to {} members", kMostArguments));
  ArgumentSpec argument;
  argument.kind = ArgumentSpec::Kind::Structure;
  argument.place = field.place();
  for (size_t i = 0; i < field.size(); ++i) {
    SLUICE_ASSIGN_OR_RETURN(ArgumentSpec member, read_argument(field.item(i), spec, false));
    argument.members.push_back(std::move(member));
  }
  return argument;
}

Result<ArgumentSpec> read_tensor_map_argument(const Field& field, const LaunchSpec& spec) {
  SLUICE_TRY(field.only({"tensor_map"}));
  ArgumentSpec argument;
  argument.kind = ArgumentSpec::Kind::TensorMap;
  argument.place = field.place();
  const Field name = field.member(0);
  SLUICE_ASSIGN_OR_RETURN(argument.name, name.text());
  if (spec.tensor_map(argument.name) == nullptr)
    return name.wrong(
        fmt::format("there is no tensor map '{}'; there are: {}", argument.name, names_of(spec.tensor_maps)));
  return argument;
}

Result<ArgumentSpec> read_argument(const Field& field, const LaunchSpec& spec, bool may_be_structure) {
  if (field.is(Json::Kind::List) && may_be_structure) return read_structure(field, spec);
  if (!field.is(Json::Kind::Object) || field.size() == 0)
    return field.wrong("an object such as {\"buffer\": \"a\"} or {\"u32\": 7} is wanted here");
  if (field.find("tensor_map")) return read_tensor_map_argument(field, spec);
  ArgumentSpec argument;
  argument.place = field.place();
  if (field.find("buffer")) {
    SLUICE_TRY(field.only({"buffer", "offset"}));
    argument.kind = ArgumentSpec::Kind::Buffer;
    SLUICE_ASSIGN_OR_RETURN(const BufferSpec* buffer, read_buffer_place(field, spec, &argument.offset));
    argument.name = buffer->name;
    return argument;
  }
  const auto element = element_named(field.json().names[0]);
  if (field.size() != 1 || !element)
    return field.wrong("one of buffer, tensor_map or a type such as u32 is wanted here");
  SLUICE_ASSIGN_OR_RETURN(const uint64_t bits, read_element(*element, field.member(0)));
  for (uint32_t i = 0; i < size_of(*element); ++i)
    argument.bytes.push_back(static_cast<uint8_t>(bits >> (8 * i)));
  return argument;
}

Result<void> read_arguments(const Field& root, LaunchSpec& spec) {
  spec.arguments_place = root.place();
  const auto field = root.find("arguments");
  if (!field) return {};
  spec.arguments_place = field->place();
  if (!field->is(Json::Kind::List) || field->size() > kMostArguments)
    return field->wrong(fmt::format("a list of at most {} arguments is wanted here", kMostArguments));
  for (size_t i = 0; i < field->size(); ++i) {
    SLUICE_ASSIGN_OR_RETURN(ArgumentSpec argument, read_argument(field->item(i), spec, true));
    spec.arguments.push_back(std::move(argument));
  }
  return {};
}

}  // namespace

const BufferSpec* LaunchSpec::buffer(std::string_view name) const {
  return named(buffers, name);
}

const TensorMapSpec* LaunchSpec::tensor_map(std::string_view name) const {
  return named(tensor_maps, name);
}

Result<const BufferSpec*> read_buffer_place(const Field& field, const LaunchSpec& spec, uint64_t* offset) {
  SLUICE_ASSIGN_OR_RETURN(const Field name, field.need("buffer"));
  SLUICE_ASSIGN_OR_RETURN(const std::string text, name.text());
  const BufferSpec* buffer = spec.buffer(text);
  if (buffer == nullptr)
    return name.wrong(fmt::format("there is no buffer '{}'; there are: {}", text, names_of(spec.buffers)));
  if (const auto behind = field.find("offset")) {
    SLUICE_ASSIGN_OR_RETURN(*offset, behind->whole(0, std::numeric_limits<uint64_t>::max()));
    if (*offset >= buffer->bytes())
      return behind->wrong(
          fmt::format("the buffer '{}' has {} bytes, {} is behind them", text, buffer->bytes(), *offset));
  }
  return buffer;
}

Result<LaunchSpec> parse_launch_spec(std::string_view text, const std::string& file) {
  const auto json = parse_json(text);
  if (!json) return Error{json.error().message, fmt::format("{}:{}", file, json.error().place)};
  const Field root(*json, file);
  SLUICE_TRY(root.only({"kernel", "grid", "block", "cluster", "shared", "cooperative", "buffers",
                        "tensor_maps", "arguments"}));
  LaunchSpec spec;
  spec.place = root.place();
  SLUICE_TRY(read_shape(root, spec));
  SLUICE_TRY(
      for_each_named(root, "buffers", [&](const std::string& name, const Field& field) -> Result<void> {
        SLUICE_ASSIGN_OR_RETURN(BufferSpec buffer, read_buffer(name, field, file));
        spec.buffers.push_back(std::move(buffer));
        return {};
      }));
  SLUICE_TRY(
      for_each_named(root, "tensor_maps", [&](const std::string& name, const Field& field) -> Result<void> {
        SLUICE_ASSIGN_OR_RETURN(TensorMapSpec map, read_tensor_map(name, field, spec));
        spec.tensor_maps.push_back(std::move(map));
        return {};
      }));
  SLUICE_TRY(read_arguments(root, spec));
  return spec;
}

}  // namespace sluice::cli
