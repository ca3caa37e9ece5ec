// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The address map of the machine. Device memory is real host memory in one arena at a fixed address, so that
// host and kernel use the same pointers and two runs give the same addresses. Shared and local memory appear
// in generic addressing through two windows that no host mapping can occupy.
//
// MODEL: the values are ours. A GPU's windows lie elsewhere; programs may not depend on them (PTX ISA,
// "Generic Addressing").
#pragma once

#include <cstddef>
#include <cstdint>

#include "event/address.hpp"

namespace sluice::machine {

/// The arena of device memory: global variables, allocations, parameter buffers, constant banks.
constexpr uint64_t kArenaBase = 0x2000'0000'0000;

/// Generic window of shared memory. Its low 32 bits are a shared address: the CTA's rank in its cluster from
/// bit 24 on, the offset in that CTA's shared memory below. The address of a shared variable carries the rank
/// of the executing CTA (as on an H200, where the compiler adds `%cluster_ctarank << 24`), so it is a
/// `shared::cluster` address as it stands.
using event::is_local_address;
using event::is_shared_address;
using event::kSharedOffsetMask;
using event::kSharedRankShift;
using event::kSharedWindow;
using event::kSharedWindowBytes;

/// Generic window of local memory: the low 32 bits are the thread's local address.
using event::kLocalWindow;
using event::kLocalWindowBytes;

/// The system reserves the first KiB of a CTA's shared memory (`%reserved_smem_offset_end`).
constexpr uint32_t kReservedShared = 1024;

constexpr int kLanes = 32;
constexpr uint32_t kAllLanes = 0xffffffffu;

}  // namespace sluice::machine
