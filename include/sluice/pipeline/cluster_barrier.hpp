// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// An mbarrier as a class: ClusterBarrier counts arrivals, ClusterTransactionBarrier counts bytes as well.
// Each operation exists as a member, for a barrier object in shared memory, and as a static function, for a
// pointer to its 64 bits. Neither class has state of its own: 8 bytes, 8-byte aligned.
#pragma once

#include "sluice/arch/cluster.hpp"
#include "sluice/arch/config.hpp"
#include "sluice/arch/cp_async.hpp"
#include "sluice/arch/fence.hpp"
#include "sluice/arch/mbarrier.hpp"
#include "sluice/pipeline/diagnosis.hpp"
#include "sluice/pipeline/wait.hpp"

namespace sluice {

/// A barrier in shared memory whose phase completes after a number of arrivals from anywhere in the cluster.
struct ClusterBarrier {
  using ValueType = uint64_t;

 protected:
  ValueType barrier_;

 public:
  /// Makes the barrier; one thread, before fence_barrier_init and a CTA or cluster barrier.
  SLUICE_DEVICE void init(uint32_t arrive_count) const { init(&barrier_, arrive_count); }

  /// Has the phase with this parity completed? Never sleeps. False if `pred` is not 1.
  SLUICE_DEVICE bool test_wait(uint32_t phase, uint32_t pred = true) const {
    return test_wait(&barrier_, phase, pred);
  }

  /// The same; may sleep for a time that the hardware chooses.
  SLUICE_DEVICE bool try_wait(uint32_t phase) const { return try_wait(&barrier_, phase); }

  /// Blocks until the phase with this parity has completed.
  SLUICE_DEVICE void wait(uint32_t phase) const { wait(&barrier_, phase); }

  /// Blocks like wait; `site` is what a stuck wait says about itself.
  SLUICE_DEVICE void wait(uint32_t phase, detail::WaitSite site) const {
    detail::wait_parity(&barrier_, phase, site);
  }

  /// Arrives once at this barrier.
  SLUICE_DEVICE void arrive() const { arrive(&barrier_); }

  /// Arrives once at the barrier of the same place in CTA `cta_id` of the cluster, if `pred`.
  SLUICE_DEVICE void arrive(uint32_t cta_id, uint32_t pred = true) const { arrive(&barrier_, cta_id, pred); }

  SLUICE_DEVICE static void init(ValueType const* barrier, uint32_t arrive_count) {
    detail::expect_arrivals("ClusterBarrier::init", arrive_count);
    ptx::mbarrier_init(barrier, arrive_count);
  }

  SLUICE_DEVICE static void wait(ValueType const* barrier, uint32_t phase) {
    detail::wait_parity(barrier, phase, detail::WaitSite{});
  }

  SLUICE_DEVICE static bool test_wait(ValueType const* barrier, uint32_t phase, uint32_t pred = true) {
    return pred == 1 && ptx::mbarrier_test_wait_parity(barrier, phase);
  }

  SLUICE_DEVICE static bool try_wait(ValueType const* barrier, uint32_t phase) {
    return ptx::mbarrier_try_wait_parity(barrier, phase);
  }

  SLUICE_DEVICE static void arrive(ValueType const* barrier) { ptx::mbarrier_arrive(barrier); }

  SLUICE_DEVICE static void arrive(ValueType const* barrier, uint32_t cta_id, uint32_t pred) {
    if (pred) ptx::mbarrier_arrive_remote(barrier, cta_id);
  }

  /// Ends the barrier's life; nobody may still use it.
  SLUICE_DEVICE static void invalidate(ValueType const* barrier) { ptx::mbarrier_inval(barrier); }
};

/// A barrier whose phase completes when the arrivals are in and the expected bytes have landed.
struct ClusterTransactionBarrier : public ClusterBarrier {
  /// Adds to the bytes due, then arrives once.
  SLUICE_DEVICE void arrive_and_expect_tx(uint32_t transaction_bytes) const {
    arrive_and_expect_tx(&barrier_, transaction_bytes);
  }

  /// The same at the barrier of the same place in CTA `cta_id` of the cluster, if `pred`.
  SLUICE_DEVICE void arrive_and_expect_tx(uint32_t transaction_bytes, uint32_t cta_id,
                                          uint32_t pred = 1) const {
    arrive_and_expect_tx(&barrier_, transaction_bytes, cta_id, pred);
  }

  /// Adds to the bytes due without arriving.
  SLUICE_DEVICE void expect_transaction(uint32_t transaction_bytes) const {
    expect_transaction(&barrier_, transaction_bytes);
  }

  /// Counts bytes as landed at this CTA's barrier, if `pred`. For data that no copy engine brings.
  SLUICE_DEVICE void complete_transaction(uint32_t transaction_bytes, uint32_t pred = 1) const {
    complete_transaction(&barrier_, ptx::cluster_ctarank(), transaction_bytes, pred);
  }

