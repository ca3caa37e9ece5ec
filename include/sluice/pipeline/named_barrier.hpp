// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The sixteen hardware barriers of a CTA as a class. Numbers 0 to 7 are set aside (0 is __syncthreads, 1 to 7
// belong to kernel libraries), so a user's ids count from 8.
#pragma once

#include "sluice/arch/config.hpp"
#include "sluice/arch/named_barrier.hpp"
#include "sluice/pipeline/diagnosis.hpp"

namespace sluice {

/// Numbers that kernel libraries use for themselves.
enum class ReservedNamedBarriers {
  EpilogueBarrier = 1,
  TransposeBarrier = 2,
  TransformBarrier = 3,
  StreamkBarrier0 = 4,
  StreamkBarrier1 = 5,
  TmemAllocBarrier = 6,
  Sm120MainloopBarrier = 7,
  FirstUserBarrier = Sm120MainloopBarrier + 1
};

/// A barrier among `num_threads` threads of a CTA (whole warps). The unaligned forms are for lanes that may
/// have come apart. Static functions do the same without an object.
class NamedBarrier {
 public:
  static constexpr uint32_t ReservedNamedBarrierCount =
      static_cast<uint32_t>(ReservedNamedBarriers::FirstUserBarrier);
  static constexpr uint32_t HardwareMaxNumNamedBarriers = 16;

  /// One of the reserved numbers.
  SLUICE_DEVICE NamedBarrier(uint32_t num_threads, ReservedNamedBarriers reserved)
      : num_threads_(num_threads), id_(static_cast<uint32_t>(reserved)) {
    expect_valid(num_threads_, id_);
  }

  /// A user's own, `id` 0 to 7.
  SLUICE_DEVICE NamedBarrier(uint32_t num_threads, uint32_t id = 0)
      : num_threads_(num_threads), id_(id + ReservedNamedBarrierCount) {
    expect_valid(num_threads_, id_);
  }

  /// Arrives and blocks until all have.
  SLUICE_DEVICE void arrive_and_wait() const { ptx::bar_sync(id_, num_threads_); }
  SLUICE_DEVICE void arrive_and_wait_unaligned() const { ptx::barrier_sync(id_, num_threads_); }

  /// Arrives without waiting.
  SLUICE_DEVICE void arrive() const { ptx::bar_arrive(id_, num_threads_); }
  SLUICE_DEVICE void arrive_unaligned() const { ptx::barrier_arrive(id_, num_threads_); }

  /// The same as arrive_and_wait.
  SLUICE_DEVICE void sync() const { arrive_and_wait(); }

  SLUICE_DEVICE static void arrive_and_wait(uint32_t num_threads, uint32_t id) {
    NamedBarrier(num_threads, id).arrive_and_wait();
  }
  SLUICE_DEVICE static void arrive_and_wait(uint32_t num_threads, ReservedNamedBarriers reserved) {
    NamedBarrier(num_threads, reserved).arrive_and_wait();
  }
  SLUICE_DEVICE static void arrive(uint32_t num_threads, uint32_t id) {
    NamedBarrier(num_threads, id).arrive();
  }
  SLUICE_DEVICE static void arrive(uint32_t num_threads, ReservedNamedBarriers reserved) {
    NamedBarrier(num_threads, reserved).arrive();
  }
  SLUICE_DEVICE static void sync(uint32_t num_threads, uint32_t id) { arrive_and_wait(num_threads, id); }
  SLUICE_DEVICE static void sync(uint32_t num_threads, ReservedNamedBarriers reserved) {
    arrive_and_wait(num_threads, reserved);
  }

 private:
  SLUICE_DEVICE static void expect_valid(uint32_t num_threads, uint32_t id) {
    detail::expect(id < HardwareMaxNumNamedBarriers, detail::Mistake::NamedBarrierOutOfRange, "NamedBarrier",
                   id, HardwareMaxNumNamedBarriers);
    detail::expect(num_threads > 0 && num_threads <= 1024 && num_threads % kThreadsPerWarp == 0,
                   detail::Mistake::NamedBarrierThreads, "NamedBarrier", num_threads, 1024);
  }

  uint32_t const num_threads_;
  uint32_t const id_;
};

}  // namespace sluice
