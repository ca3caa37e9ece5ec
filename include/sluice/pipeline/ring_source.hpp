// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Where a copy reads and where it writes: `from(map, x, y)` and `to(map, x, y)` name a box of a tensor,
// `from(pointer)` and `to(pointer)` plain bytes in global memory. A slot's `load` takes one source per tile.
#pragma once

#include "sluice/arch/cp_async_bulk.hpp"
#include "sluice/arch/cp_async_bulk_tensor.hpp"
#include "sluice/arch/cp_async_bulk_tensor_store.hpp"
#include "sluice/pipeline/tile_swizzle.hpp"

struct CUtensorMap_st;  // the driver's type, of which only the address is needed here

namespace sluice {

/// A box of a tensor: the map, and where the box begins. With `HasPolicy_`, a wish to L2.
template <int Rank_, bool HasPolicy_ = false>
struct TensorPlace {
  static constexpr int kRank = Rank_;
  static constexpr bool kHasPolicy = HasPolicy_;
  const void* map;
  ptx::Coordinates<Rank_> coordinates;
  ptx::CachePolicy policy;

  /// The same place with a cache policy.
  SLUICE_DEVICE TensorPlace<Rank_, true> with(ptx::CachePolicy wish) const {
    return {map, coordinates, wish};
  }
};

/// Bytes at an address in global memory, a multiple of 16: a whole tile, or `bytes` of it.
template <class Pointer_, bool IsWhole_, bool HasPolicy_ = false>
struct BytesPlace {
  static constexpr bool kIsWhole = IsWhole_;
  static constexpr bool kHasPolicy = HasPolicy_;
  Pointer_ pointer;
  uint32_t bytes;
  ptx::CachePolicy policy;

