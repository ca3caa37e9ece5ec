// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Values per type: see inputs.hpp.
#include "inputs.hpp"

#include <span>

namespace sluice::parity {
namespace {

using ptx::ScalarType;

constexpr uint64_t kIntegers64[] = {0,
                                    1,
                                    2,
                                    3,
                                    7,
                                    31,
                                    32,
                                    33,
                                    63,
                                    64,
                                    127,
                                    128,
                                    255,
                                    256,
                                    0x7fff,
                                    0x8000,
                                    0xffff,
                                    0x10000,
                                    0x7fffff,
                                    0x800000,
                                    0xffffff,
                                    0x1000000,
                                    0x7ffffffe,
                                    0x7fffffff,
                                    0x80000000,
                                    0x80000001,
                                    0xfffffffe,
                                    0xffffffff,
                                    0x100000000,
                                    0x7fffffffffffffff,
                                    0x8000000000000000,
                                    0x8000000000000001,
                                    0xfffffffffffffffe,
                                    0xffffffffffffffff,
                                    0xffffffff80000000,
                                    0xffffffff7fffffff,
                                    0x5555555555555555,
                                    0xaaaaaaaaaaaaaaaa,
                                    0x0123456789abcdef,
                                    0x20000000000000,
                                    0x20000000000001,
                                    0x1000001,
                                    0x3fffffffffffffff};
constexpr uint64_t kF32[] = {
    0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001,
    0x7f800001, 0xff8abcde, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000,
    0x00800001, 0x7f7fffff, 0xff7fffff, 0x3f000000, 0xbf000000, 0x3fc00000, 0x40200000, 0xc0200000,
    0x3f7fffff, 0x3f800001, 0x4b000000, 0x4b000001, 0x4affffff, 0x4f000000, 0xcf000000, 0x4effffff,
    0x4f7fffff, 0x5f000000, 0xdf000000, 0x5effffff, 0x5f800000, 0x477fe000, 0x477ff000, 0x477fefff,
    0x43e00000, 0x43e80000, 0x47600000, 0x47680000, 0x33800000, 0x33000000, 0x33000001, 0x38800000,
    0x387fffff, 0x3b000000, 0x3aff0000, 0x7e800000, 0x7f000000, 0xfe800001, 0x41200000, 0x42f60000,
    0x43000000, 0xc3000000, 0x437f0000, 0x437f8000, 0x43800000, 0x3eaaaaab, 0x40490fdb, 0x3f808000,
    0x3f818000, 0x3f801000, 0x3f803000};
constexpr uint64_t kF64[] = {
    0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x7ff0000000000000,
    0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000123, 0x7ff0000000000001, 0xfff4567812345678,
    0x0000000000000001, 0x8000000000000001, 0x000fffffffffffff, 0x0010000000000000, 0x8010000000000001,
    0x7fefffffffffffff, 0xffefffffffffffff, 0x3fe0000000000000, 0x3ff8000000000000, 0x4004000000000000,
    0xc004000000000000, 0x3fefffffffffffff, 0x3ff0000000000001, 0x4330000000000000, 0x4330000000000001,
    0x41e0000000000000, 0xc1e0000000000000, 0x41dfffffffc00000, 0x43e0000000000000, 0xc3e0000000000000,
    0x43f0000000000000, 0x47efffffe0000000, 0x47efffffefffffff, 0x47effffff0000000, 0x3810000000000000,
    0x380fffffffffffff, 0x36a0000000000000, 0x3690000000000000, 0x3690000000000001, 0x3ff0000010000000,
    0x3ff0000030000000, 0x40effc0000000000, 0x40effdffffffffff, 0x40effe0000000000, 0x3f10000000000000,
    0x3e70000000000000, 0x3e60000000000000};
constexpr uint64_t kF16[] = {0x0000, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7c01,
                             0xfdab, 0x0001, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400, 0x0401, 0x7bff,
                             0xfbff, 0x3800, 0x3e00, 0x4100, 0xc100, 0x3bff, 0x3c01, 0x6400, 0x6401,
                             0x7800, 0xffff, 0x7fff, 0x5bf8, 0x5c00, 0x1400, 0x2e66};
constexpr uint64_t kBf16[] = {0x0000, 0x8000, 0x3f80, 0xbf80, 0x7f80, 0xff80, 0x7fc0, 0xffc1, 0x7f81,
                              0xffab, 0x0001, 0x8001, 0x007f, 0x807f, 0x0080, 0x8080, 0x0081, 0x7f7f,
                              0xff7f, 0x3f00, 0x3fc0, 0x4020, 0xc020, 0x3f7f, 0x3f81, 0x4b00, 0x4300,
                              0x4f00, 0xffff, 0x7fff, 0x5f00, 0x4380, 0x3380, 0x477f};

constexpr uint64_t kSpecialF32[] = {0x00800000, 0x80800000, 0x00800001, 0x00ffffff, 0x3f7fffff, 0xbf7fffff,
                                    0x3f7ffffe, 0x3f800000, 0x3f000000, 0x3f000001, 0x7e800000, 0x7e800001,
                                    0xfe800001, 0x7f000000, 0x80000000, 0x00000000, 0x7fc00000};
constexpr uint64_t kSpecialF16[] = {0x0400, 0x8400, 0x0401, 0x07ff, 0x3bff, 0xbbff, 0x3bfe,
                                    0x3c00, 0x3800, 0x3801, 0x7800, 0x7801, 0x7bff, 0x8000,
                                    0x0000, 0x7e00, 0x0001, 0x03ff, 0x1400};
constexpr uint64_t kSpecialBf16[] = {0x0080, 0x8080, 0x0081, 0x00ff, 0x3f7f, 0xbf7f, 0x3f7e,
                                     0x3f80, 0x3f00, 0x3f01, 0x7e80, 0x7e81, 0x7f7f, 0x8000,
                                     0x0000, 0x7fc0, 0x0001, 0x007f, 0x3300};
constexpr uint64_t kSpecialF64[] = {
    0x7ff8000000000aaa, 0xfff8000000000bbb, 0x7ff0000000000ccc, 0xfff0000000000ddd, 0x7ffc000000000111,
    0x7ff4000000000222, 0x3ff0000000000000, 0x7ff0000000000000, 0xfff0000000000000, 0x0000000000000000};

uint64_t pick(Random& random, std::span<const uint64_t> edges) {
  return edges[random.below(edges.size())];
}

/// A float with `exponent` and `mantissa` bits: an edge, random bits, or a number near one.
uint64_t make_float(Random& random, std::span<const uint64_t> edges, int exponent, int mantissa,
                    Flavour flavour) {
  const uint64_t bias = (uint64_t{1} << (exponent - 1)) - 1;
  const uint64_t fraction = random.next() & ((uint64_t{1} << mantissa) - 1);
  const uint64_t sign = (random.next() & 1) << (exponent + mantissa);
  const uint64_t kind = flavour == Flavour::Moderate ? 9 : random.below(10);
  if (kind < 5) return pick(random, edges);
  if (kind < 7) return random.next() & ((uint64_t{2} << (exponent + mantissa)) - 1);
  const uint64_t spread = flavour == Flavour::Moderate ? 3 : (kind == 7 ? 12 : 40);
  int64_t e = static_cast<int64_t>(bias) + static_cast<int64_t>(random.below(spread)) -
              static_cast<int64_t>(spread / 2);
  const auto top = static_cast<int64_t>((uint64_t{1} << exponent) - 2);
  e = e < 0 ? 0 : (e > top ? top : e);
  return sign | (static_cast<uint64_t>(e) << mantissa) | fraction;
}

uint64_t make_integer(Random& random, uint32_t bits, Flavour flavour) {
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  if (flavour == Flavour::Moderate) return random.next() & mask;
  if (flavour == Flavour::Amount) {
    const uint64_t kind = random.below(10);
    if (kind < 5) return random.below(34) & mask;
    if (kind < 8) return random.below(70) & mask;
  } else if (flavour == Flavour::Lane) {
    return random.below(32);
  }
  switch (random.below(5)) {
    case 0:
    case 1:
      return pick(random, kIntegers64) & mask;
    case 2:
      return (uint64_t{0} - pick(random, kIntegers64)) & mask;
    case 3:
      return (random.next() >> random.below(bits)) & mask;
    default:
      return random.next() & mask;
  }
}

}  // namespace

uint64_t hash_of(std::string_view text, uint64_t seed) {
  for (const char c : text) seed = (seed ^ static_cast<uint8_t>(c)) * 0x100000001b3ull;
  return seed;
}

uint64_t make_value(Random& random, ScalarType type, Flavour flavour) {
  switch (type) {
    case ScalarType::pred:
      return random.next() >> 63;
    case ScalarType::f16:
      if (flavour == Flavour::Special) return pick(random, kSpecialF16);
      return make_float(random, kF16, 5, 10, flavour);
    case ScalarType::bf16:
      if (flavour == Flavour::Special) return pick(random, kSpecialBf16);
      return make_float(random, kBf16, 8, 7, flavour);
    case ScalarType::f16x2: {
      const uint64_t low = make_value(random, ScalarType::f16, flavour);
      return low | (make_value(random, ScalarType::f16, flavour) << 16);
    }
    case ScalarType::bf16x2: {
      const uint64_t low = make_value(random, ScalarType::bf16, flavour);
      return low | (make_value(random, ScalarType::bf16, flavour) << 16);
    }
    case ScalarType::u16x2:
    case ScalarType::s16x2: {
      const uint64_t low = make_integer(random, 16, flavour);
      return low | (make_integer(random, 16, flavour) << 16);
    }
    case ScalarType::tf32:
    case ScalarType::f32:
      if (flavour == Flavour::Special) return pick(random, kSpecialF32);
      return make_float(random, kF32, 8, 23, flavour);
    case ScalarType::f64:
      if (flavour == Flavour::Special) return pick(random, kSpecialF64);
      return make_float(random, kF64, 11, 52, flavour);
    case ScalarType::e4m3:
    case ScalarType::e5m2: {
      if (flavour != Flavour::Moderate) return random.next() & 0xff;
      return (random.next() & 0x80) |
             (type == ScalarType::e4m3 ? 0x28 + random.below(32) : 0x34 + random.below(16));
    }
    case ScalarType::e4m3x2:
    case ScalarType::e5m2x2:
      return random.next() & 0xffff;
    default: {
      const uint32_t bits = ptx::bits_of(type);
      return make_integer(random, bits == 0 || bits > 64 ? 64 : bits, flavour);
    }
  }
}

}  // namespace sluice::parity
