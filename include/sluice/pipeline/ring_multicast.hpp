// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Who sends to whom in a cluster: the CTAs that a multicast tile goes to, the share of it that each of them
// loads, and the CTAs that must hear when a stage has been drained. Pure arithmetic on ranks; unit_layer2
// checks on every rank that both sides agree.
#pragma once

#include "sluice/pipeline/ring_facts.hpp"

namespace sluice::detail {

/// What one CTA does for a multicast tile: it loads share number `share` and sends it to the CTAs of `mask`.
struct MulticastPlace {
  uint32_t share;
  uint16_t mask;
};

/// The place of the CTA of rank `rank` for a tile that is multicast along `kAlong`.
template <class Facts, Along kAlong>
SLUICE_HOST_DEVICE constexpr MulticastPlace multicast_place(uint32_t rank) {
  using Extent = typename Facts::Extent;
  constexpr uint32_t kX = Extent::kX;
  constexpr uint32_t kY = Extent::kY;
  const uint32_t x = cluster_x<Extent>(rank);
  const uint32_t y = cluster_y<Extent>(rank);
  if constexpr (kAlong == Along::X) {
    return {x, static_cast<uint16_t>(((1u << kX) - 1) << (y * kX))};
  } else if constexpr (kAlong == Along::Y) {
    uint32_t column = 0;
    for (uint32_t i = 0; i < kY; ++i) column |= 1u << (i * kX);
    return {y, static_cast<uint16_t>(column << x)};
  } else {
    return {rank, static_cast<uint16_t>((1u << Extent::kSize) - 1)};
  }
}

/// The rank of the CTA that lane `lane` (below Facts::kTargets) of a consumer warp in the CTA of rank `rank`
/// signals when it gives a stage back. The lanes together reach each CTA that refills stages of this one,
/// once.
template <class Facts>
SLUICE_HOST_DEVICE constexpr uint32_t refilling_cta(uint32_t rank, uint32_t lane) {
  using Extent = typename Facts::Extent;
  constexpr uint32_t kX = Extent::kX;
  const uint32_t x = cluster_x<Extent>(rank);
  const uint32_t y = cluster_y<Extent>(rank);
  if constexpr (Facts::kTargets == Extent::kSize) {
    return lane;
  } else if constexpr (!Facts::kRefillY) {
    return lane + y * kX;
  } else if constexpr (!Facts::kRefillX) {
    return x + lane * kX;
  } else {
    // The row first, then the column without this CTA.
    const uint32_t other = lane - kX;
    return lane < kX ? lane + y * kX : x + (other + (other >= y)) * kX;
  }
}

}  // namespace sluice::detail
