// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The draining side of a ring: a cursor that hands out full stages and gives them back. It lives as long as
// the role does, across any number of loops, so index and phase are never restarted.
#pragma once

#include "sluice/pipeline/ring_multicast.hpp"
#include "sluice/pipeline/ring_storage.hpp"

namespace sluice {

/// How many of the newest stages a loop keeps when its body ends; `hold<1>` for a wgmma that is still in
/// flight.
template <int Stages>
struct Hold {
  static_assert(Stages >= 0, "sluice: hold<K> keeps 0 or more stages");
};
template <int Stages>
inline constexpr Hold<Stages> hold{};

/// The most stages that can be kept.
inline constexpr int kMaxHeldStages = 4;

namespace detail {

/// Arrives once at a barrier whose address in the cluster's window is known.
/// PTX: mbarrier.arrive.shared::cluster.b64 (release, CTA scope, as everywhere here)
SLUICE_DEVICE void arrive_at_peer(uint32_t cluster_address) {
  SLUICE_PTX("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(cluster_address) : "memory");
}

}  // namespace detail

template <class Facts_>
class RingConsumer {
 public:
  using Facts = Facts_;
  using State = PipelineState<Facts::kStages>;
  static constexpr TileRight kRights = Facts::kReadByAsyncProxy ? TileRight::Wgmma : TileRight::None;

  /// A stage in the consumer's hands: its tiles to read; given back when the object's life ends. Each thread
  /// of the consumer warps holds one.
  template <int Held>
  class FullStage : public detail::StageTiles<Facts, true, kRights> {
   public:
    SLUICE_DEVICE FullStage(RingConsumer* consumer, const State& state, int trip)
        : detail::StageTiles<Facts, true, kRights>(consumer->places_.stage(state.index())),
          consumer_(consumer),
          state_(state),
          trip_(trip) {}
    FullStage(const FullStage&) = delete;
    FullStage& operator=(const FullStage&) = delete;

    /// Gives the stage back, or with `hold<K>` the one K before it. In a cluster: whole warps. Does not
    /// block.
    SLUICE_DEVICE ~FullStage() {
      if constexpr (Held == 0) {
        consumer_->release(state_);
      } else {
        consumer_->template release_after<Held>(state_);
      }
    }

    /// How many stages this loop has handed out before.
    SLUICE_DEVICE int trip() const { return trip_; }
    /// Number of the stage in the ring, for records.
    SLUICE_DEVICE int stage_index() const { return state_.index(); }

   private:
    RingConsumer* consumer_;
    State state_;
    int trip_;
  };

  SLUICE_DEVICE RingConsumer(detail::RingPlaces<Facts> places, bool is_mine)
      : places_(places), is_mine_(is_mine), role_(places.barriers.trace(), "consumer", is_mine) {
    if constexpr (Facts::kTargets > 1) {
      const uint32_t lane = detail::lane_index();
      is_signaller_ = lane < Facts::kTargets;
      // Lanes without a target keep an address that exists, of this warp's first target.
      peer_empty_ = ptx::mapa(ptx::shared_address(&places.barriers.empty(0)),
                              detail::refilling_cta<Facts>(ptx::cluster_ctarank(), is_signaller_ ? lane : 0));
    }
#pragma unroll
    for (State& state : held_) state = none();
  }
  RingConsumer(const RingConsumer&) = delete;
  RingConsumer& operator=(const RingConsumer&) = delete;

  /// Gives back what is still held.
  SLUICE_DEVICE ~RingConsumer() {
    release_held();
  }

  /// Is this thread a consumer?
  SLUICE_DEVICE explicit operator bool() const {
    return is_mine_;
  }

  /// The next `count` stages, for a range-for: each trip waits for a stage, hands it out, and gives it back
  /// when the body ends, by whatever way. All threads of the consumer warps; blocks.
  SLUICE_DEVICE auto take(int count) {
    return take(count, hold<0>);
  }

  /// The same, but a stage is given back K trips later; the last K stay held until `release_held`, the next
  /// `take` or the end of the consumer's life.
  template <int K>
  SLUICE_DEVICE auto take(int count, Hold<K>) {
    release_held();
    if constexpr (Facts::kConsumerGroups == 1) {
      return detail::StageRange<Taker<K>>(Taker<K>{this}, count);
    } else {
      return Turn<K>(this, count);
    }
  }

  /// Waits for the next stage alone. Blocks.
  SLUICE_DEVICE auto wait() {
    return wait(hold<0>);
  }
  template <int K>
  SLUICE_DEVICE auto wait(Hold<K>) {
    static_assert(Facts::kConsumerGroups == 1,
                  "sluice: consumers that take turns wait in take() alone, which knows whose turn it is");
    return Taker<K>{this}(0);
  }

  /// Is the next stage full? May sleep shortly, as the hardware decides.
  SLUICE_DEVICE bool is_ready() const {
    return places_.barriers.try_full(state_.index(), state_.phase(), false) == BarrierStatus::WaitDone;
  }

