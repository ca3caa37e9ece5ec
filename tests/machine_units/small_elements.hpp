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

}  // namespace sluice::hardware
