// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The filling side of a ring, one cursor for each kind of producer: the copy engine, cp.async, ordinary
// stores. A cursor hands out free stages (slots) and passes them on when they are filled. It lives as long as
// the role does; the copy engine's waits at its end for whoever still signals this CTA.
#pragma once

#include "sluice/pipeline/ring_diagnosis.hpp"
#include "sluice/pipeline/ring_multicast.hpp"
#include "sluice/pipeline/ring_source.hpp"
#include "sluice/pipeline/ring_storage.hpp"

namespace sluice {

namespace detail {

/// What all producers' cursors have in common; `Derived` makes a slot from stage and trip.
template <class Facts_, class Derived>
class RingProducerBase {
 public:
  using Facts = Facts_;

  RingProducerBase(const RingProducerBase&) = delete;
  RingProducerBase& operator=(const RingProducerBase&) = delete;

  /// Is this thread a producer?
  SLUICE_DEVICE explicit operator bool() const { return is_mine_; }

  /// The next `count` stages, for a range-for: each trip waits until a stage is free, hands it out, and
  /// passes it on when it is filled. Blocks.
  SLUICE_DEVICE auto fill(int count) {
    return StageRange<Acquirer>(Acquirer{static_cast<Derived*>(this)}, count);
  }

  /// Waits for the next stage alone. Blocks.
  SLUICE_DEVICE auto acquire() { return Acquirer{static_cast<Derived*>(this)}(0); }

  /// Is the next stage free? May sleep shortly, as the hardware decides.
  SLUICE_DEVICE bool is_ready() const {
    return places_.barriers.try_empty(state_.index(), state_.phase(), false) == BarrierStatus::WaitDone;
  }

  /// Index, phase and count of the stage that comes next, for records.
  SLUICE_DEVICE PipelineState<Facts::kStages> state() const { return state_; }

  // What belongs to the other side. The return type makes the compiler look inside at once.
  template <class... Any>
  SLUICE_DEVICE auto take(Any...) {
    static_assert(sizeof...(Any) > 64,
                  "sluice: a producer's cursor cannot drain a ring: take from ring.consumer()");
  }
  template <class... Any>
  SLUICE_DEVICE auto wait(Any...) {
    static_assert(sizeof...(Any) > 64,
                  "sluice: a producer's cursor cannot drain a ring: wait with ring.consumer()");
  }

 protected:
  /// Waits for a free stage and moves the cursor on, so that leaving the loop early leaves it in order.
  struct Acquirer {
    Derived* producer;

    SLUICE_DEVICE auto operator()(int trip) const {
      auto& state = producer->state_;
      const auto here = state;
      producer->places_.barriers.wait_empty(here);
      producer->after_wait();
      ++state;
      return typename Derived::Slot(producer, here, trip);
    }
  };

  /// What a producer does between waiting for a stage and filling it: nothing here.
  SLUICE_DEVICE static void after_wait() {}

  SLUICE_DEVICE RingProducerBase(RingPlaces<Facts> places, bool is_mine)
      : places_(places),
        state_(0, 1, 0),
        is_mine_(is_mine),
        role_(places.barriers.trace(), "producer", is_mine) {}

  RingPlaces<Facts> places_;
  PipelineState<Facts::kStages> state_;  // starts on phase 1: all stages are free at first
  bool is_mine_;
  typename Facts::Trace::Role role_;
};

}  // namespace detail

/// The cursor of a ring that the copy engine fills: true in the producer warp. All its lanes go through the
/// loop together, which keeps addresses and phases in uniform registers; one lane arms the barriers and
/// issues the copies.
template <class Facts>
class CopyEngineProducer : public detail::RingProducerBase<Facts, CopyEngineProducer<Facts>> {
  using Base = detail::RingProducerBase<Facts, CopyEngineProducer<Facts>>;
  friend Base;

 public:
  /// A free stage, to be loaded once.
  class Slot {
   public:
    using State = PipelineState<Facts::kStages>;

