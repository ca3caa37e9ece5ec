// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The last template argument of a pipeline that is recorded: its hooks write into a Recorder. NotTraced has
// the same ones without effect. A pipeline without a recorder records nothing.
#pragma once

#include "sluice/pipeline/wait.hpp"
#include "sluice/trace/recorder.hpp"

namespace sluice {

/// The hooks of a pipeline that is recorded. `kInStep`: lanes of a warp that act together are always at the
/// same stage.
template <bool kInStep>
class BasicTraced {
 public:
  /// From now on the calling threads' hooks write into `recorder`, which outlives them.
  SLUICE_DEVICE void record_in(trace::Recorder& recorder) { recorder_ = &recorder; }
  SLUICE_DEVICE trace::Recorder* recorder() const { return recorder_; }

  /// The same for a ring, which the recorder is told of.
  SLUICE_DEVICE void record_in(trace::Recorder& recorder, uint64_t const* full, uint64_t const* empty,
                               uint32_t stages) {
    record_in(recorder);
    ring_ = recorder.ring(full, empty, stages);
  }

  /// Blocks until phase `phase` of `barrier` has completed, and tells whether it had to wait.
  template <class Barrier>
  SLUICE_DEVICE void wait(Barrier const& barrier, uint32_t parity, int phase, detail::WaitSite site) const {
    if (recorder_ == nullptr) return barrier.wait(parity, site);
    bool const speaks = speaks_here(key_of(barrier, static_cast<uint32_t>(phase)));
    Span const span = wait_watched(barrier, parity, site);
    trace::detail::Meeting const meeting;
    if (speaks)
      recorder_->waited(place_of(barrier), static_cast<uint32_t>(phase), parity, span.began, span.ended);
  }

  /// The same for the barrier of a stage.
  template <class Barrier>
  SLUICE_DEVICE void wait(Barrier const& barrier, uint32_t parity, trace::StageUse use,
                          detail::WaitSite site) const {
    if (recorder_ == nullptr) return barrier.wait(parity, site);
    bool const speaks = speaks_here(key_of(barrier, use.count));
    Span const span = wait_watched(barrier, parity, site);
    trace::detail::Meeting const meeting;
    if (speaks) recorder_->waited_for_stage(ring_, place_of(barrier), use, parity, span.began, span.ended);
  }

  /// An earlier question has found the phase complete.
  template <class Barrier>
  SLUICE_DEVICE void passed(Barrier const& barrier, uint32_t parity, trace::StageUse use) const {
    if (recorder_ == nullptr) return;
    Together const together(key_of(barrier, use.count));
    if (recorder_->speaks_for(together.alike())) {
      uint64_t const now = trace::detail::sm_clock();
      recorder_->waited_for_stage(ring_, place_of(barrier), use, parity, now, now);
    }
  }

  /// Each calling lane is about to arrive once, in this CTA.
  template <class Barrier>
  SLUICE_DEVICE void arrives(Barrier const& barrier, int phase) const {
    if (recorder_ != nullptr) recorder_->arrives(word_of(barrier), phase);
  }
  template <class Barrier>
  SLUICE_DEVICE void arrives(Barrier const& barrier, trace::StageUse use) const {
    Together const together(key_of(barrier, use.count));
    uint32_t const count = together.count();
    hands_on(together, barrier, use,
             {form_of(use, trace::TripForm::Here, count), trace::RecordKind::Arrives,
              trace::Arrival::here(count)});
  }

  /// The same in the CTA of rank `rank`.
  template <class Barrier>
  SLUICE_DEVICE void arrives_at(Barrier const& barrier, trace::StageUse use, uint32_t rank) const {
    Together const together(key_of(barrier, use.count + (rank << 12)));
    arrives_named(together, barrier, use, 1u << rank, together.count());
  }

  /// Each calling lane for which `signals` holds is about to arrive once, in the CTA of its own `rank`.
  /// Equally many lanes go to each of them.
  template <class Barrier>
  SLUICE_DEVICE void arrives_spread(Barrier const& barrier, trace::StageUse use, uint32_t rank,
                                    bool signals) const {
    if (recorder_ == nullptr) return;
    Together const together(key_of(barrier, use.count));
    uint32_t const ranks = trace::detail::or_over_lanes(together.alike(), signals ? 1u << rank : 0);
    uint32_t const count = trace::detail::count_lanes(trace::detail::lanes_where(together.alike(), signals));
    if (ranks != 0) {
      arrives_named(together, barrier, use, ranks, count / trace::detail::count_lanes(ranks));
    } else {
      hands_on(together, barrier, use,
               {form_of(use, trace::TripForm::Nothing, 0), trace::RecordKind::None, 0});
    }
  }