  /// Gives back the stages that a loop with `hold<K>` has kept, when nothing reads them any more.
  SLUICE_DEVICE void release_held() {
#pragma unroll
    for (State& state : held_) {
      if (!is_none(state)) release(state);
      state = none();
    }
  }

  /// Which of the groups that take turns this thread belongs to.
  SLUICE_DEVICE int group() const {
    return detail::rank_in_warps<typename Facts::ConsumerWarps>() / Facts::kGroupThreads;
  }

  /// Passes over the `count` stages of another group's item; only where groups take turns. Does not block.
  SLUICE_DEVICE void skip(int count) {
    static_assert(
        Facts::kConsumerGroups > 1,
        "sluice: only consumers that take turns skip stages; here the producer would wait for ever");
    state_.advance(static_cast<uint32_t>(count));
  }

  /// Index, phase and count of the stage that comes next, for records.
  SLUICE_DEVICE State state() const {
    return state_;
  }

  // What belongs to the other side, or to another ring. The return type makes the compiler look inside at
  // once.
  template <class... Any>
  SLUICE_DEVICE auto fill(Any...) {
    static_assert(sizeof...(Any) > 64,
                  "sluice: a consumer's cursor cannot fill a ring: fill with ring.producer()");
  }
  template <class... Any>
  SLUICE_DEVICE auto acquire(Any...) {
    static_assert(sizeof...(Any) > 64,
                  "sluice: a consumer's cursor cannot fill a ring: acquire with ring.producer()");
  }
  template <class Other, class = detail::IsNotA<Other, RingConsumer>, class = detail::IsNoCursor<Other>>
  RingConsumer(const Other& other);

 private:
  SLUICE_DEVICE static State none() {
    return State(-1, 0, 0);
  }
  SLUICE_DEVICE static bool is_none(const State& state) {
    return state.index() == -1;
  }

  /// Makes a loop's value: waits, and moves the cursor on, so that leaving the loop early leaves it in order.
  template <int K>
  struct Taker {
    static_assert(
        K + Facts::kLateStages < Facts::kStages,
        "sluice: hold<K> keeps so many stages that none is left for the producer: take more stages");
    static_assert(K <= kMaxHeldStages, "sluice: hold<K> keeps at most 4 stages");
    RingConsumer* consumer;

    SLUICE_DEVICE FullStage<K> operator()(int trip) const {
      auto& state = consumer->state_;
      const State here = state;
      consumer->places_.barriers.wait_full(here);
      ++state;
      return FullStage<K>(consumer, here, trip);
    }
  };

  /// One item of a group that takes turns: begins when the group before has finished, ends with the loop.
  /// Without that order a group could wait for a stage whose phase has come round again.
  template <int K>
  class Turn : public detail::StageRange<Taker<K>> {
   public:
    SLUICE_DEVICE Turn(RingConsumer* consumer, int count)
        : detail::StageRange<Taker<K>>(Taker<K>{consumer}, count), consumer_(consumer) {
      const int group = consumer->group();
      // The first group's first turn is free: it waits for the phase before the first.
      consumer->places_.barriers.trace().wait(
          consumer->places_.turn(group), (group == 0) ^ consumer->turn_phase_,
          consumer->turns_.value() - (group == 0),
          detail::WaitSite{detail::WaitSite::Waiter::Group, detail::WaitSite::Barrier::Sequence,
                           static_cast<uint32_t>(group)});
      consumer->turn_phase_ ^= 1;
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    SLUICE_DEVICE ~Turn() {
      const int next = consumer_->group() + 1;
      const auto& barrier = consumer_->places_.turn(next == Facts::kConsumerGroups ? 0 : next);
      consumer_->places_.barriers.trace().arrives(barrier, consumer_->turns_.value());
      barrier.arrive();
      consumer_->turns_.next();
    }

   private:
    RingConsumer* consumer_;
  };

  SLUICE_DEVICE void release(const State& state) {
    const auto index = static_cast<uint32_t>(state.index());
    if constexpr (Facts::kTargets == 1) {
      places_.barriers.note_release(state);
      places_.barriers.empty(index).arrive();
    } else {
      // One lane per CTA that refills this stage; the warp's reads are done when its lanes have met.
      detail::meet_warp();
      places_.barriers.note_spread_release(
          state, {detail::refilling_cta<Facts>(ptx::cluster_ctarank(), detail::lane_index()), is_signaller_});
      if (is_signaller_) detail::arrive_at_peer(peer_empty_ + 8 * index);
    }
  }

  template <int K>
  SLUICE_DEVICE void release_after(const State& state) {
    if (!is_none(held_[0])) release(held_[0]);
#pragma unroll
    for (int i = 0; i + 1 < K; ++i) held_[i] = held_[i + 1];
    held_[K - 1] = state;
  }

  detail::RingPlaces<Facts> places_;
  State state_;
  bool is_mine_;
  bool is_signaller_ = true;
  uint32_t peer_empty_ = 0;
  uint32_t turn_phase_ = 0;
  typename Facts::Trace::Count turns_;
  State held_[kMaxHeldStages];
  typename Facts::Trace::Role role_;
};

}  // namespace sluice
