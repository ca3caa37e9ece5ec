// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The words in which a ring is stated: which warps fill it and how, which warps drain it, what a stage holds,
// and which of its tiles all CTAs of a cluster share. Types without data; ring_facts.hpp draws the
// conclusions.
#pragma once

#include <type_traits>

#include "sluice/pipeline/cluster_shape.hpp"
#include "sluice/pipeline/tile.hpp"

namespace sluice {

/// `Count_` warps of the CTA from warp `First_` on. CTAs are one-dimensional: warp w holds threads 32w to 32w
/// + 31.
template <int First_, int Count_ = 1>
struct Warps {
  static_assert(First_ >= 0 && Count_ >= 1 && First_ + Count_ <= 32,
                "sluice: a CTA has at most 32 warps, 0 to 31");
  static constexpr int kFirst = First_;
  static constexpr int kCount = Count_;
  static constexpr int kThreads = 32 * Count_;
};

/// Whole warpgroups (four warps each), as wgmma wants them.
template <int First, int Count = 1>
using Warpgroups = Warps<4 * First, 4 * Count>;

/// Who reads what threads have written: other threads, or the asynchronous proxy (wgmma, the copy engine),
/// which needs a fence by each writer.
enum class ReadBy { Threads, AsyncProxy };

/// The copy engine fills the ring: one lane of one warp issues tensor copies (from a tensor map) and bulk
/// copies (from a pointer). With a cluster shape, tiles may be multicast.
template <class Warp_, class Cluster_ = ClusterShape<1>>
struct CopyEngine {
  static_assert(Warp_::kCount == 1, "sluice: one warp issues the copies of a ring: name it as Warps<N>");
  using Warps = Warp_;
  using Cluster = Cluster_;
  static constexpr ReadBy kReadBy = ReadBy::AsyncProxy;
};

/// Threads fill the ring with cp.async, 16 bytes each: for gathers, and data that no tensor map can describe.
/// For readers of the asynchronous proxy a thread passes a stage on some stages later, when it has seen its
/// copies land.
template <class Warps_, ReadBy ReadBy_ = ReadBy::Threads>
struct CpAsync {
  using Warps = Warps_;
  using Cluster = ClusterShape<1>;
  static constexpr ReadBy kReadBy = ReadBy_;
};

/// Threads fill the ring with ordinary stores: computed or converted data.
template <class Warps_, ReadBy ReadBy_ = ReadBy::Threads>
struct Stores {
  using Warps = Warps_;
  using Cluster = ClusterShape<1>;
  static constexpr ReadBy kReadBy = ReadBy_;
};

/// All these warps see every stage; each of their threads takes part in giving it back.
template <class Warps_>
struct Consumers {
  using Warps = Warps_;
  static constexpr int kThreads = Warps_::kThreads;
  static constexpr int kWarps = Warps_::kCount;
  static constexpr int kGroups = 1;
};

/// Groups of warps take turns (ping-pong): the ring's work comes in items of some stages each, item i is
/// drained by group i modulo `Groups_`, one of as many equal parts of the warps. A group takes the stages of
/// its own items and skips those of the others; `take` begins when the group before has finished its own.
template <class Warps_, int Groups_>
struct TakingTurns {
  static_assert(Groups_ >= 2 && Warps_::kCount % Groups_ == 0,
                "sluice: the warps that take turns form two or more groups of equal size");
  using Warps = Warps_;
  static constexpr int kThreads = Warps_::kThreads / Groups_;
  static constexpr int kWarps = Warps_::kCount / Groups_;
  static constexpr int kGroups = Groups_;
};

/// Which CTAs of a cluster receive the same tile: those of a row (equal y), of a column (equal x), or all.
enum class Along { X, Y, All };

/// A tile that several CTAs of the cluster receive: each loads its share of the lines and sends it to all of
/// them.
template <class Tile_, Along Along_>
struct Multicast {
  using Tile = Tile_;
  static constexpr Along kAlong = Along_;
};

/// What one stage of a ring holds: one or several tiles.
template <class... Operands>
struct Stage {};

namespace detail {

template <class T>
struct OperandTraits {
  static constexpr bool kValid = kIsTile<T>;
  static constexpr bool kMulticast = false;
  static constexpr Along kAlong = Along::All;
  using Tile = T;
};
template <class T, Along A>
struct OperandTraits<Multicast<T, A>> {
  static constexpr bool kValid = kIsTile<T>;
  static constexpr bool kMulticast = true;
  static constexpr Along kAlong = A;
  using Tile = T;
};

template <class T>
struct ClusterTraits;
template <uint32_t X, uint32_t Y, uint32_t Z>
struct ClusterTraits<ClusterShape<X, Y, Z>> {
  static constexpr int kX = X;
  static constexpr int kY = Y;
  static constexpr int kSize = X * Y * Z;
  static_assert(Z == 1, "sluice: a ring's cluster is flat: give its shape in x and y");
};

/// Position of the CTA of rank `rank` in its cluster; a constant along a dimension of one CTA.
template <class Extent>
SLUICE_HOST_DEVICE constexpr uint32_t cluster_x(uint32_t rank) {
  return Extent::kX == 1 ? 0 : Extent::kY == 1 ? rank : rank % Extent::kX;
}
template <class Extent>
SLUICE_HOST_DEVICE constexpr uint32_t cluster_y(uint32_t rank) {
  return Extent::kY == 1 ? 0 : Extent::kX == 1 ? rank : rank / Extent::kX;
}

/// How many CTAs receive a tile that is multicast along `along`.
template <class Cluster>
SLUICE_HOST_DEVICE constexpr int multicast_ctas(Along along) {
  using Extent = ClusterTraits<Cluster>;
  return along == Along::X ? Extent::kX : along == Along::Y ? Extent::kY : Extent::kSize;
}

template <class A, class B>
inline constexpr bool kWarpsOverlap = A::kFirst < B::kFirst + B::kCount&& B::kFirst < A::kFirst + A::kCount;

template <class>
inline constexpr bool kIsCopyEngine = false;
template <class W, class C>
inline constexpr bool kIsCopyEngine<CopyEngine<W, C>> = true;
template <class>
inline constexpr bool kIsCpAsync = false;
template <class W, ReadBy R>
inline constexpr bool kIsCpAsync<CpAsync<W, R>> = true;
template <class>
inline constexpr bool kIsStores = false;
template <class W, ReadBy R>
inline constexpr bool kIsStores<Stores<W, R>> = true;
template <class>
inline constexpr bool kIsConsumers = false;
template <class W>
inline constexpr bool kIsConsumers<Consumers<W>> = true;
template <class W, int G>
inline constexpr bool kIsConsumers<TakingTurns<W, G>> = true;

/// Is this warp (its index known to be equal in all lanes) one of these?
template <class Warps>
SLUICE_DEVICE bool is_in_warps(uint32_t warp) {
  if constexpr (Warps::kCount == 1) {
    return warp == Warps::kFirst;
  } else {
    return warp - static_cast<uint32_t>(Warps::kFirst) < static_cast<uint32_t>(Warps::kCount);
  }
}

/// Number of this thread within its warp.
SLUICE_DEVICE uint32_t lane_index() {
#if defined(__CUDA_ARCH__)
  return threadIdx.x % kThreadsPerWarp;
#else
  return 0;
#endif
}

/// All lanes of the warp have come here, and see what the others wrote to memory.
SLUICE_DEVICE void meet_warp() {
#if defined(__CUDA_ARCH__)
  __syncwarp();
#endif
}

/// Number of this thread within these warps.
template <class Warps>
SLUICE_DEVICE int rank_in_warps() {
#if defined(__CUDA_ARCH__)
  return static_cast<int>(threadIdx.x) - 32 * Warps::kFirst;
#else
  return 0;
#endif
}

}  // namespace detail
}  // namespace sluice
