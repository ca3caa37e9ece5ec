// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Element types of buffers and scalars in launch descriptions: values as people write them, bits as memory
// holds them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "cli/located_json.hpp"

namespace sluice::cli {

enum class Element : uint8_t { U8, S8, U16, S16, U32, S32, U64, S64, E4M3, E5M2, F16, BF16, F32, F64 };

uint32_t size_of(Element element);
std::string_view name_of(Element element);
std::optional<Element> element_named(std::string_view name);
inline bool is_integer(Element element) {
  return element <= Element::S64;
}

/// A value of the type as its bits: a number that the type holds (floating-point types round to nearest),
/// "nan", "inf", "-inf", or the bits themselves as "0x7fc00000".
Result<uint64_t> read_element(Element element, const Field& field);

/// Random values: whole numbers of [low, high), or floating-point numbers from low to high.
struct RandomRange {
  double low = 0, high = 0;       ///< of a floating-point type
  uint64_t first = 0, count = 0;  ///< of an integer type, modulo 2^64
};
RandomRange default_range(Element element);
Result<RandomRange> read_range(Element element, const Field& field);
/// The value that a uniformly random number of 53 bits stands for.
uint64_t random_element(Element element, const RandomRange& range, uint64_t random);

/// The element at `in` in figures that tell its bits, but for which NaN it is.
std::string text_of(Element element, const void* in);
/// Whether two elements differ by `tolerance` at most; a NaN equals any other.
bool equal_within(Element element, const void* a, const void* b, double tolerance);

}  // namespace sluice::cli
