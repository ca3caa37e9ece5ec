// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Element types of launch descriptions, converted by the toolkit's own host functions.
#include "cli/launch_elements.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace sluice::cli {
namespace {

using Wide = __int128;  // holds every value of every integer type

struct ElementFacts {
  std::string_view name;
  uint32_t size;
  double largest;  // finite value of a floating-point type
  uint64_t nan, infinity;
};

constexpr std::array<ElementFacts, 14> kFacts{{
    {"u8", 1, 0, 0, 0},
    {"s8", 1, 0, 0, 0},
    {"u16", 2, 0, 0, 0},
    {"s16", 2, 0, 0, 0},
    {"u32", 4, 0, 0, 0},
    {"s32", 4, 0, 0, 0},
    {"u64", 8, 0, 0, 0},
    {"s64", 8, 0, 0, 0},
    {"e4m3", 1, 448, 0x7f, 0},  // has no infinity
    {"e5m2", 1, 57344, 0x7f, 0x7c},
    {"f16", 2, 65504, 0x7fff, 0x7c00},
    {"bf16", 2, 0x1.fep127, 0x7fff, 0x7f80},
    {"f32", 4, std::numeric_limits<float>::max(), 0x7fc00000, 0x7f800000},
    {"f64", 8, std::numeric_limits<double>::max(), 0x7ff8000000000000, 0x7ff0000000000000},
}};

const ElementFacts& facts(Element element) {
  return kFacts[static_cast<size_t>(element)];
}

uint32_t bits_of(Element element) {
  return 8 * size_of(element);
}

uint64_t mask_of(Element element) {
  return ~uint64_t{0} >> (64 - bits_of(element));
}

bool is_signed(Element element) {
  return is_integer(element) && static_cast<uint32_t>(element) % 2 == 1;
}

Wide least_of(Element element) {
  return is_signed(element) ? -(Wide{1} << (bits_of(element) - 1)) : 0;
}

Wide most_of(Element element) {
  return (Wide{1} << (bits_of(element) - is_signed(element))) - 1;
}

std::string text_of_whole(Wide value) {
  return value < 0 ? fmt::format("-{}", static_cast<uint64_t>(-value))
                   : fmt::format("{}", static_cast<uint64_t>(value));
}

// A number without point and exponent that 64 bits and a sign hold.
std::optional<Wide> whole_in(const Json& json) {
  if (json.kind != Json::Kind::Number) return std::nullopt;
  const bool is_negative = json.text[0] == '-';
  const char* const begin = json.text.data() + is_negative;
  const char* const end = json.text.data() + json.text.size();
  uint64_t magnitude = 0;
  const auto [stop, error] = std::from_chars(begin, end, magnitude);
  if (error != std::errc() || stop != end) return std::nullopt;
  return is_negative ? -Wide{magnitude} : Wide{magnitude};
}

std::string limits_of(Element element) {
  if (is_integer(element))
    return fmt::format("a whole number from {} to {}", text_of_whole(least_of(element)),
                       text_of_whole(most_of(element)));
  return fmt::format("a number from -{0:.6g} to {0:.6g}", facts(element).largest);
}

Error wrong_value(Element element, const Field& field) {
  const std::string_view words = is_integer(element)        ? ""
                                 : element == Element::E4M3 ? ", \"nan\""
                                                            : ", \"nan\", \"inf\", \"-inf\"";
  const Json& json = field.json();
  const bool has_text = json.kind == Json::Kind::Number || json.kind == Json::Kind::Text;
  const std::string found = has_text ? fmt::format(", not {}", json.text) : "";
  return field.wrong(fmt::format("{} takes {}{} or its bits as \"0x...\"{}", name_of(element),
                                 limits_of(element), words, found));
}

double value_of(Element element, uint64_t bits) {
  switch (element) {
    case Element::E4M3:
      return __half2float(__half(__nv_cvt_fp8_to_halfraw(static_cast<uint8_t>(bits), __NV_E4M3)));
    case Element::E5M2:
      return __half2float(__half(__nv_cvt_fp8_to_halfraw(static_cast<uint8_t>(bits), __NV_E5M2)));
    case Element::F16:
      return __half2float(std::bit_cast<__half>(static_cast<uint16_t>(bits)));
    case Element::BF16:
      return std::bit_cast<float>(static_cast<uint32_t>(bits << 16));
    case Element::F32:
      return std::bit_cast<float>(static_cast<uint32_t>(bits));
    default:
      return std::bit_cast<double>(bits);
  }
}

uint64_t rounded(Element element, double value) {
  switch (element) {
    case Element::E4M3:
      return __nv_cvt_double_to_fp8(value, __NV_SATFINITE, __NV_E4M3);
    case Element::E5M2:
      return __nv_cvt_double_to_fp8(value, __NV_SATFINITE, __NV_E5M2);
    case Element::F16:
      return std::bit_cast<uint16_t>(__double2half(value));
    case Element::BF16:
      return std::bit_cast<uint16_t>(__double2bfloat16(value));
    case Element::F32:
      return std::bit_cast<uint32_t>(static_cast<float>(value));
    default:
      return std::bit_cast<uint64_t>(value);
  }
}

bool is_eight_bits(Element element) {
  return element == Element::E4M3 || element == Element::E5M2;
}

// A finite number of a floating-point type; nothing where the type's largest is smaller.
std::optional<uint64_t> float_in(Element element, const Field& field) {
  const auto number = field.number();
  if (!number) return std::nullopt;
  // 8-bit conversions saturate where the others give an infinity.
  if (is_eight_bits(element) && std::abs(*number) > facts(element).largest) return std::nullopt;
  const uint64_t bits = rounded(element, *number);
  if (std::isinf(value_of(element, bits))) return std::nullopt;
  return bits;
}

std::optional<uint64_t> named_bits(Element element, const std::string& word) {
  const ElementFacts& known = facts(element);
  const uint64_t sign = uint64_t{1} << (bits_of(element) - 1);
  if (word == "nan" && known.nan != 0) return known.nan;
  if (word == "inf" && known.infinity != 0) return known.infinity;
  if (word == "-inf" && known.infinity != 0) return known.infinity | sign;
  if (!word.starts_with("0x")) return std::nullopt;
  uint64_t bits = 0;
  const auto [end, error] = std::from_chars(word.data() + 2, word.data() + word.size(), bits, 16);
  if (error != std::errc() || end != word.data() + word.size() || bits > mask_of(element))
    return std::nullopt;
  return bits;
}

uint64_t load_bits(Element element, const void* in) {
  uint64_t bits = 0;
  std::memcpy(&bits, in, size_of(element));
  return bits;
}

Wide whole_value(Element element, uint64_t bits) {
  if (!is_signed(element)) return bits;
  const uint32_t unused = 64 - bits_of(element);
  return static_cast<int64_t>(bits << unused) >> unused;
}

}  // namespace

