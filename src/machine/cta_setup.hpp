// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes the state of a cluster when it becomes resident: CTAs, warps, their first frame and split.
#pragma once

#include <memory>

#include "machine/state.hpp"

namespace sluice::machine {

/// A warp's register storage never grows beyond this (deep recursion ends earlier, at the stack limit).
constexpr uint32_t kMaxRegisterBytes = uint32_t{64} << 20;

/// The cluster with linear index `index` of the launch, ready to run. `spare`: null, or one of the same
/// launch that has ended, whose memory is used again.
std::unique_ptr<Cluster> make_cluster(Worker& worker, const LaunchContext& launch, uint64_t index,
                                      std::unique_ptr<Cluster> spare);

/// Grows the register storage of a warp to hold `bytes` of frames, 64-byte aligned. Cached pointers become
/// stale.
void reserve_registers(Warp& warp, uint32_t bytes);

}  // namespace sluice::machine
