// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A typed ring: state what a stage holds, how many stages there are, who fills it and who drains it; arrival
// counts, bytes, alignment, start phases and shared-memory size follow, and what cannot work does not
// compile.
//
//   using Loads = sluice::Ring<sluice::Stage<sluice::Tile<__half, 128, 64, sluice::Swizzle::B128>>, 3,
//                              sluice::CopyEngine<sluice::Warps<0>>, sluice::Consumers<sluice::Warps<1, 3>>>;
//
//   Loads loads(sluice::shared_memory<Loads::SharedStorage>());
//   if (auto producer = loads.producer()) {
//     for (auto slot : producer.fill(tiles)) slot.load(sluice::from(map, 0, 128 * slot.trip()));
//   }
//   if (auto consumer = loads.consumer()) {
//     for (auto tile : consumer.take(tiles)) sum += tile(row, column);
//   }
#pragma once

#if __cplusplus < 202002L
#error \
    "sluice/pipeline/ring.hpp (typed rings, layer 2) needs C++20: compile with -std=c++20, or use layer 1, sluice/pipeline.hpp"
#else

#include "sluice/pipeline/init.hpp"
#include "sluice/pipeline/ring_consumer.hpp"
#include "sluice/pipeline/ring_producer.hpp"

namespace sluice {

/// Leaves the synchronisation after a ring's constructor to the ring that is made last.
struct SyncLater {};
inline constexpr SyncLater sync_later{};

/// The kernel's dynamic shared memory as a `T`, on the alignment that tiles need. Any thread.
template <class T>
SLUICE_DEVICE T& shared_memory() {
  static_assert(sizeof(T) <= kMaxSharedBytes,
                "sluice: this needs more shared memory than the device has (232448 bytes per CTA)");
  static_assert(alignof(T) <= 1024, "sluice: dynamic shared memory is aligned to at most 1024 bytes here");
#if defined(__CUDACC__)
  extern __shared__ __align__(1024) unsigned char sluice_shared_memory[];
  return *reinterpret_cast<T*>(sluice_shared_memory);
#else
  return *static_cast<T*>(nullptr);
#endif
}

namespace detail {

template <class Facts, class Producer>
struct ProducerCursor;
template <class Facts, class Warps, class Cluster>
struct ProducerCursor<Facts, CopyEngine<Warps, Cluster>> {
  using type = CopyEngineProducer<Facts>;
};
template <class Facts, class Warps, ReadBy Reader>
struct ProducerCursor<Facts, CpAsync<Warps, Reader>> {
  using type = CpAsyncProducer<Facts, Warps, Reader>;
};
template <class Facts, class Warps, ReadBy Reader>
struct ProducerCursor<Facts, Stores<Warps, Reader>> {
  using type = StoresProducer<Facts, Warps, Reader>;
};

}  // namespace detail

/// A ring of `Stages_` stages in the shared memory of a CTA. With Traced (sluice/trace.hpp) as its last
/// argument it is made with a recorder, in which its cursors note what they do.
template <class Stage_, int Stages_, class Producer_, class Consumers_, class Trace_ = NotTraced>
class Ring {
 public:
  using Facts = detail::RingFacts<Stage_, Stages_, Producer_, Consumers_, Trace_>;
  static_assert(sizeof(Facts) > 0);  // looks at the rules before anything else is derived
  static constexpr int kStages = Facts::kStages;
  static constexpr int kMaxStages = Facts::kMaxStages;
  static constexpr int kStageBytes = Facts::kStageBytes;
  static constexpr int kTransactionBytes = Facts::kTransactionBytes;
  static constexpr int kAlignment = Facts::kAlignment;
  static constexpr int kFullArrivals = Facts::kFullArrivals;
  static constexpr int kEmptyArrivals = Facts::kEmptyArrivals;

  /// The ring's shared memory. Several rings are members of one struct.
  using SharedStorage = detail::RingStorage<Facts>;
  /// The bytes that a kernel with this ring alone asks for at launch: the storage without its padding at the
  /// end.
  static constexpr int kSharedBytes =
      detail::round_up(kStages * kStageBytes + static_cast<int>(sizeof(typename Facts::Barriers)), 128);

  using Producer = typename detail::ProducerCursor<Facts, Producer_>::type;
  using Consumer = RingConsumer<Facts>;

  /// Makes the barriers and waits until the CTA (the cluster) knows them. All threads.
  SLUICE_DEVICE explicit Ring(SharedStorage& storage) : Ring(storage, sync_later) {
    pipeline_init_arrive_relaxed(Facts::Extent::kSize);
    // In a single CTA the call above has synchronised already.
    if constexpr (Facts::Extent::kSize > 1) pipeline_init_wait(Facts::Extent::kSize);
  }

  /// The same without waiting; another ring, made after this one, does.
  SLUICE_DEVICE Ring(SharedStorage& storage, SyncLater) : places_(storage), warp_(ptx::warp_index_sync()) {
    constexpr int kProducerEnd = Producer_::Warps::kFirst + Producer_::Warps::kCount;
    constexpr int kConsumerEnd = Consumers_::Warps::kFirst + Consumers_::Warps::kCount;
    detail::expect_ring_fits<Facts, (kProducerEnd > kConsumerEnd ? kProducerEnd : kConsumerEnd)>(
        &storage, kSharedBytes);
    detail::init_stage_barriers<typename Facts::Barriers, Facts::kStages>(
        "Ring", storage.barriers, kFullArrivals, kEmptyArrivals, Producer_::Warps::kFirst);
    if constexpr (Facts::kConsumerGroups > 1) {
      if (warp_ == Producer_::Warps::kFirst && ptx::elect_one_sync()) {
#pragma unroll
        for (auto& turn : storage.barriers.turn_) turn.init(Facts::kGroupThreads);
        fence_barrier_init();
      }
    }
  }

  /// Both with a recorder, which outlives the ring and its cursors.
  template <class Recorder>
  SLUICE_DEVICE Ring(SharedStorage& storage, Recorder& recorder) : Ring(storage) {
    record_in(recorder);
  }
  template <class Recorder>
  SLUICE_DEVICE Ring(SharedStorage& storage, Recorder& recorder, SyncLater) : Ring(storage, sync_later) {
    record_in(recorder);
  }

  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  /// The producer's cursor: `if (auto producer = ring.producer())`. Made once per kernel, by all threads
  /// (whole warps); true in those that fill.
  SLUICE_DEVICE Producer producer() const {
    if constexpr (detail::kIsCopyEngine<Producer_>) {
      return Producer(places_, detail::is_in_warps<typename Producer_::Warps>(warp_), ptx::elect_one_sync());
    } else {
      return Producer(places_, detail::is_in_warps<typename Producer_::Warps>(warp_));
    }
  }

  /// The consumers' cursor: `if (auto consumer = ring.consumer())`. Made once per kernel, by all threads;
  /// true in those that drain.
  SLUICE_DEVICE Consumer consumer() const {
    return Consumer(places_, detail::is_in_warps<typename Consumers_::Warps>(warp_));
  }

 private:
  template <class Recorder>
  SLUICE_DEVICE void record_in(Recorder& recorder) {
    static_assert(!std::is_same_v<Trace_, NotTraced>,
                  "sluice: this ring is not recorded: give it sluice::Traced as its last template argument");
    places_.barriers.record_in(recorder, detail::is_in_warps<typename Producer_::Warps>(warp_) ||
                                             detail::is_in_warps<typename Consumers_::Warps>(warp_));
  }

  detail::RingPlaces<Facts> places_;
  uint32_t warp_;
};

}  // namespace sluice

#endif
