// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A ring on the way out: warps write tiles into shared memory, the copy engine stores them to global memory
// while the next ones are written. There are no mbarriers in it: the engine reads a stage until its bulk
// group says otherwise, and the warps meet at a named barrier. Built on PipelineTmaStore and NamedBarrier.
//
//   using Out = sluice::StoreRing<sluice::Stage<sluice::Tile<float, 64, 32>>, 2, sluice::Warpgroups<1>>;
//   Out out(shared.out);
//   if (auto writer = out.writer()) {
//     for (auto slot : writer.fill(tiles)) {
//       slot(row, column) = value;              // all threads of the warps, each its elements
//       slot.store(sluice::to(map, x, y));
//     }
//   }
#pragma once

#include "sluice/pipeline/named_barrier.hpp"
#include "sluice/pipeline/pipeline_tma_store.hpp"
#include "sluice/pipeline/ring_diagnosis.hpp"
#include "sluice/pipeline/ring_source.hpp"
#include "sluice/pipeline/ring_storage.hpp"

namespace sluice {

namespace detail {

template <class Stage_, int Stages_>
struct StoreRingFacts {
  static_assert(kNever<Stage_>,
                "sluice: the first argument of a StoreRing is its stage, as in Stage<Tile<...>, Tile<...>>");
};

template <class... Operands, int Stages_>
struct StoreRingFacts<Stage<Operands...>, Stages_> : StageFacts<Operands...> {
  static_assert(sizeof...(Operands) >= 1, "sluice: a stage holds at least one tile");
  static_assert((kIsTile<Operands> && ...),
                "sluice: a store ring's stage holds tiles, as in Stage<Tile<...>>");
  static_assert(Stages_ >= 1, "sluice: a ring has at least one stage");

  using Base = StageFacts<Operands...>;
  static constexpr int kStages = Stages_;
  static constexpr int kAlignment = Base::alignment() < 128 ? 128 : Base::alignment();
  static constexpr int kStageBytes = round_up(Base::offset(Base::kTiles), kAlignment);
  static constexpr int kTileBytes = (OperandTraits<Operands>::Tile::kBytes + ...);
  static constexpr int kMaxStages = kMaxSharedBytes / kStageBytes;
  static_assert(
      kMaxStages >= 1,
      "sluice: one stage alone needs more shared memory than the device has (232448 bytes per CTA): make its "
      "tiles smaller");
  static_assert(kMaxStages < 1 || StagesFit<Stages_, (kMaxStages < 1 ? Stages_ : kMaxStages)>::value);
  struct Extent {
    static constexpr uint32_t kSize = 1;
  };
};

/// The shared memory of a store ring: stages alone.
template <class Facts>
struct alignas(Facts::kAlignment) StoreRingStorage {
  unsigned char stages[Facts::kStages * Facts::kStageBytes];
};

}  // namespace detail

/// The cursor of a store ring: true in all threads of the writing warps, which call everything together.
template <class Facts_, class Warps_, int NamedBarrierId_, class Trace_ = NotTraced>
class RingWriter {
 public:
  using Facts = Facts_;

  /// A stage that may be written; stored by `store`.
  class Slot : public detail::StageTiles<Facts, false, TileRight::None> {
   public:
    SLUICE_DEVICE Slot(RingWriter* writer, int index, int trip)
        : detail::StageTiles<Facts, false, TileRight::None>(writer->stages_ + index * Facts::kStageBytes),
          writer_(writer),
          index_(index),
          trip_(trip) {}
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;

    /// Closes the stage's bulk group, be it empty.
    SLUICE_DEVICE ~Slot() {
      if (writer_->is_issuer_) writer_->pipeline_.producer_commit(writer_->state_);
    }

    /// Stores the stage's tiles, one destination per tile, once all threads have written. All threads of the
    /// warps; blocks until they have met, not for the store. PTX: fence.proxy.async, bar.sync,
    /// cp.async.bulk[.tensor] to global
    template <class... Destinations>
    SLUICE_DEVICE void store(const Destinations&... destinations) {
      static_assert(sizeof...(Destinations) == Facts::kTiles,
                    "sluice: store() takes one destination for each tile of the stage");
      if constexpr (sizeof...(Destinations) == Facts::kTiles) {
        fence_view_async_shared();
        writer_->meet();
        if (writer_->is_issuer_) store_all(std::make_integer_sequence<int, Facts::kTiles>{}, destinations...);
      }
    }

    /// How many stages this loop has handed out before.
    SLUICE_DEVICE int trip() const { return trip_; }
    /// Number of the stage in the ring, for records.
    SLUICE_DEVICE int stage_index() const { return index_; }

   private:
    template <int... I, class... Destinations>
    SLUICE_DEVICE void store_all(std::integer_sequence<int, I...>, const Destinations&... destinations) {
      (detail::issue_store<typename Facts::template Tile<I>>(this->address() + Facts::template kOffset<I>,
                                                             destinations),
       ...);
    }

