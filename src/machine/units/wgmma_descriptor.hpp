// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Matrix descriptors of wgmma: where in shared memory each 16-byte chunk of an operand lies. An operand is a
// matrix of `mn` (rows of A, columns of B) by K. K-major operands have chunks along K, the others along mn.
// Pure functions. PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions": "Shared Memory Matrix Layout",
// "Matrix Descriptor Format".
#pragma once

#include <cstdint>

namespace sluice::machine {

struct MatrixDescriptor {
  uint32_t start = 0;        ///< bytes, in the CTA's shared memory
  uint32_t leading = 0;      ///< leading dimension byte offset
  uint32_t stride = 0;       ///< stride dimension byte offset
  uint32_t base_offset = 0;  ///< rows by which the start lies behind the start of a swizzle pattern
  uint32_t span = 0;         ///< bytes that the swizzle permutes within; 0 = no swizzle

  static MatrixDescriptor decode(uint64_t bits) {
    constexpr uint32_t kSpans[] = {0, 128, 64, 32};
    MatrixDescriptor d;
    d.start = static_cast<uint32_t>(bits & 0x3fff) << 4;
    d.leading = static_cast<uint32_t>(bits >> 16 & 0x3fff) << 4;
    d.stride = static_cast<uint32_t>(bits >> 32 & 0x3fff) << 4;
    d.base_offset = static_cast<uint32_t>(bits >> 49 & 7);
    d.span = kSpans[bits >> 62];
    return d;
  }

  /// The address with the swizzle applied. Addresses have 18 bits.
  uint32_t place(uint32_t address) const {
    address &= 0x3ffff;
    if (span == 0) return address;
    const uint32_t mask = span / 16 - 1;
    return address ^ (((address >> 7) - base_offset) & mask) << 4;
  }

  /// K-major: chunk `chunk` (16 bytes along K) of row `mn`.
  uint32_t k_major(uint32_t mn, uint32_t chunk) const {
    const uint32_t group = start + mn / 8 * stride;
    if (span == 0) return place(group + chunk * leading + mn % 8 * 16);
    const uint32_t byte = chunk * 16;
    // Chunks behind the span lie one leading offset further on.
    return place(group + mn % 8 * span + byte % span + byte / span * leading);
  }

  /// MN-major, 16-bit elements: chunk `chunk` (8 elements along mn) at position `k`.
  uint32_t mn_major(uint32_t chunk, uint32_t k) const {
    if (span == 0) return place(start + chunk * stride + k / 8 * leading + k % 8 * 16);
    const uint32_t chunks = span / 16;
    return place(start + chunk / chunks * leading + chunk % chunks * 16 + k / 8 * stride + k % 8 * span);
  }
};

}  // namespace sluice::machine
