// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The two windows of generic addressing, which whoever receives events must know to tell what an address
// means. MODEL: the values are ours; a GPU's windows lie elsewhere, and programs may not depend on them (PTX
// ISA, "Generic Addressing").
#pragma once

#include <cstdint>

namespace sluice::event {

/// Generic window of shared memory. Its low 32 bits are a `shared::cluster` address: the CTA's rank in its
/// cluster from bit 24 on, the offset in that CTA's shared memory below.
constexpr uint64_t kSharedWindow = 0x1100'0000'0000;
constexpr uint64_t kSharedWindowBytes = uint64_t{1} << 32;
constexpr uint32_t kSharedRankShift = 24;
constexpr uint32_t kSharedOffsetMask = (uint32_t{1} << kSharedRankShift) - 1;

/// Generic window of local memory: the low 32 bits are the thread's local address.
constexpr uint64_t kLocalWindow = 0x1200'0000'0000;
constexpr uint64_t kLocalWindowBytes = uint64_t{1} << 32;

/// Generic addresses.
constexpr bool is_shared_address(uint64_t address) {
  return address - kSharedWindow < kSharedWindowBytes;
}
constexpr bool is_local_address(uint64_t address) {
  return address - kLocalWindow < kLocalWindowBytes;
}

/// Parts of a `shared::cluster` address, or of a generic one of shared memory.
constexpr uint32_t shared_rank(uint64_t address) {
  return static_cast<uint32_t>(address) >> kSharedRankShift;
}
constexpr uint32_t shared_offset(uint64_t address) {
  return static_cast<uint32_t>(address) & kSharedOffsetMask;
}

}  // namespace sluice::event
