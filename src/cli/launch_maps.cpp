// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensor maps of launch descriptions. The driver's rules are checked when the map is made; that the tensor
// lies inside its buffer is checked here.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "cli/launch_spec.hpp"

namespace sluice::cli {
namespace {

constexpr uint64_t kMostExtent = uint64_t{1} << 40;
constexpr size_t kMostRank = 5;

// The index of a member's word; 0, which is the default, where it is absent.
Result<uint8_t> word(const Field& field, std::string_view name,
                     std::initializer_list<std::string_view> words) {
  const auto member = field.find(name);
  if (!member) return uint8_t{0};
  return member->one_of(words);
}

template <class T, size_t N>
Result<void> take_list(const Field& field, size_t entries, std::array<T, N>& out) {
  const uint64_t most = std::min<uint64_t>(kMostExtent, std::numeric_limits<T>::max());
  SLUICE_ASSIGN_OR_RETURN(const auto list, field.wholes(entries, entries, 0, most));
  std::transform(list.begin(), list.end(), out.begin(), [](uint64_t n) { return static_cast<T>(n); });
  return {};
}

// Bytes of a row along the innermost dimension, which in an interleaved layout counts slices.
uint64_t row_bytes(const machine::TensorMapInfo& info) {
  if (info.interleave != 0) return info.dims[0] * (info.interleave == 1 ? 16 : 32);
  return info.dims[0] * machine::element_bits(info.type) / 8;
}

// Without strides the tensor has no gaps.
void close_gaps(machine::TensorMapInfo& info) {
  uint64_t bytes = row_bytes(info);
  for (size_t i = 0; i + 1 < info.rank; ++i) {
    info.strides[i] = bytes;
    bytes *= info.dims[i + 1];
  }
}

Result<void> read_extents(const Field& field, machine::TensorMapInfo& info) {
  SLUICE_ASSIGN_OR_RETURN(const Field dims, field.need("dims"));
  SLUICE_ASSIGN_OR_RETURN(const auto extents, dims.wholes(1, kMostRank, 1, uint64_t{1} << 32));
  const size_t rank = extents.size();
  info.rank = static_cast<uint8_t>(rank);
  std::copy(extents.begin(), extents.end(), info.dims.begin());
  SLUICE_ASSIGN_OR_RETURN(const Field box, field.need("box"));
  SLUICE_TRY(take_list(box, rank, info.box));
  if (const auto strides = field.find("strides"))
    SLUICE_TRY(take_list(*strides, rank - 1, info.strides));
  else
    close_gaps(info);
  std::fill_n(info.steps.begin(), rank, 1u);
  if (const auto steps = field.find("element_strides")) SLUICE_TRY(take_list(*steps, rank, info.steps));
  return {};
}

// Bytes from the tensor's first to behind its last element.
unsigned __int128 span_of(const machine::TensorMapInfo& info) {
  unsigned __int128 bytes = row_bytes(info);
  for (size_t i = 0; i + 1 < info.rank; ++i)
    bytes += static_cast<unsigned __int128>(info.dims[i + 1] - 1) * info.strides[i];
  return bytes;
}

}  // namespace

Result<TensorMapSpec> read_tensor_map(const std::string& name, const Field& field, const LaunchSpec& spec) {
  SLUICE_TRY(field.only({"buffer", "offset", "type", "dims", "strides", "box", "element_strides", "swizzle",
                         "interleave", "l2_promotion", "fill"}));
  TensorMapSpec map;
  map.name = name;
  map.place = field.place();
  SLUICE_ASSIGN_OR_RETURN(const BufferSpec* buffer, read_buffer_place(field, spec, &map.offset));
  map.buffer = buffer->name;
  SLUICE_TRY(field.need("type"));
  SLUICE_ASSIGN_OR_RETURN(const uint8_t type, word(field, "type",
                                                   {"u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32",
                                                    "f64", "bf16", "f32_ftz", "tf32", "tf32_ftz"}));
  map.info.type = static_cast<machine::TensorType>(type);
  SLUICE_ASSIGN_OR_RETURN(map.info.swizzle, word(field, "swizzle", {"none", "32B", "64B", "128B"}));
  SLUICE_ASSIGN_OR_RETURN(map.info.interleave, word(field, "interleave", {"none", "16B", "32B"}));
  SLUICE_ASSIGN_OR_RETURN(map.info.l2_promotion,
                          word(field, "l2_promotion", {"none", "64B", "128B", "256B"}));
  SLUICE_ASSIGN_OR_RETURN(map.info.fill, word(field, "fill", {"zero", "nan"}));
  SLUICE_TRY(read_extents(field, map.info));
  const uint64_t room = buffer->bytes() - map.offset;
  if (const auto span = span_of(map.info); span > room) {
    return field.wrong(
        fmt::format("the tensor reaches over {} bytes, the buffer '{}' has {} from the offset on",
                    span > ~uint64_t{0} ? "more than 2^64" : std::to_string(static_cast<uint64_t>(span)),
                    buffer->name, room));
  }
  return map;
}

}  // namespace sluice::cli
