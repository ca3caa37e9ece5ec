// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Swizzles of shared memory: 16-byte chunks change places within a span of 32, 64 or 128 bytes, by an
// exclusive or with the number of the 128-byte line they lie in. The pattern belongs to the address, not to
// the tile: a tile that does not start on a multiple of the pattern's length starts in the middle of the
// pattern.
#pragma once

#include <cstdint>

namespace sluice::machine {

/// Address bits that a swizzle changes, moved to the place they are taken from. Modes as in
/// CUtensorMapSwizzle: 0 none, 1 within 32 bytes, 2 within 64, 3 within 128.
inline uint32_t swizzle_address(uint32_t address, uint8_t mode) {
  const uint32_t mask = (1u << mode) - 1;
  return address ^ (address >> 7 & mask) << 4;
}

}  // namespace sluice::machine
