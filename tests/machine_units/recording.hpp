// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// How a recording keeps the outputs of an experiment. Short ones stand there as hexadecimal digits, of longer
// ones, which are random bytes in other places, each block of 1024 bytes is a hash.
// Bytes that a GPU leaves undefined count as zeros. C++17, standard library only.
#pragma once

#include <algorithm>
#include <string>

#include "hardware_case.hpp"

namespace sluice::hardware {

constexpr size_t kRecordedBlock = 1024;
constexpr size_t kMostVerbatim = 512;  ///< bytes of an output that stands there as it is

inline std::string hex_of(const uint8_t* bytes, size_t count) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    text += digits[bytes[i] >> 4];
    text += digits[bytes[i] & 15];
  }
  return text;
}

inline Bytes bytes_of_hex(const std::string& text) {
  Bytes bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2)
    bytes.push_back(static_cast<uint8_t>(std::stoi(text.substr(i, 2), nullptr, 16)));
  return bytes;
}

/// FNV-1a.
inline uint64_t hash_of(const uint8_t* bytes, size_t count) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (size_t i = 0; i < count; ++i) hash = (hash ^ bytes[i]) * 0x100000001b3ull;
  return hash;
}

/// Output `index` of the case as a recording has it: its blocks, separated by commas.
inline std::string condensed(const Case& c, size_t index, Bytes bytes) {
  if (index == 0) {
    for (const auto& [first, count] : c.undefined) std::fill_n(bytes.begin() + first, count, uint8_t{0});
  }
  if (bytes.size() <= kMostVerbatim) return hex_of(bytes.data(), bytes.size());
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += kRecordedBlock) {
    const uint64_t hash = hash_of(bytes.data() + at, std::min(kRecordedBlock, bytes.size() - at));
    uint8_t big_end_first[8];
    for (int i = 0; i < 8; ++i) big_end_first[i] = static_cast<uint8_t>(hash >> (56 - 8 * i));
    text += (at == 0 ? "" : ",") + hex_of(big_end_first, 8);
  }
  return text;
}

}  // namespace sluice::hardware
