// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Order around warpgroup matrix instructions (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions"):
// the fence before, the group after, the wait, and the trick that keeps accumulators where they are. The
// multiplications themselves are left to whoever knows the types (CUTLASS's atoms, or a kernel's own asm).
#pragma once

#include "sluice/arch/config.hpp"

namespace sluice::ptx {

/// Orders this warpgroup's register and shared accesses before its next wgmma. All 128 threads.
/// PTX: wgmma.fence.sync.aligned
SLUICE_DEVICE void wgmma_fence() {
  SLUICE_PTX_SM90A("wgmma.fence.sync.aligned;" ::: "memory");
}

/// Puts the wgmma issued since the last call into one group. All 128 threads. PTX:
/// wgmma.commit_group.sync.aligned
SLUICE_DEVICE void wgmma_commit_group() {
  SLUICE_PTX_SM90A("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/// Blocks until at most `Pending` (0 to 7) of the newest groups are in flight. All 128 threads.
/// PTX: wgmma.wait_group.sync.aligned
template <int Pending>
SLUICE_DEVICE void wgmma_wait_group() {
  static_assert(Pending >= 0 && Pending <= 7, "wgmma.wait_group takes 0 to 7 groups");
  SLUICE_PTX_SM90A("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

/// Tells the compiler that `accumulator` may change here, so that it does not move its uses across a wait.
/// No instruction.
SLUICE_DEVICE void wgmma_hold(float& accumulator) {
  SLUICE_PTX("" : "+f"(accumulator)::"memory");
}
SLUICE_DEVICE void wgmma_hold(uint32_t& accumulator) {
  SLUICE_PTX("" : "+r"(accumulator)::"memory");
}

}  // namespace sluice::ptx
