// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What the pipeline classes have in common: the full and empty barriers of each stage, their layout, their
// initialisation, and the waits on them, with the checks and the words of a debugging build. Roles, counts
// and signals differ between the classes and stay there.
#pragma once

#include <type_traits>

#include "sluice/arch/elect.hpp"
#include "sluice/pipeline/cluster_barrier.hpp"
#include "sluice/pipeline/diagnosis.hpp"
#include "sluice/pipeline/release_spread.hpp"
#include "sluice/pipeline/state.hpp"
#include "sluice/pipeline/token.hpp"
#include "sluice/trace/not_traced.hpp"
#include "sluice/trace/trip.hpp"

namespace sluice {

/// What a thread does with a pipeline.
enum class ThreadCategory { NonParticipant, Producer, Consumer, ProducerConsumer };

/// The barriers of a pipeline, in shared memory: all full ones, then all empty ones, 16 bytes per stage.
template <class FullBarrier, class EmptyBarrier, uint32_t Stages>
struct StageBarrierStorage {
  FullBarrier full_barrier_[Stages];
  EmptyBarrier empty_barrier_[Stages];
};

namespace detail {

/// Stands for an array of no barriers. Indexing it is a mistake that traps.
template <class Barrier>
struct NoBarriers {
  SLUICE_DEVICE Barrier& operator[](uint32_t) {
#if defined(__CUDA_ARCH__)
    __trap();
#endif
    return *reinterpret_cast<Barrier*>(this);
  }
};

}  // namespace detail

/// A pipeline without stages (an epilogue that loads nothing, say) has a type, but no barriers.
template <class FullBarrier, class EmptyBarrier>
struct StageBarrierStorage<FullBarrier, EmptyBarrier, 0> {
  detail::NoBarriers<FullBarrier> full_barrier_;
  detail::NoBarriers<EmptyBarrier> empty_barrier_;
};

namespace detail {

SLUICE_DEVICE bool is_producer(ThreadCategory role) {
  return role == ThreadCategory::Producer || role == ThreadCategory::ProducerConsumer;
}
SLUICE_DEVICE bool is_consumer(ThreadCategory role) {
  return role == ThreadCategory::Consumer || role == ThreadCategory::ProducerConsumer;
}
SLUICE_DEVICE void expect_producer(char const* method, ThreadCategory role) {
  expect(is_producer(role), Mistake::NotAProducer, method, static_cast<uint32_t>(role), 1);
}
SLUICE_DEVICE void expect_consumer(char const* method, ThreadCategory role) {
  expect(is_consumer(role), Mistake::NotAConsumer, method, static_cast<uint32_t>(role), 2);
}

/// Makes all barriers of `storage`, in one thread of warp `initializing_warp`, and publishes them to the
/// cluster. All warps of the CTA call it (whole); visible to others after a CTA or cluster barrier.
template <class Storage, uint32_t Stages>
SLUICE_DEVICE void init_stage_barriers(char const* method, Storage& storage, uint32_t full_arrivals,
                                       uint32_t empty_arrivals, int initializing_warp) {
  if constexpr (Stages == 0) return;
  expect_storage(method, &storage, initializing_warp);
  if (ptx::warp_index_sync() == static_cast<uint32_t>(initializing_warp)) {
    expect_arrivals(method, full_arrivals);
    expect_arrivals(method, empty_arrivals);
    if (ptx::elect_one_sync()) {
      for (int stage = 0; stage < static_cast<int>(Stages); ++stage) {
        storage.full_barrier_[stage].init(full_arrivals);
        storage.empty_barrier_[stage].init(empty_arrivals);
      }
    }
  }
  fence_barrier_init();
}

/// The waits on one pipeline's barriers, checked and named, and what a traced pipeline notes about its
/// stages. The stage at `state` is used the (count / Stages)-th time: that is the phase that its full barrier
/// completes when it is filled and its empty barrier when it is released. `Trace` is NotTraced or Traced.
template <class Storage, uint32_t Stages, class Trace = NotTraced>
class StageBarriers : private Trace {
 public:
  using State = PipelineState<Stages>;

  SLUICE_DEVICE explicit StageBarriers(Storage& storage) : storage_(&storage) {}

  SLUICE_DEVICE Trace const& trace() const { return *this; }

  /// For Traced alone: notes go into `recorder`, which is told where the barriers lie by those who take part.
  template <class Recorder>
  SLUICE_DEVICE void record_in(Recorder& recorder, bool takes_part) {
    Trace::record_in(recorder);
    if constexpr (Stages > 0) {
      if (takes_part) {
        Trace::record_in(recorder, reinterpret_cast<uint64_t const*>(&full(0)),
                         reinterpret_cast<uint64_t const*>(&empty(0)), Stages);
      }
    }
  }

