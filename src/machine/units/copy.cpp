// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks that copies make when they are issued.
#include "machine/units/copy.hpp"

#include <fmt/format.h>

namespace sluice::machine {

bool resolve_shared(Warp& w, const Address& operand, uint32_t lane, uint64_t address, uint32_t bytes,
                    uint32_t alignment, uint32_t& out) {
  if (address % alignment != 0) {
    w.fault(FaultKind::MisalignedAddress,
            fmt::format("the shared address 0x{:x} of an asynchronous copy is not a multiple of {}", address,
                        alignment),
            lane, address, "tma-misaligned");
    return false;
  }
  const bool own = operand.window == Window::Shared;
  bool cluster = operand.window == Window::SharedCluster;
  if (operand.window == Window::Generic) cluster = is_shared_address(address);
  if (!own && !cluster) {
    w.fault(FaultKind::InvalidAddressSpace, "an address that must lie in shared memory does not", lane,
            address);
    return false;
  }
  const auto narrow = static_cast<uint32_t>(address);
  if (own) {
    if (shared_pointer(w, lane, narrow, bytes) == nullptr) return false;
    out = w.cta->rank << kSharedRankShift | (narrow & kSharedOffsetMask);
    return true;
  }
  out = narrow;
  if (w.worker().shared_owner(*w.cta, narrow) == nullptr) {
    w.fault(FaultKind::IllegalAddress,
            fmt::format("an asynchronous copy at the shared memory of rank {} of a cluster of {} CTAs",
                        narrow >> kSharedRankShift, w.cta->cluster->ctas.size()),
            lane, address, "multicast-mask-mismatch");
    return false;
  }
  return cluster_pointer(w, lane, narrow, bytes, nullptr) != nullptr;
}

bool is_lost(const Address& operand, uint64_t address) {
  constexpr uint32_t kWindowOfSm = 256 << 10;
  const bool shared = operand.window == Window::Shared || operand.window == Window::SharedCluster ||
                      (operand.window == Window::Generic && is_shared_address(address));
  return shared && address % 128 == 0 && (address & kSharedOffsetMask) >= kWindowOfSm;
}

bool take_multicast_mask(Warp& w, uint32_t lane, uint32_t operand, uint16_t& mask) {
  mask = static_cast<uint16_t>(operand);
  const size_t ctas = w.cta->cluster->ctas.size();
  if (mask >> ctas == 0) return true;
  w.fault(FaultKind::LaunchFailure,
          fmt::format("the multicast mask 0x{:x} names a CTA that the cluster of {} has not", mask, ctas),
          lane, mask, "multicast-mask-mismatch");
  return false;
}

uint32_t bulk_group_of(Warp& w, uint32_t lane) {
  if (w.bulk_group.empty()) w.bulk_group.resize(kLanes);
  return w.bulk_group[lane];
}

}  // namespace sluice::machine