    RingWriter* writer_;
    int index_;
    int trip_;
  };

  SLUICE_DEVICE RingWriter(unsigned char* stages, bool is_mine)
      : pipeline_(typename Pipeline::Params{true}),
        stages_(stages),
        is_mine_(is_mine),
        is_issuer_(is_mine && detail::rank_in_warps<Warps_>() == 0) {}
  /// Notes go into `recorder`.
  template <class Recorder>
  SLUICE_DEVICE RingWriter(unsigned char* stages, bool is_mine, Recorder& recorder)
      : RingWriter(stages, is_mine) {
    if (is_issuer_) pipeline_.record_in(recorder, Facts::kTileBytes);
  }
  RingWriter(const RingWriter&) = delete;
  RingWriter& operator=(const RingWriter&) = delete;

  /// Waits until no store reads shared memory any more; what was stored is visible to whoever waits for the
  /// kernel.
  SLUICE_DEVICE ~RingWriter() {
    if (is_issuer_) pipeline_.producer_tail(state_);
  }

  /// Is this thread one of the writers?
  SLUICE_DEVICE explicit operator bool() const { return is_mine_; }

  /// The next `count` stages, for a range-for. All threads of the warps; blocks until a stage may be
  /// overwritten.
  SLUICE_DEVICE auto fill(int count) { return detail::StageRange<Acquirer>(Acquirer{this}, count); }

  /// The next stage alone.
  SLUICE_DEVICE Slot acquire() { return Acquirer{this}(0); }

  /// Number of this thread among the writers, and how many there are: for dividing a tile among them.
  SLUICE_DEVICE static int rank() { return detail::rank_in_warps<Warps_>(); }
  SLUICE_HOST_DEVICE static constexpr int size() { return Warps_::kThreads; }

 private:
  using Pipeline = PipelineTmaStore<Facts::kStages, Facts::kStages - 1, Trace_>;

  struct Acquirer {
    RingWriter* writer;

    SLUICE_DEVICE Slot operator()(int trip) const {
      const int index = writer->state_.index();
      if (writer->is_issuer_) writer->pipeline_.producer_acquire(writer->state_);
      writer->meet();
      ++writer->state_;
      return Slot(writer, index, trip);
    }
  };

  /// All threads of the warps have come here.
  SLUICE_DEVICE static void meet() {
    if constexpr (Warps_::kCount == 1) {
      detail::meet_warp();
    } else {
      NamedBarrier::sync(Warps_::kThreads, NamedBarrierId_);
    }
  }

  Pipeline pipeline_;
  PipelineState<Facts::kStages> state_;
  unsigned char* stages_;
  bool is_mine_;
  bool is_issuer_;
};

/// A ring of `Stages_` stages that `Warps_` fill and the copy engine stores. `NamedBarrierId_` (0 to 7) is
/// the CTA barrier that the warps meet at; each store ring with more than one warp takes another.
template <class Stage_, int Stages_, class Warps_, int NamedBarrierId_ = 0, class Trace_ = NotTraced>
class StoreRing {
 public:
  using Facts = detail::StoreRingFacts<Stage_, Stages_>;
  static_assert(NamedBarrierId_ >= 0 && NamedBarrierId_ < 8, "sluice: a user's named barriers are 0 to 7");
  static constexpr int kStages = Facts::kStages;
  static constexpr int kMaxStages = Facts::kMaxStages;
  static constexpr int kStageBytes = Facts::kStageBytes;
  static constexpr int kAlignment = Facts::kAlignment;

  using SharedStorage = detail::StoreRingStorage<Facts>;
  static constexpr int kSharedBytes = kStages * kStageBytes;
  using Writer = RingWriter<Facts, Warps_, NamedBarrierId_, Trace_>;

  /// All threads; does not block.
  SLUICE_DEVICE explicit StoreRing(SharedStorage& storage) : stages_(storage.stages) {
    detail::expect_ring_fits<Facts, Warps_::kFirst + Warps_::kCount>(&storage, kSharedBytes);
  }
  StoreRing(const StoreRing&) = delete;
  StoreRing& operator=(const StoreRing&) = delete;

  /// The writers' cursor: `if (auto writer = ring.writer())`. Made once per kernel; true in the threads of
  /// the warps.
  SLUICE_DEVICE Writer writer() const {
    return Writer(stages_, detail::is_in_warps<Warps_>(ptx::warp_index_sync()));
  }
  /// With Traced as the ring's last argument: the issuing thread notes its waits and commits in `recorder`.
  template <class Recorder>
  SLUICE_DEVICE Writer writer(Recorder& recorder) const {
    return Writer(stages_, detail::is_in_warps<Warps_>(ptx::warp_index_sync()), recorder);
  }

 private:
  unsigned char* stages_;
};

}  // namespace sluice
