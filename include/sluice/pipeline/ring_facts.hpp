// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Everything that follows from the statement of a ring at compile time: offsets, bytes and alignment, arrival
// counts, how many stages fit, and which statements cannot work. Each rule is a sentence; the rules stand
// first, so that a broken one is the compiler's first error.
#pragma once

#include <cstddef>
#include <type_traits>

#include "sluice/pipeline/ring_roles.hpp"
#include "sluice/pipeline/stage_barriers.hpp"

namespace sluice {

/// The shared memory that one CTA can have on sm_90.
inline constexpr int kMaxSharedBytes = 227 * 1024;

namespace detail {

/// The I-th type of a list.
template <int I, class... Types>
struct TypeAt;
template <int I, class First, class... Rest>
struct TypeAt<I, First, Rest...> : TypeAt<I - 1, Rest...> {};
template <class First, class... Rest>
struct TypeAt<0, First, Rest...> {
  using type = First;
};

constexpr int round_up(int value, int unit) {
  return (value + unit - 1) / unit * unit;
}

/// Sizes and offsets of a stage's tiles, one after the other, each on its own alignment.
template <class... Operands>
struct StageFacts {
  static constexpr int kTiles = sizeof...(Operands);

  template <int I>
  using Operand = OperandTraits<typename TypeAt<I, Operands...>::type>;
  template <int I>
  using Tile = typename Operand<I>::Tile;

  static constexpr int alignment() {
    int most = 16;
    ((most = OperandTraits<Operands>::Tile::kAlignment > most ? OperandTraits<Operands>::Tile::kAlignment
                                                              : most),
     ...);
    return most;
  }

  /// Where tile `index` starts; with index = kTiles, where the last one ends.
  static constexpr int offset(int index) {
    int at = 0;
    int i = 0;
    ((at = i < index ? round_up(at, OperandTraits<Operands>::Tile::kAlignment) +
                           OperandTraits<Operands>::Tile::kBytes
           : i == index ? round_up(at, OperandTraits<Operands>::Tile::kAlignment)
                        : at,
      ++i),
     ...);
    return at;
  }

  template <int I>
  static constexpr int kOffset = offset(I);

  /// Do all lines of a multicast tile divide among its CTAs, in groups that keep swizzle and copy size?
  template <class Cluster>
  static constexpr bool shares_are_whole() {
    return (share_is_whole<Cluster, Operands>() && ...);
  }

  /// Is some tile multicast along `along`?
  static constexpr bool has_multicast(Along along) {
    return ((OperandTraits<Operands>::kMulticast && OperandTraits<Operands>::kAlong == along) || ...);
  }

  /// Is there a multicast tile that only one CTA would receive?
  template <class Cluster>
  static constexpr bool has_idle_multicast() {
    return ((OperandTraits<Operands>::kMulticast &&
             multicast_ctas<Cluster>(OperandTraits<Operands>::kAlong) == 1) ||
            ...);
  }

 private:
  template <class Cluster, class Operand>
  static constexpr bool share_is_whole() {
    using Tile = typename OperandTraits<Operand>::Tile;
    if constexpr (!OperandTraits<Operand>::kMulticast) {
      return true;
    } else {
      constexpr int kCtas = multicast_ctas<Cluster>(OperandTraits<Operand>::kAlong);
      if constexpr (Tile::kLines == 1) return Tile::kPanelBytes % (kCtas * 128) == 0;
      return Tile::kLines % kCtas == 0 && Tile::kPanelBytes / kCtas % Tile::kAlignment == 0;
    }
  }
};

/// The rules of a ring. `Asked` and `Fitting` stages show up in the compiler's notes.
template <int Asked, int Fitting>
struct StagesFit {
  static_assert(Asked <= Fitting,
                "sluice: more stages than fit into the 232448 bytes of shared memory that a CTA can have; "
                "StagesFit<asked, fitting> below says how many do");
  static constexpr bool value = true;
};

/// Half of the stages that others could need meanwhile, at least one and at most four.
constexpr int late_stages(int stages) {
  return stages < 4 ? 1 : stages < 9 ? (stages - 1) / 2 : 4;
}

/// A ring's barriers. Groups that take turns have one each, which completes a phase when it is their turn. (A
/// base class, since nvcc 13.0 places members behind an empty [[no_unique_address]] member differently on the
/// device.)
template <int Stages, int Groups>
struct RingBarriers : StageBarrierStorage<ClusterTransactionBarrier, ClusterBarrier, Stages> {
  ClusterBarrier turn_[Groups];
};
template <int Stages>
struct RingBarriers<Stages, 1> : StageBarrierStorage<ClusterTransactionBarrier, ClusterBarrier, Stages> {};

template <class Stage_, int Stages_, class Producer_, class Consumers_, class Trace_ = NotTraced>
struct RingFacts {
  static_assert(kNever<Stage_>,
                "sluice: the first argument of a Ring is its stage, as in Stage<Tile<...>, Tile<...>>");
};

template <class... Operands, int Stages_, class Producer_, class Consumers_, class Trace_>
struct RingFacts<Stage<Operands...>, Stages_, Producer_, Consumers_, Trace_> : StageFacts<Operands...> {
  // What was stated makes sense.
  static_assert(sizeof...(Operands) >= 1, "sluice: a stage holds at least one tile");
  static_assert(
      (OperandTraits<Operands>::kValid && ...),
      "sluice: a stage holds tiles, as in Stage<Tile<...>>, plain or as Multicast<Tile<...>, Along::X>");
  static_assert(Stages_ >= 1, "sluice: a ring has at least one stage");
  static_assert(kIsCopyEngine<Producer_> || kIsCpAsync<Producer_> || kIsStores<Producer_>,
                "sluice: the third argument of a Ring says who fills it: CopyEngine, CpAsync or Stores");
  static_assert(kIsConsumers<Consumers_>,
                "sluice: the fourth argument of a Ring says who drains it: Consumers or TakingTurns");
  static_assert(
      !kWarpsOverlap<typename Producer_::Warps, typename Consumers_::Warps>,
      "sluice: consumer warps overlap the producer's: a warp either fills a ring or drains it, or it would "
      "wait for itself");

