// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The one place where the library blocks on an mbarrier. Bare by default. With SLUICE_WAIT_LIMIT_NS a wait
// that takes longer prints one line per warp (who waits, for which barrier, stage and phase, and where), goes
// on waiting so that every stuck warp can speak, and traps one limit later. Time is %globaltimer, in
// nanoseconds.
#pragma once

#include "sluice/arch/config.hpp"
#include "sluice/arch/mbarrier.hpp"

#if defined(SLUICE_WAIT_LIMIT_NS)
#include <cstdio>
#endif

namespace sluice::detail {

/// Who waits for what, for the line that a stuck wait prints. Costs nothing without a limit.
struct WaitSite {
  enum class Waiter { Thread, Producer, Consumer, Group };
  enum class Barrier { Unnamed, Full, Empty, Sequence };
  static constexpr uint32_t kNoStage = 0xffffffffu;

  Waiter waiter = Waiter::Thread;
  Barrier barrier = Barrier::Unnamed;
  uint32_t stage = kNoStage;
};

#if defined(SLUICE_WAIT_LIMIT_NS) && defined(__CUDACC__)

inline constexpr uint64_t kWaitLimitNs = SLUICE_WAIT_LIMIT_NS;

SLUICE_DEVICE uint64_t global_timer_ns() {
  uint64_t now = 0;
  SLUICE_PTX("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
  return now;
}

/// Prints the line of a stuck wait, once for all lanes that stand here together.
static __device__ __noinline__ void report_stuck_wait(uint64_t const* barrier, uint32_t parity,
                                                      WaitSite site) {
#if defined(__CUDA_ARCH__)
  uint32_t const lanes = __activemask();
  if (threadIdx.x % kThreadsPerWarp != static_cast<uint32_t>(__ffs(static_cast<int>(lanes)) - 1)) return;
  char const* waiter = site.waiter == WaitSite::Waiter::Producer   ? "producer"
                       : site.waiter == WaitSite::Waiter::Consumer ? "consumer"
                       : site.waiter == WaitSite::Waiter::Group    ? "group"
                                                                   : "thread";
  char const* name = site.barrier == WaitSite::Barrier::Full    ? "full"
                     : site.barrier == WaitSite::Barrier::Empty ? "empty"
                                                                : "sequence";
  constexpr uint32_t kUnit = kWaitLimitNs % 1000000 == 0 ? 1000000 : kWaitLimitNs % 1000 == 0 ? 1000 : 1;
  char const* unit = kUnit == 1000000 ? "ms" : kUnit == 1000 ? "us" : "ns";
  uint32_t const limit = static_cast<uint32_t>(kWaitLimitNs / kUnit);
  if (site.stage != WaitSite::kNoStage) {
    printf("sluice: %s waits for %s[%u] phase %u for more than %u %s: CTA (%u,%u,%u) thread %u (warp %u)\n",
           waiter, name, site.stage, parity, limit, unit, blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x,
           threadIdx.x / kThreadsPerWarp);
  } else {
    printf(
        "sluice: %s waits for the barrier at shared address %u phase %u for more than %u %s: CTA (%u,%u,%u) "
        "thread %u (warp %u)\n",
        waiter, ptx::shared_address(barrier), parity, limit, unit, blockIdx.x, blockIdx.y, blockIdx.z,
        threadIdx.x, threadIdx.x / kThreadsPerWarp);
  }
#endif
}

/// Blocks until the phase with parity `parity` has completed; see the head of this file for the limit.
SLUICE_DEVICE void wait_parity(uint64_t const* barrier, uint32_t parity, WaitSite site) {
  if (ptx::mbarrier_try_wait_parity(barrier, parity)) return;
  uint64_t const start = global_timer_ns();
  bool has_spoken = false;
  while (!ptx::mbarrier_try_wait_parity(barrier, parity)) {
    uint64_t const waited = global_timer_ns() - start;
    if (waited > kWaitLimitNs && !has_spoken) {
      report_stuck_wait(barrier, parity, site);
      has_spoken = true;
    }
    if (waited > 2 * kWaitLimitNs) __trap();
  }
}

#else

/// Blocks until the phase with parity `parity` has completed.
SLUICE_DEVICE void wait_parity(uint64_t const* barrier, uint32_t parity, WaitSite) {
  ptx::mbarrier_wait_parity(barrier, parity);
}

#endif

}  // namespace sluice::detail
