// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies by single threads, global to shared memory, from Ampere on (PTX ISA, "cp.async"): issue, group,
// wait, or arrive at an mbarrier when they have landed.
#pragma once

#include "sluice/arch/config.hpp"
#include "sluice/arch/shared_address.hpp"

namespace sluice::ptx {

/// Starts a copy of 4, 8 or 16 bytes; both addresses are aligned to the size. 4 and 8 go through L1 (.ca), 16
/// past it (.cg). Any thread; does not block. PTX: cp.async.ca / cp.async.cg
template <int Bytes>
SLUICE_DEVICE void cp_async(void* destination, void const* source) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp.async copies 4, 8 or 16 bytes");
  if constexpr (Bytes == 16) {
    SLUICE_PTX("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(destination)), "l"(source)
               : "memory");
  } else {
    SLUICE_PTX("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address(destination)), "l"(source),
               "n"(Bytes)
               : "memory");
  }
}

/// The same; only the first `valid_bytes` (0 to Bytes) are read, the rest is written as zero.
/// PTX: cp.async with src-size
template <int Bytes>
SLUICE_DEVICE void cp_async_zfill(void* destination, void const* source, uint32_t valid_bytes) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp.async copies 4, 8 or 16 bytes");
  if constexpr (Bytes == 16) {
    SLUICE_PTX("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(destination)),
               "l"(source), "r"(valid_bytes)
               : "memory");
  } else {
    SLUICE_PTX("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared_address(destination)),
               "l"(source), "n"(Bytes), "r"(valid_bytes)
               : "memory");
  }
}

/// Puts this thread's copies since the last call into one group. PTX: cp.async.commit_group
SLUICE_DEVICE void cp_async_commit_group() {
  SLUICE_PTX("cp.async.commit_group;" ::: "memory");
}

/// Blocks until at most `Pending` of this thread's newest groups are in flight. PTX: cp.async.wait_group
template <int Pending>
SLUICE_DEVICE void cp_async_wait_group() {
  SLUICE_PTX("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}

/// Blocks until all of this thread's copies have landed. PTX: cp.async.wait_all
SLUICE_DEVICE void cp_async_wait_all() {
  SLUICE_PTX("cp.async.wait_all;" ::: "memory");
}

/// Arrives at `barrier` once this thread's earlier copies have landed. The arrival is added to the pending
/// count first, so the phase's net count does not change. PTX: cp.async.mbarrier.arrive.shared::cta.b64
SLUICE_DEVICE void cp_async_mbarrier_arrive(uint64_t const* barrier) {
  SLUICE_PTX("cp.async.mbarrier.arrive.shared::cta.b64 [%0];" ::"r"(shared_address(barrier)) : "memory");
}

/// The same, and the arrival is one of those that the barrier was initialised for.
/// PTX: cp.async.mbarrier.arrive.noinc.shared::cta.b64
SLUICE_DEVICE void cp_async_mbarrier_arrive_noinc(uint64_t const* barrier) {
  SLUICE_PTX("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(barrier))
             : "memory");
}

}  // namespace sluice::ptx
