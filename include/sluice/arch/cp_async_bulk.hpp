// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Bulk copies of plain bytes by the copy engine (PTX ISA, "cp.async.bulk", "cp.reduce.async.bulk"). Addresses
// and sizes are multiples of 16. Loads complete on an mbarrier, stores in groups of the issuing thread. One
// thread issues; nothing blocks but the waits.
#pragma once

#include "sluice/arch/config.hpp"
#include "sluice/arch/shared_address.hpp"

namespace sluice::ptx {

/// What the copy engine asks of L2, as the opaque 64-bit policies that createpolicy would make.
enum class CachePolicy : uint64_t {
  EvictNormal = 0x1000000000000000,
  EvictFirst = 0x12F0000000000000,
  EvictLast = 0x14F0000000000000,
};

/// Copies `bytes` from global to shared memory of this CTA and completes them on `barrier`.
/// PTX: cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes
SLUICE_DEVICE void cp_async_bulk(void* destination, void const* source, uint32_t bytes,
                                 uint64_t const* barrier) {
  SLUICE_PTX("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                 shared_address(destination)),
             "l"(source), "r"(bytes), "r"(shared_address(barrier))
             : "memory");
}

/// The same with a cache policy. PTX: ...L2::cache_hint
SLUICE_DEVICE void cp_async_bulk(void* destination, void const* source, uint32_t bytes,
                                 uint64_t const* barrier, CachePolicy policy) {
  SLUICE_PTX(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1], %2, [%3], %4;" ::"r"(shared_address(destination)),
      "l"(source), "r"(bytes), "r"(shared_address(barrier)), "l"(static_cast<uint64_t>(policy))
      : "memory");
}

/// Copies into the same place of every CTA whose bit is set in `cta_mask`, and completes the bytes on the
/// barrier at the same place there. PTX: ...multicast::cluster
SLUICE_DEVICE void cp_async_bulk_multicast(void* destination, void const* source, uint32_t bytes,
                                           uint64_t const* barrier, uint16_t cta_mask) {
  SLUICE_PTX(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1], %2, [%3], %4;" ::"r"(shared_address(destination)),
      "l"(source), "r"(bytes), "r"(shared_address(barrier)), "h"(cta_mask)
      : "memory");
}

/// Copies from this CTA's shared memory to the same window of the CTA of rank `cta_rank`: `destination` and
/// `barrier` name places here and are mapped there. PTX: cp.async.bulk.shared::cluster.shared::cta
SLUICE_DEVICE void cp_async_bulk_remote(void* destination, void const* source, uint32_t bytes,
                                        uint64_t const* barrier, uint32_t cta_rank) {
  SLUICE_PTX(
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          mapa(shared_address(destination), cta_rank)),
      "r"(shared_address(source)), "r"(bytes), "r"(mapa(shared_address(barrier), cta_rank))
      : "memory");
}

/// Copies from shared to global memory, in the thread's current bulk group.
/// PTX: cp.async.bulk.global.shared::cta.bulk_group
SLUICE_DEVICE void cp_async_bulk_store(void* destination, void const* source, uint32_t bytes) {
  SLUICE_PTX("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(destination),
             "r"(shared_address(source)), "r"(bytes)
             : "memory");
}

/// Adds `bytes` of float elements in shared memory to those in global memory, atomically per element.
/// PTX: cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32
SLUICE_DEVICE void cp_reduce_async_bulk_add(float* destination, float const* source, uint32_t bytes) {
  SLUICE_PTX("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(destination),
             "r"(shared_address(source)), "r"(bytes)
             : "memory");
}

/// Fetches `bytes` of global memory into L2. PTX: cp.async.bulk.prefetch.L2.global
SLUICE_DEVICE void cp_async_bulk_prefetch(void const* source, uint32_t bytes) {
  SLUICE_PTX("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(source), "r"(bytes) : "memory");
}

/// Closes the thread's current bulk group. PTX: cp.async.bulk.commit_group
SLUICE_DEVICE void cp_async_bulk_commit_group() {
  SLUICE_PTX("cp.async.bulk.commit_group;" ::: "memory");
}

/// Blocks until at most `Pending` of the thread's newest groups have not finished writing.
/// PTX: cp.async.bulk.wait_group
template <int Pending>
SLUICE_DEVICE void cp_async_bulk_wait_group() {
  SLUICE_PTX("cp.async.bulk.wait_group %0;" ::"n"(Pending) : "memory");
}

/// Blocks until at most `Pending` of the thread's newest groups still read their sources: shared memory of
/// the older ones may be reused. PTX: cp.async.bulk.wait_group.read
template <int Pending>
SLUICE_DEVICE void cp_async_bulk_wait_group_read() {
  SLUICE_PTX("cp.async.bulk.wait_group.read %0;" ::"n"(Pending) : "memory");
}

}  // namespace sluice::ptx
