// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The last template argument of a pipeline that is recorded: its hooks write into a Recorder. NotTraced has
// the same ones without effect. A pipeline without a recorder records nothing.
#pragma once

#include "sluice/pipeline/wait.hpp"
#include "sluice/trace/recorder.hpp"

namespace sluice {

/// The last template argument of a pipeline that is recorded.
class Traced {
 public:
  /// From now on the calling threads' hooks write into `recorder`, which outlives them.
  SLUICE_DEVICE void record_in(trace::Recorder& recorder) { recorder_ = &recorder; }
  SLUICE_DEVICE trace::Recorder* recorder() const { return recorder_; }

  /// Blocks until phase `phase` of `barrier` has completed, and tells whether it had to wait.
  template <class Barrier>
  SLUICE_DEVICE void wait(Barrier const& barrier, uint32_t parity, int phase, detail::WaitSite site) const {
    if (recorder_ == nullptr) return barrier.wait(parity, site);
    uint64_t const* const word = word_of(barrier);
    if (barrier.test_wait(parity)) {
      recorder_->wait_passes(word, phase, parity);
    } else {
      uint32_t const lanes = trace::detail::active_lanes();
      recorder_->wait_begins(word, phase, parity);
      barrier.wait(parity, site);
      // Those who began together end together, or their records would not meet.
      trace::detail::meet(lanes);
      recorder_->wait_ends(word, phase, parity);
    }
  }

  /// An earlier question has found the phase complete.
  template <class Barrier>
  SLUICE_DEVICE void passed(Barrier const& barrier, uint32_t parity, int phase) const {
    if (recorder_ != nullptr) recorder_->wait_passes(word_of(barrier), phase, parity);
  }

  /// Each calling lane is about to arrive once, in this CTA.
  template <class Barrier>
  SLUICE_DEVICE void arrives(Barrier const& barrier, int phase) const {
    if (recorder_ != nullptr) recorder_->arrives(word_of(barrier), phase);
  }

  /// The same in the CTA of rank `rank`.
  template <class Barrier>
  SLUICE_DEVICE void arrives_at(Barrier const& barrier, int phase, uint32_t rank) const {
    if (recorder_ != nullptr) recorder_->arrives_at(word_of(barrier), phase, rank);
  }

  /// Each calling lane for which `signals` holds is about to arrive once, in the CTA of its own `rank`.
  template <class Barrier>
  SLUICE_DEVICE void arrives_spread(Barrier const& barrier, int phase, uint32_t rank, bool signals) const {
    if (recorder_ != nullptr) recorder_->arrives_spread(word_of(barrier), phase, rank, signals);
  }

  /// Each calling lane is about to announce bytes, with an arrival or without.
  template <class Barrier>
  SLUICE_DEVICE void arms(Barrier const& barrier, int phase, uint32_t bytes) const {
    if (recorder_ != nullptr) recorder_->arms(word_of(barrier), phase, bytes);
  }
  template <class Barrier>
  SLUICE_DEVICE void expects(Barrier const& barrier, int phase, uint32_t bytes) const {
    if (recorder_ != nullptr) recorder_->expects(word_of(barrier), phase, bytes);
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

  /// The lanes of the calling warp are about to do something together: they meet, so that one record tells of
  /// all.
  SLUICE_DEVICE void gather() const {
    if (recorder_ != nullptr) trace::detail::meet(trace::detail::kWholeWarp);
  }

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
    SLUICE_DEVICE Role(Traced const& traced, char const (&name)[Size], bool takes_part)
        : recorder_(takes_part ? traced.recorder() : nullptr) {
      if (recorder_ != nullptr) recorder_->begin_role(name);
    }
    Role(Role const&) = delete;
    Role& operator=(Role const&) = delete;
    SLUICE_DEVICE ~Role() {
      if (recorder_ != nullptr) recorder_->end_role();
    }

   private:
    trace::Recorder* recorder_;
  };

 private:
  template <class Barrier>
  SLUICE_DEVICE static uint64_t const* word_of(Barrier const& barrier) {
    return reinterpret_cast<uint64_t const*>(&barrier);
  }

  trace::Recorder* recorder_ = nullptr;
  uint32_t stage_bytes_ = 0;
};

}  // namespace sluice
