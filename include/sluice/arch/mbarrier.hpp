// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The mbarrier instructions (PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier"),
// one function each. A barrier is a uint64_t in shared memory, 8-byte aligned. Every function has a "memory"
// clobber, because an arrival publishes earlier accesses and a wait makes others' accesses visible: the
// compiler must not move memory operations across either. Classes with names and roles are in
// sluice/pipeline/.
#pragma once

#include "sluice/arch/config.hpp"
#include "sluice/arch/shared_address.hpp"

namespace sluice::ptx {

/// Makes a barrier that completes a phase after `count` arrivals (1 to kMaxArrivalCount). One thread.
/// Does not block. Others may use it after a fence and a barrier, see fence_mbarrier_init.
/// PTX: mbarrier.init.shared::cta.b64
SLUICE_DEVICE void mbarrier_init(uint64_t const* barrier, uint32_t count) {
  SLUICE_PTX("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(count) : "memory");
}

/// Ends the life of a barrier, so that its memory may be used otherwise. One thread; nobody may still use it.
/// PTX: mbarrier.inval.shared::cta.b64
SLUICE_DEVICE void mbarrier_inval(uint64_t const* barrier) {
  SLUICE_PTX("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(shared_address(barrier)) : "memory");
}

/// Arrives once, with release semantics. Any thread of the CTA; does not block.
/// PTX: mbarrier.arrive.shared::cta.b64 (release, CTA scope)
SLUICE_DEVICE void mbarrier_arrive(uint64_t const* barrier) {
  SLUICE_PTX("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

/// Arrives `count` times at once. PTX: mbarrier.arrive.shared::cta.b64 with count
SLUICE_DEVICE void mbarrier_arrive(uint64_t const* barrier, uint32_t count) {
  SLUICE_PTX("mbarrier.arrive.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(count)
             : "memory");
}

/// Arrives once and returns the state of the phase it counted in, for mbarrier_test_wait / mbarrier_try_wait.
/// PTX: mbarrier.arrive.shared::cta.b64 state
SLUICE_DEVICE uint64_t mbarrier_arrive_state(uint64_t const* barrier) {
  uint64_t state = 0;
  SLUICE_PTX("mbarrier.arrive.shared::cta.b64 %0, [%1];"
             : "=l"(state)
             : "r"(shared_address(barrier))
             : "memory");
  return state;
}

/// Arrives once and lowers the count of all later phases by one. Any thread that will never arrive again.
/// PTX: mbarrier.arrive_drop.shared::cta.b64
SLUICE_DEVICE void mbarrier_arrive_drop(uint64_t const* barrier) {
  SLUICE_PTX("mbarrier.arrive_drop.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

/// Arrives once on the barrier at the same place in the CTA of rank `cta_rank`, which may be this one.
/// Any thread; the target CTA must be alive. PTX: mapa, mbarrier.arrive.shared::cluster.b64
SLUICE_DEVICE void mbarrier_arrive_remote(uint64_t const* barrier, uint32_t cta_rank) {
  SLUICE_PTX(
      "{\n\t.reg .b32 remote;\n\tmapa.shared::cluster.u32 remote, %0, %1;\n\t"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];\n\t}" ::"r"(shared_address(barrier)),
      "r"(cta_rank)
      : "memory");
}

/// Raises the bytes due in the current phase by `bytes`, then arrives once. Does not block.
/// PTX: mbarrier.arrive.expect_tx.shared::cta.b64
SLUICE_DEVICE void mbarrier_arrive_expect_tx(uint64_t const* barrier, uint32_t bytes) {
  SLUICE_PTX("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
             "r"(bytes)
             : "memory");
}

/// The same on the barrier at the same place in the CTA of rank `cta_rank`.
/// PTX: mapa, mbarrier.arrive.expect_tx.shared::cluster.b64
SLUICE_DEVICE void mbarrier_arrive_expect_tx_remote(uint64_t const* barrier, uint32_t bytes,
                                                    uint32_t cta_rank) {
  SLUICE_PTX(
      "{\n\t.reg .b32 remote;\n\tmapa.shared::cluster.u32 remote, %0, %1;\n\t"
      "mbarrier.arrive.expect_tx.shared::cluster.b64 _, [remote], %2;\n\t}" ::"r"(shared_address(barrier)),
      "r"(cta_rank), "r"(bytes)
      : "memory");
}

/// Raises the bytes due in the current phase by `bytes` without arriving. PTX:
/// mbarrier.expect_tx.shared::cta.b64
SLUICE_DEVICE void mbarrier_expect_tx(uint64_t const* barrier, uint32_t bytes) {
  SLUICE_PTX("mbarrier.expect_tx.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
             : "memory");
}

/// Lowers the bytes due on the barrier at the same place in the CTA of rank `cta_rank`, as a landing copy
/// would. PTX: mapa, mbarrier.complete_tx.shared::cluster.relaxed.cluster.b64
SLUICE_DEVICE void mbarrier_complete_tx_remote(uint64_t const* barrier, uint32_t bytes, uint32_t cta_rank) {
  SLUICE_PTX("mbarrier.complete_tx.shared::cluster.relaxed.cluster.b64 [%0], %1;" ::"r"(
                 mapa(shared_address(barrier), cta_rank)),
             "r"(bytes)
             : "memory");
}

/// Has the phase with parity `parity` completed? Does not block. True acquires what the arrivals released.
/// PTX: mbarrier.test_wait.parity.shared::cta.b64 (acquire, CTA scope)
SLUICE_DEVICE bool mbarrier_test_wait_parity(uint64_t const* barrier, uint32_t parity) {
  uint32_t done = 0;
  SLUICE_PTX(
      "{\n\t.reg .pred done;\n\tmbarrier.test_wait.parity.shared::cta.b64 done, [%1], %2;\n\t"
      "selp.b32 %0, 1, 0, done;\n\t}"
      : "=r"(done)
      : "r"(shared_address(barrier)), "r"(parity)
      : "memory");
  return done != 0;
}

/// The same, but the thread may sleep up to a time that the hardware chooses before the answer is false.
/// PTX: mbarrier.try_wait.parity.shared::cta.b64 (acquire, CTA scope)
SLUICE_DEVICE bool mbarrier_try_wait_parity(uint64_t const* barrier, uint32_t parity) {
  uint32_t done = 0;
  SLUICE_PTX(
      "{\n\t.reg .pred done;\n\tmbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2;\n\t"
      "selp.b32 %0, 1, 0, done;\n\t}"
      : "=r"(done)
      : "r"(shared_address(barrier)), "r"(parity)
      : "memory");
  return done != 0;
}

/// The same with a hint, in nanoseconds, how long to sleep at most.
/// PTX: mbarrier.try_wait.parity.shared::cta.b64 with suspendTimeHint
SLUICE_DEVICE bool mbarrier_try_wait_parity(uint64_t const* barrier, uint32_t parity, uint32_t hint_ns) {
  uint32_t done = 0;
  SLUICE_PTX(
      "{\n\t.reg .pred done;\n\tmbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2, %3;\n\t"
      "selp.b32 %0, 1, 0, done;\n\t}"
      : "=r"(done)
      : "r"(shared_address(barrier)), "r"(parity), "r"(hint_ns)
      : "memory");
  return done != 0;
}

/// Has the phase of `state` (from mbarrier_arrive_state) completed? The thread may sleep.
/// PTX: mbarrier.try_wait.shared::cta.b64
SLUICE_DEVICE bool mbarrier_try_wait(uint64_t const* barrier, uint64_t state) {
  uint32_t done = 0;
  SLUICE_PTX(
      "{\n\t.reg .pred done;\n\tmbarrier.try_wait.shared::cta.b64 done, [%1], %2;\n\t"
      "selp.b32 %0, 1, 0, done;\n\t}"
      : "=r"(done)
      : "r"(shared_address(barrier)), "l"(state)
      : "memory");
  return done != 0;
}

/// Blocks until the phase with parity `parity` has completed. No time limit; sluice/pipeline/wait.hpp has
/// one. PTX: a loop around mbarrier.try_wait.parity.shared::cta.b64
SLUICE_DEVICE void mbarrier_wait_parity(uint64_t const* barrier, uint32_t parity) {
  // A loop of the language: the compiler then keeps more in uniform registers around it than around a loop in
  // PTX.
  while (!mbarrier_try_wait_parity(barrier, parity)) {
  }
}

}  // namespace sluice::ptx