  /// Each calling lane is about to announce bytes, with an arrival or without.
  template <class Barrier>
  SLUICE_DEVICE void arms(Barrier const& barrier, trace::StageUse use, uint32_t bytes) const {
    Together const together(key_of(barrier, use.count));
    uint32_t const count = together.count();
    uint32_t const form = form_of(use, trace::TripForm::Arms, bytes);
    hands_on(together, barrier, use,
             {count == 1 ? form : trace::Recorder::Handing::kNoForm, trace::RecordKind::Arms,
              bytes | count << 24});
  }
  template <class Barrier>
  SLUICE_DEVICE void expects(Barrier const& barrier, trace::StageUse use, uint32_t bytes) const {
    if (recorder_ != nullptr) recorder_->expects(word_of(barrier), static_cast<int>(use.use()), bytes);
  }

  SLUICE_DEVICE void store_wait_begins() const {
    if (recorder_ != nullptr) recorder_->store_wait_begins();
  }
  SLUICE_DEVICE void store_wait_ends() const {
    if (recorder_ != nullptr) recorder_->store_wait_ends();
  }
  SLUICE_DEVICE void commits_stores() const {
    if (recorder_ != nullptr) recorder_->commits_stores(stage_bytes_);
  }
  /// What commits_stores says.
  SLUICE_DEVICE void stage_bytes(uint32_t bytes) { stage_bytes_ = bytes; }

  /// How often something has happened, where only records need it.
  class Count {
   public:
    SLUICE_DEVICE int value() const { return value_; }
    SLUICE_DEVICE void next() { ++value_; }

   private:
    int value_ = 0;
  };

  /// A role that a typed ring's cursor has while it lives, in the threads that take part.
  class Role {
   public:
    template <int Size>
    SLUICE_DEVICE Role(BasicTraced const& traced, char const (&name)[Size], bool takes_part)
        : recorder_(traced.recorder()), takes_part_(takes_part) {
      if (recorder_ != nullptr && takes_part_) recorder_->begin_role(name);
    }
    Role(Role const&) = delete;
    Role& operator=(Role const&) = delete;
    SLUICE_DEVICE ~Role() {
      if (recorder_ != nullptr && takes_part_) recorder_->end_role();
    }

   private:
    trace::Recorder* recorder_;  // never chosen between two: the recorder could not stay in registers
    bool takes_part_;
  };

 private:
  struct Span {
    uint64_t began, ended;
  };

  /// Waits; both ends are the same where the phase was complete.
  template <class Barrier>
  SLUICE_DEVICE static Span wait_watched(Barrier const& barrier, uint32_t parity, detail::WaitSite site) {
    bool const has_to_wait = !barrier.test_wait(parity);
    uint64_t const began = trace::detail::sm_clock();
    if (!has_to_wait) return {began, began};
    barrier.wait(parity, site);
    return {began, trace::detail::sm_clock()};
  }

  using Together = trace::detail::Together<kInStep>;

  /// Lanes with the same key do the same at the same barrier.
  template <class Barrier>
  SLUICE_DEVICE static uint32_t key_of(Barrier const& barrier, uint32_t what) {
    return place_of(barrier) | what << 16;
  }
  SLUICE_DEVICE bool speaks_here(uint32_t key) const {
    return recorder_->speaks_for(trace::detail::lanes_alike<kInStep>(trace::detail::active_lanes(), key));
  }

  template <class Barrier>
  SLUICE_DEVICE void hands_on(Together const& together, Barrier const& barrier, trace::StageUse use,
                              trace::Recorder::Handing const& handing) const {
    if (recorder_ != nullptr && recorder_->speaks_for(together.alike()))
      recorder_->hands_on(ring_, place_of(barrier), use, handing, next_);
  }

  template <class Barrier>
  SLUICE_DEVICE void arrives_named(Together const& together, Barrier const& barrier, trace::StageUse use,
                                   uint32_t ranks, uint32_t count) const {
    hands_on(together, barrier, use,
             {form_of(use, trace::TripForm::Named, ranks | (count - 1) << 16), trace::RecordKind::Arrives,
              trace::Arrival::at(ranks, count)});
  }

  /// What the trips are that such an arrival ends.
  SLUICE_DEVICE uint32_t form_of(trace::StageUse use, trace::TripForm::Arrival arrival,
                                 uint32_t payload) const {
    return trace::TripForm{arrival, payload, 0, !use.is_full, ring_}.bits();
  }

  template <class Barrier>
  SLUICE_DEVICE static uint64_t const* word_of(Barrier const& barrier) {
    return reinterpret_cast<uint64_t const*>(&barrier);
  }
  template <class Barrier>
  SLUICE_DEVICE static uint16_t place_of(Barrier const& barrier) {
    return trace::detail::barrier_place(word_of(barrier));
  }

  trace::Recorder* recorder_ = nullptr;
  uint32_t ring_ = UINT32_MAX;
  uint32_t stage_bytes_ = 0;
  mutable trace::Recorder::NextTrip next_;
};

/// The last template argument of a pipeline that is recorded: whatever lanes do is told as it was.
using Traced = BasicTraced<false>;

/// The same at less cost, for pipelines that a single lane or whole warps in step use: lanes of a warp that
/// act together are at the same stage then, and none of them has to be asked. Where warps have come apart and
/// their lanes meet again in different laps, arrivals are told of the wrong stage.
using TracedInStep = BasicTraced<true>;

}  // namespace sluice