  SLUICE_DEVICE auto& full(uint32_t stage) const { return storage_->full_barrier_[stage]; }
  SLUICE_DEVICE auto& empty(uint32_t stage) const { return storage_->empty_barrier_[stage]; }

  SLUICE_DEVICE void wait_full(State const& state) const {
    uint32_t const stage = static_cast<uint32_t>(state.index());
    expect_position("consumer_wait", stage, state.phase(), Stages);
    Trace::wait(full(stage), state.phase(), use_of_full(state),
                WaitSite{WaitSite::Waiter::Consumer, WaitSite::Barrier::Full, stage});
  }

  SLUICE_DEVICE void wait_empty(State const& state) const {
    uint32_t const stage = static_cast<uint32_t>(state.index());
    expect_position("producer_acquire", stage, state.phase(), Stages);
    Trace::wait(empty(stage), state.phase(), use_of_empty(state),
                WaitSite{WaitSite::Waiter::Producer, WaitSite::Barrier::Empty, stage});
  }

  // Notes of a traced pipeline. Waits that an earlier question has answered:
  SLUICE_DEVICE void note_full(State const& state) const {
    Trace::passed(full(state.index()), state.phase(), use_of_full(state));
  }
  SLUICE_DEVICE void note_empty(State const& state) const {
    Trace::passed(empty(state.index()), state.phase(), use_of_empty(state));
  }
  // What the calling lanes are about to do:
  SLUICE_DEVICE void note_arm(State const& state, uint32_t bytes) const {
    Trace::arms(full(state.index()), use_of_full(state), bytes);
  }
  SLUICE_DEVICE void note_expect(State const& state, uint32_t bytes) const {
    Trace::expects(full(state.index()), use_of_full(state), bytes);
  }
  SLUICE_DEVICE void note_commit(State const& state) const {
    Trace::arrives(full(state.index()), use_of_full(state));
  }
  SLUICE_DEVICE void note_commit_at(State const& state, uint32_t rank) const {
    Trace::arrives_at(full(state.index()), use_of_full(state), rank);
  }
  SLUICE_DEVICE void note_release(State const& state) const {
    Trace::arrives(empty(state.index()), use_of_empty(state));
  }
  SLUICE_DEVICE void note_release_at(State const& state, uint32_t rank) const {
    Trace::arrives_at(empty(state.index()), use_of_empty(state), rank);
  }
  SLUICE_DEVICE void note_spread_release(State const& state, ReleaseTarget target) const {
    Trace::arrives_spread(empty(state.index()), use_of_empty(state), target.cta, target.signals);
  }

  SLUICE_DEVICE ConsumerToken try_full(uint32_t stage, uint32_t phase, uint32_t skip_wait) const {
    expect_position("consumer_try_wait", stage, phase, Stages);
    if (skip_wait) return {BarrierStatus::WaitDone};
    return {static_cast<BarrierStatus>(full(stage).try_wait(phase))};
  }

  SLUICE_DEVICE ConsumerToken test_full(uint32_t stage, uint32_t phase, uint32_t skip_wait) const {
    expect_position("consumer_test_wait", stage, phase, Stages);
    if (skip_wait) return {BarrierStatus::WaitDone};
    return {static_cast<BarrierStatus>(full(stage).test_wait(phase))};
  }

  SLUICE_DEVICE ProducerToken try_empty(uint32_t stage, uint32_t phase, uint32_t skip_wait) const {
    expect_position("producer_try_acquire", stage, phase, Stages);
    if (skip_wait) return {BarrierStatus::WaitDone};
    return {static_cast<BarrierStatus>(empty(stage).try_wait(phase))};
  }

  /// Waits for each stage once, from `state` on: all that was produced has been released.
  SLUICE_DEVICE void wait_all_empty(State state) const {
    for (int count = 0; count < static_cast<int>(Stages); ++count) {
      wait_empty(state);
      ++state;
    }
  }

 private:
  SLUICE_DEVICE static trace::StageUse use_of_full(State const& state) {
    return {state.count(), static_cast<uint32_t>(state.index()), Stages, true};
  }
  SLUICE_DEVICE static trace::StageUse use_of_empty(State const& state) {
    return {state.count(), static_cast<uint32_t>(state.index()), Stages, false};
  }

  Storage* storage_;
};

}  // namespace detail
}  // namespace sluice