    SLUICE_DEVICE Slot(CopyEngineProducer* producer, const State& state, int trip)
        : producer_(producer), state_(state), trip_(trip) {}
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;

    SLUICE_DEVICE ~Slot() { detail::expect_loaded(is_loaded_); }

    /// Expects the bytes of all tiles and starts their copies, one source per tile in the order of the ring's
    /// statement. The whole warp; one lane acts. Does not block. PTX: mbarrier.arrive.expect_tx,
    /// cp.async.bulk[.tensor]
    template <class... Sources>
    SLUICE_DEVICE void load(const Sources&... sources) {
      static_assert(
          sizeof...(Sources) == Facts::kTiles,
          "sluice: load() takes one source for each tile of the stage, since the stage is full only when all "
          "have landed");
      if constexpr (sizeof...(Sources) == Facts::kTiles) {
        detail::expect_not_loaded(is_loaded_);
        is_loaded_ = true;
        if (producer_->is_issuer_) load_all(std::make_integer_sequence<int, Facts::kTiles>{}, sources...);
      }
    }

    /// How many stages this loop has handed out before.
    SLUICE_DEVICE int trip() const { return trip_; }
    /// Number of the stage in the ring, for records.
    SLUICE_DEVICE int stage_index() const { return state_.index(); }

   private:
    template <int... I, class... Sources>
    SLUICE_DEVICE void load_all(std::integer_sequence<int, I...>, const Sources&... sources) {
      const auto& places = producer_->places_;
      const uint32_t bytes = (detail::bytes_from<typename Facts::template Tile<I>>(sources) + ...);
      places.barriers.note_arm(state_, bytes);
      places.barriers.full(static_cast<uint32_t>(state_.index())).arrive_and_expect_tx(bytes);
      (load_one<I>(places, sources), ...);
    }

    template <int I, class Source>
    SLUICE_DEVICE void load_one(const detail::RingPlaces<Facts>& places, const Source& source) {
      using Operand = typename Facts::template Operand<I>;
      using Tile = typename Operand::Tile;
      unsigned char* tile = places.stage(state_.index()) + Facts::template kOffset<I>;
      if constexpr (Operand::kMulticast) {
        constexpr int kShares = detail::multicast_ctas<typename Facts::Cluster>(Operand::kAlong);
        const detail::MulticastPlace place =
            detail::multicast_place<Facts, Operand::kAlong>(ptx::cluster_ctarank());
        detail::issue_multicast_load<Tile, kShares>(tile, source, places.full_barrier(state_.index()),
                                                    place.share, place.mask);
      } else {
        detail::issue_load<Tile>(tile, source, places.full_barrier(state_.index()));
      }
    }

    CopyEngineProducer* producer_;
    State state_;
    int trip_;
    bool is_loaded_ = false;
  };

  SLUICE_DEVICE CopyEngineProducer(detail::RingPlaces<Facts> places, bool is_mine, bool is_issuer)
      : Base(places, is_mine), is_issuer_(is_issuer) {}
  template <class Other, class = detail::IsNotA<Other, CopyEngineProducer>, class = detail::IsNoCursor<Other>>
  CopyEngineProducer(const Other& other);

  /// Is this the lane that issues the copies? For records that one lane writes.
  SLUICE_DEVICE bool is_issuer() const { return is_issuer_; }

  /// Where other CTAs signal this one's barriers, it must not end before they have: waits until all that was
  /// filled has been given back. Elsewhere nothing.
  SLUICE_DEVICE ~CopyEngineProducer() {
    if constexpr (Facts::kTargets > 1) {
      if (!this->is_mine_) return;
      this->places_.barriers.wait_all_empty(this->state_);
    }
  }

 private:
  /// One lane fills for all: none may still wait for the stage when it starts, or the phase could come round
  /// again under its eyes. No instruction where the compiler sees that the lanes are together.
  SLUICE_DEVICE static void after_wait() { detail::meet_warp(); }

