// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The swizzles of a tensor copy, as enumeration and as a function on byte offsets. A swizzle permutes the
// 16-byte chunks of a row of 32, 64 or 128 bytes, differently from row to row, so that a column of chunks
// spreads over all banks. Source: PTX ISA, "Tensor Swizzle Modes"; unit_layer2 compares the function with the
// tables described there.
#pragma once

#include <cstdint>

#include "sluice/arch/config.hpp"

namespace sluice {

/// How a tensor copy lays a tile's rows into shared memory. The numbers are the driver's
/// (CUtensorMapSwizzle).
enum class Swizzle : unsigned {
  None = 0,  ///< rows as they are
  B32 = 1,   ///< 16-byte chunks permuted within 32 bytes; the pattern repeats after 256
  B64 = 2,   ///< 16-byte chunks permuted within 64 bytes; the pattern repeats after 512
  B128 = 3,  ///< 16-byte chunks permuted within 128 bytes; the pattern repeats after 1024
};

/// The bytes that a swizzle permutes within: the length of a row. 0 for none.
SLUICE_HOST_DEVICE constexpr std::uint32_t swizzle_span_bytes(Swizzle swizzle) {
  return swizzle == Swizzle::None ? 0 : 16u << static_cast<unsigned>(swizzle);
}

/// The bytes after which a swizzle's pattern repeats: the alignment that a swizzled tile needs. 128, what any
/// tensor copy asks for, without a swizzle.
SLUICE_HOST_DEVICE constexpr std::uint32_t swizzle_alignment_bytes(Swizzle swizzle) {
  return swizzle == Swizzle::None ? 128 : 8 * swizzle_span_bytes(swizzle);
}

/// Where the byte at `offset` of an unswizzled tile lies in the swizzled one; its own inverse. The tile
/// starts at a multiple of `swizzle_alignment_bytes`.
SLUICE_HOST_DEVICE constexpr std::uint32_t swizzled(Swizzle swizzle, std::uint32_t offset) {
  // The chunk number (bits 4 and up) is xor-ed with the number of the 128-byte line (bits 7 and up).
  const std::uint32_t chunk_mask = (1u << static_cast<unsigned>(swizzle)) - 1;
  return offset ^ (((offset >> 7) & chunk_mask) << 4);
}

}  // namespace sluice
