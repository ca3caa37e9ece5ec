// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Which thread signals which CTA when a stage is released in a cluster. With multicast a stage is filled from
// every CTA of the same row and column, so each of them needs one arrival per consumer warpgroup. The sixteen
// possible targets are shared out among the threads of a warpgroup, neighbouring ranks to different warps, so
// that a small cluster's signals do not all come from one warp; a single consumer warp shares them among its
// lanes.
#pragma once

#include "sluice/arch/config.hpp"
#include "sluice/pipeline/cluster_shape.hpp"

namespace sluice::detail {

/// The CTA that a thread signals, if it signals at all.
struct ReleaseTarget {
  uint32_t cta = 0;
  bool signals = false;
};

/// Can this number of consumer threads share the release in a cluster?
SLUICE_HOST_DEVICE constexpr bool is_spreadable(uint32_t num_consumers) {
  return num_consumers % kThreadsPerWarpgroup == 0 || num_consumers == kThreadsPerWarp;
}

/// The target of thread `thread` of its CTA, before asking whether the cluster needs it.
SLUICE_HOST_DEVICE constexpr ReleaseTarget spread_release(uint32_t thread, uint32_t num_consumers) {
  if (num_consumers % kThreadsPerWarpgroup == 0) {
    uint32_t const column = thread / 8 % 4;
    uint32_t const row = thread / kThreadsPerWarp % 4 ^ column;
    return {row * 4 + column, thread % 8 == 0};
  }
  return {thread % kThreadsPerWarp / 2, thread % 2 == 0 && num_consumers == kThreadsPerWarp};
}

/// Does the CTA at (`x`, `y`) of the cluster get its data together with the CTA of rank `cta`?
SLUICE_HOST_DEVICE constexpr bool shares_stage(uint32_t cta, ClusterExtent extent, uint32_t x, uint32_t y) {
  return (cta < extent.size()) & ((cta % extent.x == x) | (cta / extent.x == y));  // no branches
}

/// Arrivals that complete a release in every CTA: one per warpgroup and CTA of the row and column.
SLUICE_HOST_DEVICE constexpr uint32_t release_arrivals(uint32_t num_consumers, ClusterExtent extent) {
  if (extent.size() == 1) return num_consumers;
  uint32_t const warpgroups = (num_consumers + kThreadsPerWarpgroup - 1) / kThreadsPerWarpgroup;
  return (extent.x + extent.y - 1) * warpgroups;
}

}  // namespace sluice::detail
