// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Where a CTA stands in its cluster, the cluster barrier, and stores into a peer's shared memory (PTX ISA,
// "Special Registers", "barrier.cluster", "st.async").
#pragma once

#include "sluice/arch/config.hpp"
#include "sluice/arch/shared_address.hpp"

namespace sluice::ptx {

/// Position of this CTA in its cluster. PTX: %cluster_ctaid
SLUICE_DEVICE uint32_t cluster_ctaid_x() {
  uint32_t value = 0;
  SLUICE_PTX_PURE("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(value));
  return value;
}
SLUICE_DEVICE uint32_t cluster_ctaid_y() {
  uint32_t value = 0;
  SLUICE_PTX_PURE("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(value));
  return value;
}
SLUICE_DEVICE uint32_t cluster_ctaid_z() {
  uint32_t value = 0;
  SLUICE_PTX_PURE("mov.u32 %0, %%cluster_ctaid.z;" : "=r"(value));
  return value;
}

/// Extent of the cluster in CTAs. PTX: %cluster_nctaid
SLUICE_DEVICE uint32_t cluster_nctaid_x() {
  uint32_t value = 0;
  SLUICE_PTX_PURE("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(value));
  return value;
}
SLUICE_DEVICE uint32_t cluster_nctaid_y() {
  uint32_t value = 0;
  SLUICE_PTX_PURE("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(value));
  return value;
}
SLUICE_DEVICE uint32_t cluster_nctaid_z() {
  uint32_t value = 0;
  SLUICE_PTX_PURE("mov.u32 %0, %%cluster_nctaid.z;" : "=r"(value));
  return value;
}

/// Rank of this CTA in its cluster: x + extent_x * (y + extent_y * z). PTX: %cluster_ctarank
SLUICE_DEVICE uint32_t cluster_ctarank() {
  uint32_t value = 0;
  SLUICE_PTX_PURE("mov.u32 %0, %%cluster_ctarank;" : "=r"(value));
  return value;
}

/// Number of CTAs of the cluster. PTX: %cluster_nctarank
SLUICE_DEVICE uint32_t cluster_nctarank() {
  uint32_t value = 0;
  SLUICE_PTX_PURE("mov.u32 %0, %%cluster_nctarank;" : "=r"(value));
  return value;
}

/// Arrives at the cluster barrier, releasing earlier accesses. All threads of all CTAs, each exactly once
/// before barrier_cluster_wait. Does not block. PTX: barrier.cluster.arrive.release.aligned
SLUICE_DEVICE void barrier_cluster_arrive() {
  SLUICE_PTX("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

/// The same without releasing anything: enough after fence_mbarrier_init.
/// PTX: barrier.cluster.arrive.relaxed.aligned
SLUICE_DEVICE void barrier_cluster_arrive_relaxed() {
  SLUICE_PTX("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}

/// Blocks until all threads of the cluster have arrived, and acquires what they released.
/// PTX: barrier.cluster.wait.acquire.aligned
SLUICE_DEVICE void barrier_cluster_wait() {
  SLUICE_PTX("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// Both together. All threads of the cluster; blocks.
SLUICE_DEVICE void barrier_cluster_sync() {
  barrier_cluster_arrive();
  barrier_cluster_wait();
}

/// Stores 4 bytes into shared memory of the CTA of rank `cta_rank`, at the place of `destination` here, and
/// completes 4 bytes on the barrier at the place of `barrier` there. Does not block. PTX:
/// st.async.shared::cluster.mbarrier::complete_tx::bytes.u32
SLUICE_DEVICE void st_async(uint32_t* destination, uint32_t value, uint64_t const* barrier,
                            uint32_t cta_rank) {
  SLUICE_PTX("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(
                 mapa(shared_address(destination), cta_rank)),
             "r"(value), "r"(mapa(shared_address(barrier), cta_rank))
             : "memory");
}

}  // namespace sluice::ptx