  using Facts = StageFacts<Operands...>;
  using Trace = Trace_;
  using Cluster = typename Producer_::Cluster;
  using Barriers = RingBarriers<Stages_, Consumers_::kGroups>;

  static constexpr bool kReadByAsyncProxy = Producer_::kReadBy == ReadBy::AsyncProxy;
  static_assert(!kIsCpAsync<Producer_> || Producer_::kReadBy == ReadBy::Threads || Stages_ >= 2,
                "sluice: cp.async for the asynchronous proxy needs two stages or more, one of them still in "
                "flight when "
                "the one before is passed on");

  /// Stages whose copies may be in flight when a later one is filled, because their threads pass them on
  /// late.
  static constexpr int kLateStages = kIsCpAsync<Producer_> && kReadByAsyncProxy ? late_stages(Stages_) : 0;

  // Groups that take turns wait for each other at a barrier apiece.
  static constexpr int kConsumerGroups = Consumers_::kGroups;
  static constexpr int kGroupThreads = Consumers_::kThreads;
  using ConsumerWarps = typename Consumers_::Warps;
  static constexpr int kTurnBytes = kConsumerGroups > 1 ? 8 * kConsumerGroups : 0;

  // Bytes.
  static constexpr int kStages = Stages_;
  static constexpr int kAlignment = Facts::alignment();
  static constexpr int kTransactionBytes = (OperandTraits<Operands>::Tile::kBytes + ...);
  static constexpr int kStageBytes = round_up(Facts::offset(Facts::kTiles), kAlignment);
  static constexpr int kBarrierBytes = 16;
  static constexpr int kMaxStages = (kMaxSharedBytes - kTurnBytes) / (kStageBytes + kBarrierBytes);
  static_assert(
      kMaxStages >= 1,
      "sluice: one stage alone needs more shared memory than the device has (232448 bytes per CTA): make its "
      "tiles smaller");
  static_assert(kMaxStages < 1 || StagesFit<Stages_, (kMaxStages < 1 ? Stages_ : kMaxStages)>::value);

  // Multicast.
  static constexpr bool kMulticast = (OperandTraits<Operands>::kMulticast || ...);
  static_assert(!kMulticast || kIsCopyEngine<Producer_>, "sluice: only the copy engine multicasts a tile");
  static_assert(
      !kMulticast || !Facts::template has_idle_multicast<Cluster>(),
      "sluice: a tile is multicast along a dimension in which the cluster has one CTA: give CopyEngine the "
      "cluster's shape");
  static_assert(
      !kMulticast || Facts::template shares_are_whole<Cluster>(),
      "sluice: the lines of a multicast tile do not divide among the CTAs that load it into parts that keep "
      "the tile's alignment");

  // Signals. A CTA refills stages of all CTAs that it multicasts to, so each consumer tells all of them.
  static constexpr bool kRefillX = Facts::has_multicast(Along::X);
  static constexpr bool kRefillY = Facts::has_multicast(Along::Y);
  static constexpr bool kRefillAll = Facts::has_multicast(Along::All);
  using Extent = ClusterTraits<Cluster>;
  static constexpr int kTargets = kRefillAll             ? Extent::kSize
                                  : kRefillX && kRefillY ? Extent::kX + Extent::kY - 1
                                  : kRefillX             ? Extent::kX
                                  : kRefillY             ? Extent::kY
                                                         : 1;
  static constexpr int kFullArrivals = kIsCopyEngine<Producer_> ? 1 : Producer_::Warps::kThreads;
  static constexpr int kEmptyArrivals = kTargets == 1 ? Consumers_::kThreads : kTargets * Consumers_::kWarps;
};

}  // namespace detail
}  // namespace sluice