  SLUICE_DEVICE BytesPlace<Pointer_, IsWhole_, true> with(ptx::CachePolicy wish) const {
    return {pointer, bytes, wish};
  }
};

/// A box of the tensor that `map` describes, beginning at these coordinates (in elements, innermost dimension
/// first). `map` is a kernel parameter (`const __grid_constant__ CUtensorMap`) or lies in constant or global
/// memory.
template <class... Index>
SLUICE_DEVICE auto from(const CUtensorMap_st& map, Index... index) {
  static_assert(sizeof...(Index) >= 1 && sizeof...(Index) <= 5, "sluice: a tensor has 1 to 5 coordinates");
  return TensorPlace<static_cast<int>(sizeof...(Index))>{
      &map, {{static_cast<int32_t>(index)...}}, ptx::CachePolicy::EvictNormal};
}

/// A whole tile's bytes from `pointer` on, in the order of memory.
SLUICE_DEVICE BytesPlace<const void*, true> from(const void* pointer) {
  return {pointer, 0, ptx::CachePolicy::EvictNormal};
}

/// The first `elements` of a tile, at least one; their bytes are a multiple of 16. The rest of the tile keeps
/// what it held.
template <class T>
SLUICE_DEVICE BytesPlace<const void*, false> from(const T* pointer, int elements) {
  return {pointer, static_cast<uint32_t>(elements) * static_cast<uint32_t>(sizeof(T)),
          ptx::CachePolicy::EvictNormal};
}

/// The box of a tensor that a store writes. What lies outside the tensor is not written.
template <class... Index>
SLUICE_DEVICE auto to(const CUtensorMap_st& map, Index... index) {
  return from(map, index...);
}

/// Global memory that a store writes a whole tile to, or its first `elements`.
SLUICE_DEVICE BytesPlace<void*, true> to(void* pointer) {
  return {pointer, 0, ptx::CachePolicy::EvictNormal};
}
template <class T>
SLUICE_DEVICE BytesPlace<void*, false> to(T* pointer, int elements) {
  return {pointer, static_cast<uint32_t>(elements) * static_cast<uint32_t>(sizeof(T)),
          ptx::CachePolicy::EvictNormal};
}

namespace detail {

template <class>
inline constexpr bool kIsTensorPlace = false;
template <int Rank, bool P>
inline constexpr bool kIsTensorPlace<TensorPlace<Rank, P>> = true;
template <class>
inline constexpr bool kIsBytesPlace = false;
template <class Pointer, bool W, bool P>
inline constexpr bool kIsBytesPlace<BytesPlace<Pointer, W, P>> = true;

/// The bytes that loading `Tile` from `source` brings. A constant unless the source says how many.
template <class Tile, class Source>
SLUICE_DEVICE uint32_t bytes_from(const Source& source) {
  if constexpr (kIsBytesPlace<Source>) {
    if constexpr (!Source::kIsWhole) return source.bytes;
  }
  return Tile::kBytes;
}

/// A statement of load() or store() that no copy can carry out.
template <class Tile, class Place>
SLUICE_DEVICE constexpr void require_copyable() {
  static_assert(
      kIsTensorPlace<Place> || kIsBytesPlace<Place>,
      "sluice: name what is copied as from(map, coordinates...) or from(pointer), to(...) for a store");
  if constexpr (kIsBytesPlace<Place>) {
    static_assert(Tile::kSwizzle == Swizzle::None,
                  "sluice: a plain bulk copy moves bytes as they are and cannot swizzle: use a tensor map "
                  "for this tile");
    static_assert(Tile::kPanels == 1,
                  "sluice: a plain bulk copy cannot divide rows into panels: use a tensor map for this tile");
  } else if constexpr (kIsTensorPlace<Place>) {
    static_assert(Place::kRank > 2 || (Tile::kLines <= 256 && Tile::kLineElements <= 256),
                  "sluice: a box of a tensor map has at most 256 elements along a dimension: split the tile");
    static_assert(
        Tile::kLineBytes % 16 == 0 || Place::kRank > 2,
        "sluice: a row of a tensor copy is a multiple of 16 bytes: pad the tile's contiguous extent");
  }
}

/// Where panel `panel` of a tile begins in the tensor, if the tile begins at `place`.
template <class Tile, class Place>
SLUICE_DEVICE auto panel_coordinates(const Place& place, int panel) {
  auto coordinates = place.coordinates;
  coordinates.at[0] += panel * Tile::kLineElements;
  return coordinates;
}

/// Copies one tile into this CTA. One thread; does not block.
template <class Tile, class Source>
SLUICE_DEVICE void issue_load(unsigned char* tile, const Source& source, uint64_t const* barrier) {
  require_copyable<Tile, Source>();
  if constexpr (kIsTensorPlace<Source>) {
#pragma unroll
    for (int panel = 0; panel < Tile::kPanels; ++panel) {
      const auto coordinates = panel_coordinates<Tile>(source, panel);
      unsigned char* destination = tile + panel * Tile::kPanelBytes;
      if constexpr (Source::kHasPolicy) {
        ptx::cp_async_bulk_tensor(destination, source.map, barrier, coordinates, source.policy);
      } else {
        ptx::cp_async_bulk_tensor(destination, source.map, barrier, coordinates);
      }
    }
  } else if constexpr (kIsBytesPlace<Source>) {
    const uint32_t bytes = bytes_from<Tile>(source);
    if constexpr (Source::kHasPolicy) {
      ptx::cp_async_bulk(tile, source.pointer, bytes, barrier, source.policy);
    } else {
      ptx::cp_async_bulk(tile, source.pointer, bytes, barrier);
    }
  }
}

/// Copies this CTA's share of a tile, number `share` of `Shares`, into every CTA of `mask`. One thread; does
/// not block.
template <class Tile, int Shares, class Source>
SLUICE_DEVICE void issue_multicast_load(unsigned char* tile, const Source& source, uint64_t const* barrier,
                                        uint32_t share, uint16_t mask) {
  require_copyable<Tile, Source>();
  constexpr uint32_t kShareBytes = Tile::kPanelBytes / Shares;
  if constexpr (kIsTensorPlace<Source>) {
    // Lines run along dimension 1 of the tensor; a tile of one line is divided along dimension 0.
    constexpr int kDimension = Tile::kLines > 1 && Source::kRank > 1 ? 1 : 0;
    constexpr int kStep = (kDimension == 1 ? Tile::kLines : Tile::kLineElements) / Shares;
#pragma unroll
    for (int panel = 0; panel < Tile::kPanels; ++panel) {
      auto coordinates = panel_coordinates<Tile>(source, panel);
      coordinates.at[kDimension] += static_cast<int32_t>(share) * kStep;
      unsigned char* destination = tile + panel * Tile::kPanelBytes + share * kShareBytes;
      if constexpr (Source::kHasPolicy) {
        ptx::cp_async_bulk_tensor_multicast(destination, source.map, barrier, coordinates, mask,
                                            source.policy);
      } else {
        ptx::cp_async_bulk_tensor_multicast(destination, source.map, barrier, coordinates, mask);
      }
    }
  } else if constexpr (kIsBytesPlace<Source>) {
    static_assert(Source::kIsWhole,
                  "sluice: a multicast tile is loaded whole, since every CTA waits for all of it");
    const auto* part = static_cast<const unsigned char*>(source.pointer) + share * kShareBytes;
    ptx::cp_async_bulk_multicast(tile + share * kShareBytes, part, kShareBytes, barrier, mask);
  }
}

/// Copies one tile out of shared memory, in the thread's current bulk group. Does not block.
template <class Tile, class Destination>
SLUICE_DEVICE void issue_store(const unsigned char* tile, const Destination& destination) {
  require_copyable<Tile, Destination>();
  if constexpr (kIsTensorPlace<Destination>) {
#pragma unroll
    for (int panel = 0; panel < Tile::kPanels; ++panel) {
      const auto coordinates = panel_coordinates<Tile>(destination, panel);
      const unsigned char* source = tile + panel * Tile::kPanelBytes;
      if constexpr (Destination::kHasPolicy) {
        ptx::cp_async_bulk_tensor_store(destination.map, source, coordinates, destination.policy);
      } else {
        ptx::cp_async_bulk_tensor_store(destination.map, source, coordinates);
      }
    }
  } else if constexpr (kIsBytesPlace<Destination>) {
    ptx::cp_async_bulk_store(destination.pointer, tile, bytes_from<Tile>(destination));
  }
}

}  // namespace detail
}  // namespace sluice
