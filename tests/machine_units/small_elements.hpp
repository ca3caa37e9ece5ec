// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Contents of tensors for experiments that compute with them.
#pragma once

#include "hardware_case.hpp"

namespace sluice::hardware {

/// Random elements of a moderate size, so that sums and comparisons mean something.
inline Bytes small_elements(uint64_t seed, int type, size_t count) {
  Bytes bytes = random_bytes(seed, count);
  Random random(seed ^ 77);
  for (size_t i = 0; i + 8 <= count; i += element_bytes(type)) {
    const auto r = static_cast<uint32_t>(random.next() >> 32);
    switch (type) {
      case 6:  // f16: exponents around 1, now and then a special value
        put(bytes, i,
            static_cast<uint16_t>(r % 16 == 0 ? r >> 16 : (r & 0x83ff) | (10 + (r >> 16) % 10) << 10));
        break;
      case 9:  // bf16
        put(bytes, i,
            static_cast<uint16_t>(r % 16 == 0 ? r >> 16 : (r & 0x807f) | (122 + (r >> 16) % 10) << 7));
        break;
      case 7:
      case 10:
      case 11:
      case 12:  // f32
        put(bytes, i,
            r % 16 == 0 ? static_cast<uint32_t>(random.next())
                        : (r & 0x807fffff) | (120 + random.below(14)) << 23);
        break;
      case 8:  // f64
        put(bytes, i, (random.next() & 0x800fffffffffffffull) | (uint64_t{1018} + random.below(10)) << 52);
        break;
      case 2:
      case 3:
        put(bytes, i, r % 8 == 0 ? r : r & 0xff);
        break;
      default:
        break;
    }
  }
  return bytes;
}

/// 32-bit floating-point numbers that conversions treat apart: ties, subnormal numbers, the largest numbers,
/// infinities, NaNs.
inline Bytes special_singles(uint64_t seed, size_t count) {
  static const uint32_t values[] = {
      0x3f801000, 0x3f803000, 0x3f800fff, 0x3f801001, 0xbf801000, 0xbf803000, 0x3f802fff, 0x3f803001,
      0x00000001, 0x00000fff, 0x00001000, 0x00001001, 0x00003000, 0x80001000, 0x807fffff, 0x007ff000,
      0x007fefff, 0x7f7fffff, 0x7f7ff000, 0x7f7fefff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7f800001,
      0x7f801000, 0x7fc00000, 0xffc01234, 0x7fffffff, 0xff800001, 0x00000000, 0x80000000, 0x00800000};
  Random random(seed);
  Bytes bytes(count);
  for (size_t i = 0; i + 4 <= count; i += 4) put(bytes, i, values[random.below(32)]);
  return bytes;
}

}  // namespace sluice::hardware