  bool is_issuer_;
};

namespace detail {

/// The cursor of a ring that threads fill. `HandOver` passes a stage on, in each thread, and says how slots
/// are written.
template <class Facts, class Warps, class HandOver>
class ThreadProducer : public RingProducerBase<Facts, ThreadProducer<Facts, Warps, HandOver>> {
  using Base = RingProducerBase<Facts, ThreadProducer<Facts, Warps, HandOver>>;
  using Tiles = StageTiles<Facts, !HandOver::kMayStore, HandOver::kRights>;
  friend Base;

 public:
  /// A free stage: its tiles to write. Passed on when the object's life ends.
  class Slot : public Tiles {
   public:
    using State = PipelineState<Facts::kStages>;

    SLUICE_DEVICE Slot(ThreadProducer* producer, const State& state, int trip)
        : Tiles(producer->places_.stage(state.index())), producer_(producer), state_(state), trip_(trip) {}
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;

    SLUICE_DEVICE ~Slot() { producer_->hand_over_.pass(producer_->places_, state_); }

    /// TileView's cp.async operations, for a stage of one tile.
    SLUICE_DEVICE void copy(int row, int column, const void* source) const {
      this->tile().copy(row, column, source);
    }
    SLUICE_DEVICE void copy_or_zero(int row, int column, const void* source, uint32_t valid_bytes) const {
      this->tile().copy_or_zero(row, column, source, valid_bytes);
    }

    /// How many stages this loop has handed out before.
    SLUICE_DEVICE int trip() const { return trip_; }
    /// Number of the stage in the ring, for records.
    SLUICE_DEVICE int stage_index() const { return state_.index(); }

   private:
    ThreadProducer* producer_;
    State state_;
    int trip_;
  };

  SLUICE_DEVICE ThreadProducer(RingPlaces<Facts> places, bool is_mine) : Base(places, is_mine) {}
  template <class Other, class = IsNotA<Other, ThreadProducer>, class = IsNoCursor<Other>>
  ThreadProducer(const Other& other);

  /// Where copies can still be in flight, the thread does not end before they have landed. Elsewhere nothing.
  SLUICE_DEVICE ~ThreadProducer() {
    if constexpr (HandOver::kLandsLater) {
      if (this->is_mine_) ptx::cp_async_wait_all();
    }
  }

  /// The next `count` stages, for a range-for; all of them have been passed on when the loop ends. Blocks.
  SLUICE_DEVICE auto fill(int count) {
    if constexpr (HandOver::kIsLate) {
      return LateRange(this, count);
    } else {
      return Base::fill(count);
    }
  }

  /// Waits for the next stage alone. Blocks.
  SLUICE_DEVICE auto acquire() {
    static_assert(!HandOver::kIsLate,
                  "sluice: cp.async for the asynchronous proxy passes stages on late, so they are filled in "
                  "loops: fill()");
    return Base::acquire();
  }

  /// Number of this thread among the producer's, and how many there are: for dividing a tile among them.
  SLUICE_DEVICE static int rank() { return rank_in_warps<Warps>(); }
  SLUICE_HOST_DEVICE static constexpr int size() { return Warps::kThreads; }

 private:
  /// A loop at whose end the stages that were not passed on yet are.
  class LateRange : public StageRange<typename Base::Acquirer> {
   public:
    SLUICE_DEVICE LateRange(ThreadProducer* producer, int count)
        : StageRange<typename Base::Acquirer>({producer}, count), producer_(producer) {}
    LateRange(const LateRange&) = delete;
    LateRange& operator=(const LateRange&) = delete;
    SLUICE_DEVICE ~LateRange() { producer_->hand_over_.pass_all(producer_->places_); }

   private:
    ThreadProducer* producer_;
  };