  /// Counts bytes as landed at the barrier of the same place in CTA `dst_cta_id`, if `pred`.
  SLUICE_DEVICE void complete_transaction(uint32_t dst_cta_id, uint32_t transaction_bytes,
                                          uint32_t pred) const {
    complete_transaction(&barrier_, dst_cta_id, transaction_bytes, pred);
  }

  SLUICE_DEVICE static void arrive_and_expect_tx(ValueType const* barrier, uint32_t transaction_bytes) {
    expect_byte_count("arrive_and_expect_tx", transaction_bytes);
    ptx::mbarrier_arrive_expect_tx(barrier, transaction_bytes);
  }

  SLUICE_DEVICE static void arrive_and_expect_tx(ValueType const* barrier, uint32_t transaction_bytes,
                                                 uint32_t cta_id, uint32_t pred) {
    expect_byte_count("arrive_and_expect_tx", transaction_bytes);
    if (pred == 1) ptx::mbarrier_arrive_expect_tx_remote(barrier, transaction_bytes, cta_id);
  }

  SLUICE_DEVICE static void expect_transaction(ValueType const* barrier, uint32_t transaction_bytes) {
    expect_byte_count("expect_transaction", transaction_bytes);
    ptx::mbarrier_expect_tx(barrier, transaction_bytes);
  }

  SLUICE_DEVICE static void complete_transaction(ValueType const* barrier, uint32_t dst_cta_id,
                                                 uint32_t transaction_bytes, uint32_t pred = 1) {
    if (pred == 1) ptx::mbarrier_complete_tx_remote(barrier, transaction_bytes, dst_cta_id);
  }

  // Older names of the same operations, kept because programs use them.
  [[deprecated("use arrive_and_expect_tx")]] SLUICE_DEVICE void arrive_and_reset_bytes(uint32_t bytes) const {
    arrive_and_expect_tx(bytes);
  }
  [[deprecated("use arrive_and_expect_tx")]] SLUICE_DEVICE void arrive_and_reset_bytes(
      uint32_t bytes, uint32_t cta_id) const {
    arrive_and_expect_tx(bytes, cta_id);
  }
  [[deprecated("use arrive_and_expect_tx")]] SLUICE_DEVICE static void arrive_and_reset_bytes(
      ValueType const* barrier, uint32_t bytes) {
    arrive_and_expect_tx(barrier, bytes);
  }
  [[deprecated("use arrive_and_expect_tx")]] SLUICE_DEVICE static void arrive_and_reset_bytes(
      ValueType const* barrier, uint32_t bytes, uint32_t cta_id, uint32_t pred) {
    arrive_and_expect_tx(barrier, bytes, cta_id, pred);
  }
  [[deprecated("use expect_transaction")]] SLUICE_DEVICE void reset_bytes(uint32_t bytes) const {
    expect_transaction(bytes);
  }
  [[deprecated("use expect_transaction")]] SLUICE_DEVICE static void reset_bytes(ValueType const* barrier,
                                                                                 uint32_t bytes) {
    expect_transaction(barrier, bytes);
  }
  [[deprecated("use complete_transaction")]] SLUICE_DEVICE void commit(uint32_t bytes,
                                                                       uint32_t pred = 1) const {
    complete_transaction(bytes, pred);
  }
  [[deprecated("use complete_transaction")]] SLUICE_DEVICE void commit(uint32_t dst_cta_id, uint32_t bytes,
                                                                       uint32_t pred) const {
    complete_transaction(dst_cta_id, bytes, pred);
  }
  [[deprecated("use complete_transaction")]] SLUICE_DEVICE static void commit(ValueType const* barrier,
                                                                              uint32_t dst_cta_id,
                                                                              uint32_t bytes,
                                                                              uint32_t pred = 1) {
    complete_transaction(barrier, dst_cta_id, bytes, pred);
  }

 private:
  SLUICE_DEVICE static void expect_byte_count(char const* method, uint32_t bytes) {
    detail::expect(bytes <= kMaxTxCount, detail::Mistake::TooManyBytes, method, bytes, kMaxTxCount);
  }
};

/// Makes the barriers that this thread has initialised visible in the cluster, once a CTA or cluster barrier
/// follows.
SLUICE_DEVICE void fence_barrier_init() {
  ptx::fence_mbarrier_init();
}

/// Orders this thread's ordinary accesses to shared memory before later ones by the copy engine or wgmma.
SLUICE_DEVICE void fence_view_async_shared() {
  ptx::fence_proxy_async_shared_cta();
}

/// Arrives at `barrier` when this thread's earlier cp.async have landed; the arrival is an extra one.
SLUICE_DEVICE void cpasync_barrier_arrive(uint64_t const* barrier) {
  ptx::cp_async_mbarrier_arrive(barrier);
}

/// The same; the arrival is one of those that the barrier was initialised for.
SLUICE_DEVICE void cpasync_barrier_arrive_noinc(uint64_t const* barrier) {
  ptx::cp_async_mbarrier_arrive_noinc(barrier);
}

}  // namespace sluice