uint32_t size_of(Element element) {
  return facts(element).size;
}

std::string_view name_of(Element element) {
  return facts(element).name;
}

std::optional<Element> element_named(std::string_view name) {
  for (size_t i = 0; i < kFacts.size(); ++i) {
    if (kFacts[i].name == name) return static_cast<Element>(i);
  }
  return std::nullopt;
}

Result<uint64_t> read_element(Element element, const Field& field) {
  std::optional<uint64_t> bits;
  if (field.is(Json::Kind::Text)) {
    bits = named_bits(element, field.json().text);
  } else if (!is_integer(element)) {
    bits = float_in(element, field);
  } else if (const auto value = whole_in(field.json());
             value && *value >= least_of(element) && *value <= most_of(element)) {
    bits = static_cast<uint64_t>(*value) & mask_of(element);
  }
  if (!bits) return wrong_value(element, field);
  return *bits;
}

RandomRange default_range(Element element) {
  RandomRange range;
  if (is_integer(element)) {
    range.count = 128;
  } else {
    range.low = -1, range.high = 1;
  }
  return range;
}

Result<RandomRange> read_range(Element element, const Field& field) {
  if (!field.is(Json::Kind::List) || field.size() != 2)
    return field.wrong("a list of two numbers is wanted here: low and high");
  RandomRange range;
  if (!is_integer(element)) {
    for (size_t i = 0; i < 2; ++i) {
      const auto number = field.item(i).number();
      if (!number || !float_in(element, field.item(i))) return wrong_value(element, field.item(i));
      (i == 0 ? range.low : range.high) = *number;
    }
    if (!(range.low < range.high)) return field.wrong("the first number must be below the second");
    return range;
  }
  const auto low = whole_in(field.item(0).json()), high = whole_in(field.item(1).json());
  if (!low || *low < least_of(element) || *low > most_of(element)) return wrong_value(element, field.item(0));
  // The second number itself is not among the values.
  const Wide highest = std::min(most_of(element) + 1, Wide{std::numeric_limits<uint64_t>::max()});
  if (!high || *high > highest)
    return field.item(1).wrong(fmt::format("a whole number up to {} is wanted here", text_of_whole(highest)));
  if (*low >= *high) return field.wrong("the first number must be below the second");
  range.first = static_cast<uint64_t>(*low);
  range.count = static_cast<uint64_t>(*high - *low);
  return range;
}

uint64_t random_element(Element element, const RandomRange& range, uint64_t random) {
  constexpr int kRandomBits = 53;
  if (is_integer(element)) {
    // A count of 2^64 is 0 here.
    const auto count = range.count == 0 ? static_cast<unsigned __int128>(1) << 64 : range.count;
    return (range.first + static_cast<uint64_t>(count * random >> kRandomBits)) & mask_of(element);
  }
  const double part = static_cast<double>(random) * 0x1p-53;
  return rounded(element, range.low * (1 - part) + range.high * part);
}

std::string text_of(Element element, const void* in) {
  const uint64_t bits = load_bits(element, in);
  if (is_integer(element)) return text_of_whole(whole_value(element, bits));
  const double value = value_of(element, bits);
  return element == Element::F64 ? fmt::format("{:.17g}", value) : fmt::format("{:.9g}", value);
}

bool equal_within(Element element, const void* a, const void* b, double tolerance) {
  const uint64_t bits_a = load_bits(element, a), bits_b = load_bits(element, b);
  if (bits_a == bits_b) return true;
  if (is_integer(element)) {
    const Wide difference = whole_value(element, bits_a) - whole_value(element, bits_b);
    return static_cast<long double>(difference < 0 ? -difference : difference) <= tolerance;
  }
  const double value_a = value_of(element, bits_a), value_b = value_of(element, bits_b);
  if (std::isnan(value_a) && std::isnan(value_b)) return true;
  return std::abs(value_a - value_b) <= tolerance;
}

}  // namespace sluice::cli