  HandOver hand_over_;
};

/// The stage is full when each thread's cp.async so far have landed; the thread does not wait for that. Plain
/// stores would not be ordered by it, so slots can only be copied into.
struct PassWhenCopied {
  static constexpr bool kMayStore = false;
  static constexpr bool kLandsLater = true;
  static constexpr bool kIsLate = false;
  static constexpr TileRight kRights = TileRight::Copy;

  template <class Facts>
  SLUICE_DEVICE static void pass(const RingPlaces<Facts>& places,
                                 const PipelineState<Facts::kStages>& state) {
    places.barriers.note_commit(state);
    ptx::cp_async_mbarrier_arrive_noinc(places.full_barrier(state.index()));
  }
};

/// The same for readers of the asynchronous proxy: a thread waits until its copies have landed, fences,
/// arrives. Up to `Late` stages stay in flight meanwhile.
template <int Late, int Stages>
struct PassCopiedToAsyncProxy {
  static constexpr bool kMayStore = false;
  static constexpr bool kLandsLater = false;
  static constexpr bool kIsLate = true;
  static constexpr TileRight kRights = TileRight::Copy;
  using State = PipelineState<Stages>;

  SLUICE_DEVICE PassCopiedToAsyncProxy() {
#pragma unroll
    for (State& state : waiting_) state = none();
  }

  template <class Facts>
  SLUICE_DEVICE void pass(const RingPlaces<Facts>& places, const State& state) {
    ptx::cp_async_commit_group();
    if (!is_none(waiting_[0])) {
      ptx::cp_async_wait_group<Late>();
      arrive(places, waiting_[0]);
    }
#pragma unroll
    for (int i = 0; i + 1 < Late; ++i) waiting_[i] = waiting_[i + 1];
    waiting_[Late - 1] = state;
  }

  template <class Facts>
  SLUICE_DEVICE void pass_all(const RingPlaces<Facts>& places) {
    ptx::cp_async_wait_group<0>();
#pragma unroll
    for (State& state : waiting_) {
      if (!is_none(state)) arrive(places, state);
      state = none();
    }
  }

 private:
  SLUICE_DEVICE static State none() {
    return State(-1, 0, 0);
  }
  SLUICE_DEVICE static bool is_none(const State& state) {
    return state.index() == -1;
  }

  template <class Facts>
  SLUICE_DEVICE static void arrive(const RingPlaces<Facts>& places, const State& state) {
    fence_view_async_shared();
    places.barriers.note_commit(state);
    places.barriers.full(static_cast<uint32_t>(state.index())).arrive();
  }

  State waiting_[Late];
};

/// The stage is full when each thread has stored its part.
template <ReadBy Reader>
struct PassWhenStored {
  static constexpr bool kMayStore = true;
  static constexpr bool kLandsLater = false;
  static constexpr bool kIsLate = false;
  static constexpr TileRight kRights = TileRight::None;

  template <class Facts>
  SLUICE_DEVICE static void pass(const RingPlaces<Facts>& places,
                                 const PipelineState<Facts::kStages>& state) {
    if constexpr (Reader == ReadBy::AsyncProxy) fence_view_async_shared();
    places.barriers.note_commit(state);
    places.barriers.full(static_cast<uint32_t>(state.index())).arrive();
  }
};

}  // namespace detail

/// The cursor of a ring that cp.async fills: true in all threads of the producer warps.
template <class Facts, class Warps, ReadBy Reader>
using CpAsyncProducer = detail::ThreadProducer<
    Facts, Warps,
    std::conditional_t<Reader == ReadBy::Threads, detail::PassWhenCopied,
                       detail::PassCopiedToAsyncProxy<Facts::kLateStages, Facts::kStages>>>;

/// The cursor of a ring that ordinary stores fill: true in all threads of the producer warps.
template <class Facts, class Warps, ReadBy Reader>
using StoresProducer = detail::ThreadProducer<Facts, Warps, detail::PassWhenStored<Reader>>;

}  // namespace sluice
