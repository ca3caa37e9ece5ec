// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Where a ring's stages and barriers lie in shared memory, and the view of one stage's tiles that both kinds
// of cursor hand out. A cursor holds its ring's addresses, not the ring, so that rings can be made and
// forgotten in any order.
#pragma once

#include <utility>

#include "sluice/pipeline/ring_facts.hpp"

namespace sluice {
namespace detail {

/// The shared memory of a ring: stages first, then barriers.
template <class Facts>
struct alignas(Facts::kAlignment) RingStorage {
  unsigned char stages[Facts::kStages * Facts::kStageBytes];
  typename Facts::Barriers barriers;
};

/// The addresses that a cursor works with.
template <class Facts>
struct RingPlaces {
  unsigned char* stages;
  StageBarriers<typename Facts::Barriers, Facts::kStages, typename Facts::Trace> barriers;

  SLUICE_DEVICE explicit RingPlaces(RingStorage<Facts>& storage)
      : stages(storage.stages), barriers(storage.barriers) {}

  SLUICE_DEVICE unsigned char* stage(int index) const { return stages + index * Facts::kStageBytes; }
  /// The barrier that tells group `group` of a ring whose groups take turns to begin.
  SLUICE_DEVICE ClusterBarrier& turn(int group) const {
    return reinterpret_cast<RingStorage<Facts>*>(stages)->barriers.turn_[group];
  }
  SLUICE_DEVICE uint64_t* full_barrier(int index) const {
    return reinterpret_cast<uint64_t*>(&barriers.full(static_cast<uint32_t>(index)));
  }
};

/// The tiles of one stage, to read (`IsConst`) or to write. With one tile the stage is that tile: `stage(row,
/// column)`; with several, `get<I>()` and structured bindings give them in the order of the ring's statement.
template <class Facts, bool IsConst, TileRight Rights>
class StageTiles {
 public:
  static constexpr int kTiles = Facts::kTiles;
  using IsStageTiles = void;

  template <int I>
  using Element = std::conditional_t<IsConst, const typename Facts::template Tile<I>::Element,
                                     typename Facts::template Tile<I>::Element>;
  template <int I>
  using View = TileView<typename Facts::template Tile<I>, Element<I>, Rights>;

  SLUICE_DEVICE explicit StageTiles(unsigned char* stage) : stage_(stage) {}

  /// Tile `I` of the stage.
  template <int I>
  SLUICE_DEVICE View<I> get() const {
    return View<I>(reinterpret_cast<Element<I>*>(stage_ + Facts::template kOffset<I>));
  }

  /// The only tile of the stage.
  SLUICE_DEVICE View<0> tile() const {
    static_assert(Facts::kTiles == 1, "sluice: this stage holds several tiles: take one with get<I>()");
    return get<0>();
  }

  /// TileView's operations, for a stage of one tile.
  SLUICE_DEVICE auto& operator()(int row, int column) const { return tile()(row, column); }
  SLUICE_DEVICE auto& operator[](int i) const { return tile()[i]; }
  template <class Vector>
  SLUICE_DEVICE auto& vector(int row, int column) const {
    return tile().template vector<Vector>(row, column);
  }
  SLUICE_DEVICE auto* data() const { return tile().data(); }
  SLUICE_DEVICE uint64_t wgmma_descriptor(int k = 0) const { return tile().wgmma_descriptor(k); }

 protected:
  SLUICE_DEVICE unsigned char* address() const { return stage_; }

 private:
  unsigned char* stage_;
};

/// Says what is wrong when something else is turned into a cursor. Stands as a default template argument, so
/// that it is the first thing the compiler looks at.
template <class Other>
struct CursorMixUp {
  static_assert(
      kNever<Other>,
      "sluice: this is not a cursor of that side of the ring: each cursor belongs to one ring and one role");
  using type = void;
};
template <class Other, class Cursor>
using IsNotA = std::enable_if_t<!std::is_same_v<Other, Cursor>>;
template <class Other>
using IsNoCursor = typename CursorMixUp<Other>::type;

/// The pieces of a range-for over the next `count` stages of a cursor. `Take` makes the loop's value from the
/// cursor and the number of the trip.
template <class Take>
class StageRange {
 public:
  struct End {};
  class Iterator {
   public:
    SLUICE_DEVICE Iterator(Take take, int count) : take_(take), count_(count) {}
    SLUICE_DEVICE auto operator*() const { return take_(trip_); }
    SLUICE_DEVICE void operator++() { ++trip_; }
    SLUICE_DEVICE bool operator!=(End) const { return trip_ < count_; }

   private:
    Take take_;
    int trip_ = 0;
    int count_;
  };

  SLUICE_DEVICE StageRange(Take take, int count) : take_(take), count_(count) {}
  SLUICE_DEVICE Iterator begin() const { return {take_, count_}; }
  SLUICE_DEVICE End end() const { return {}; }

 private:
  Take take_;
  int count_;
};

}  // namespace detail
}  // namespace sluice

// Structured bindings of a stage: `for (auto [a, b] : consumer.take(n))`.
template <class T>
requires(!std::is_const_v<T>) && requires {
  typename T::IsStageTiles;
}
struct std::tuple_size<T> : std::integral_constant<std::size_t, T::kTiles> {};

template <std::size_t I, class T>
requires(!std::is_const_v<T>) && requires {
  typename T::IsStageTiles;
}
struct std::tuple_element<I, T> {
  using type = typename T::template View<static_cast<int>(I)>;
};
