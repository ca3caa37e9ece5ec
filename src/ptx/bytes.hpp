// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading little-endian fields out of a byte range that nobody vouches for. Every access is checked; what
// lies outside reads as "nothing".
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

namespace sluice::ptx {

using Bytes = std::span<const std::byte>;

/// [offset, offset + size) of `bytes`, or nothing where that is not wholly inside.
inline std::optional<Bytes> slice(Bytes bytes, uint64_t offset, uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return std::nullopt;
  return bytes.subspan(static_cast<size_t>(offset), static_cast<size_t>(size));
}

/// The integer at `offset`, in the file's (and our hosts') byte order.
template <class T>
std::optional<T> read(Bytes bytes, uint64_t offset) {
  const auto at = slice(bytes, offset, sizeof(T));
  if (!at) return std::nullopt;
  T value;
  std::memcpy(&value, at->data(), sizeof(T));
  return value;
}

/// The zero-terminated string at `offset`; without a zero up to the end.
inline std::string_view read_string(Bytes bytes, uint64_t offset) {
  if (offset >= bytes.size()) return {};
  const char* begin = reinterpret_cast<const char*>(bytes.data()) + offset;
  return {begin, strnlen(begin, bytes.size() - static_cast<size_t>(offset))};
}

}  // namespace sluice::ptx
