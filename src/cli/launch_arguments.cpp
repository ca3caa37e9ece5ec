// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Pointers, scalars, tensor maps and structures of them as bytes.
#include "cli/launch_arguments.hpp"

#include <cuda.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace sluice::cli {
namespace {

using Bytes = std::vector<uint8_t>;

template <class T>
Bytes bytes_of(const T& value) {
  Bytes bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

size_t aligned(size_t size, size_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

size_t alignment_of(const ArgumentSpec& member) {
  if (member.kind == ArgumentSpec::Kind::Buffer) return sizeof(void*);
  return member.kind == ArgumentSpec::Kind::TensorMap ? alignof(CUtensorMap) : member.bytes.size();
}

uint64_t address_of(const BufferMemory& memory, const std::string& buffer, uint64_t offset) {
  return reinterpret_cast<uint64_t>(memory.at(buffer)) + offset;
}

Result<Bytes> tensor_map(const TensorMapSpec& map, const BufferMemory& memory) {
  machine::TensorMapInfo info = map.info;
  info.address = address_of(memory, map.buffer, map.offset);
  const auto words = machine::encode_tensor_map(info);
  if (!words) return Error{words.error().message, map.place};
  return bytes_of(*words);
}

Result<Bytes> value_of(const ArgumentSpec& given, const LaunchSpec& spec, const BufferMemory& memory);

Result<Bytes> structure(const std::vector<ArgumentSpec>& members, const LaunchSpec& spec,
                        const BufferMemory& memory) {
  Bytes bytes;
  size_t widest = 1;
  for (const ArgumentSpec& member : members) {
    SLUICE_ASSIGN_OR_RETURN(const Bytes value, value_of(member, spec, memory));
    const size_t alignment = alignment_of(member);
    bytes.resize(aligned(bytes.size(), alignment));
    bytes.insert(bytes.end(), value.begin(), value.end());
    widest = std::max(widest, alignment);
  }
  bytes.resize(aligned(bytes.size(), widest));
  return bytes;
}

Result<Bytes> value_of(const ArgumentSpec& given, const LaunchSpec& spec, const BufferMemory& memory) {
  switch (given.kind) {
    case ArgumentSpec::Kind::Structure:
      return structure(given.members, spec, memory);
    case ArgumentSpec::Kind::TensorMap:
      return tensor_map(*spec.tensor_map(given.name), memory);
    case ArgumentSpec::Kind::Buffer:
      return bytes_of(address_of(memory, given.name, given.offset));
    default:
      return given.bytes;
  }
}

}  // namespace

Result<ArgumentValues> argument_values(const LaunchSpec& spec, const BufferMemory& memory) {
  ArgumentValues values;
  for (const ArgumentSpec& given : spec.arguments) {
    SLUICE_ASSIGN_OR_RETURN(Bytes bytes, value_of(given, spec, memory));
    values.push_back(std::move(bytes));
  }
  return values;
}

Result<void> check_arguments(const LaunchSpec& spec, const ArgumentValues& values,
                             const std::vector<machine::KernelParameter>& parameters) {
  if (parameters.size() != values.size()) {
    return Error{
        fmt::format("the kernel has {} parameters, the description {}", parameters.size(), values.size()),
        spec.arguments_place};
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (parameters[i].bytes == values[i].size()) continue;
    return Error{fmt::format("the parameter '{}' has {} bytes, the value {}", parameters[i].name,
                             parameters[i].bytes, values[i].size()),
                 spec.arguments[i].place};
  }
  return {};
}

}  // namespace sluice::cli
