// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A tile: what one operand of a stage looks like in shared memory, as a type. From element, shape, swizzle
// and the contiguous dimension follow its bytes, its alignment and the place of each element; what no copy
// could fill does not compile. A TileView is such a tile at an address: `tile(row, column)` is the element,
// wherever the swizzle put it. The std::mdspan form is in tile_mdspan.hpp, which costs more to compile.
#pragma once

#include <type_traits>

#include "sluice/arch/config.hpp"
#include "sluice/arch/cp_async.hpp"
#include "sluice/arch/shared_address.hpp"
#include "sluice/pipeline/tile_swizzle.hpp"

namespace sluice {

/// Which index of a tile is contiguous. In a matrix product rows count M or N and columns count K.
enum class Major {
  K,   ///< the column index: rows lie one after the other
  MN,  ///< the row index: columns lie one after the other
};

/// The most that the copy engine, and every other producer here, moves at once.
inline constexpr int kCopyGranularityBytes = 16;

/// `Rows_` x `Columns_` elements. A swizzled tile is one box of a tensor copy: its contiguous extent fills
/// the swizzle's span exactly.
template <class Element_, int Rows_, int Columns_, Swizzle Swizzle_ = Swizzle::None, Major Major_ = Major::K>
struct Tile {
  using Element = Element_;
  static constexpr int kRows = Rows_;
  static constexpr int kColumns = Columns_;
  static constexpr Swizzle kSwizzle = Swizzle_;
  static constexpr Major kMajor = Major_;

  static_assert(Rows_ > 0 && Columns_ > 0, "sluice: a tile has at least one row and one column");
  static_assert(static_cast<long long>(Rows_) * Columns_ < (1 << 26),
                "sluice: a tile lies in shared memory, of which a CTA has 232448 bytes: make it smaller");
  static_assert(
      std::is_trivially_copyable_v<Element_>,
      "sluice: the elements of a tile are copied as bytes, so their type must be trivially copyable");
  static_assert(sizeof(Element_) <= kCopyGranularityBytes && (sizeof(Element_) & (sizeof(Element_) - 1)) == 0,
                "sluice: an element of a tile has 1, 2, 4, 8 or 16 bytes");

  /// The contiguous runs of elements: rows if K-major, columns if MN-major.
  static constexpr int kLines = Major_ == Major::K ? Rows_ : Columns_;
  static constexpr int kLineElements = Major_ == Major::K ? Columns_ : Rows_;
  static constexpr int kLineBytes = kLineElements * static_cast<int>(sizeof(Element_));
  static constexpr int kElements = Rows_ * Columns_;
  static constexpr int kBytes = kLines * kLineBytes;
  static constexpr int kChunks = kBytes / kCopyGranularityBytes;
  static constexpr int kAlignment = static_cast<int>(swizzle_alignment_bytes(Swizzle_));
  /// A tile is one panel: one box of a tensor copy.
  static constexpr int kPanels = 1;
  static constexpr int kPanelBytes = kBytes;

  static_assert(
      kBytes % kCopyGranularityBytes == 0,
      "sluice: the bytes of a tile must be a multiple of 16, the least that a copy moves: pad a row");
  static_assert(
      Swizzle_ == Swizzle::None || kLineBytes <= static_cast<int>(swizzle_span_bytes(Swizzle_)),
      "sluice: the swizzle's span is smaller than the tile's inner box: take a wider swizzle, or put "
      "narrower tiles side by side as Panels<Tile<...>, N>");
  static_assert(Swizzle_ == Swizzle::None || kLineBytes == static_cast<int>(swizzle_span_bytes(Swizzle_)),
                "sluice: the tile's inner box does not fill the swizzle's span: take a narrower swizzle");

  /// The byte at which the element (row, column) lies.
  SLUICE_HOST_DEVICE static constexpr uint32_t offset(int row, int column) {
    const uint32_t line = static_cast<uint32_t>(Major_ == Major::K ? row : column);
    const uint32_t within = static_cast<uint32_t>(Major_ == Major::K ? column : row);
    return swizzled(Swizzle_, line * kLineBytes + within * static_cast<uint32_t>(sizeof(Element_)));
  }
};

/// `Count_` tiles side by side along their contiguous dimension, read as one tile: what is wider than a
/// swizzle's span. Each panel is a box of its own, and they lie one after the other in memory.
template <class Panel_, int Count_>
struct Panels {
  static_assert(Count_ >= 1 && Panel_::kPanels == 1,
                "sluice: Panels<Tile<...>, N> puts N tiles side by side");
  static_assert(Panel_::kBytes % Panel_::kAlignment == 0,
                "sluice: each panel must end on the alignment of the next: make its lines a multiple of 8");
  using Element = typename Panel_::Element;
  static constexpr Swizzle kSwizzle = Panel_::kSwizzle;
  static constexpr Major kMajor = Panel_::kMajor;
  static constexpr int kRows = kMajor == Major::K ? Panel_::kRows : Count_ * Panel_::kRows;
  static constexpr int kColumns = kMajor == Major::K ? Count_ * Panel_::kColumns : Panel_::kColumns;

  /// Lines are those of one panel.
  static constexpr int kLines = Panel_::kLines;
  static constexpr int kLineElements = Panel_::kLineElements;
  static constexpr int kLineBytes = Panel_::kLineBytes;
  static constexpr int kElements = Count_ * Panel_::kElements;
  static constexpr int kBytes = Count_ * Panel_::kBytes;
  static constexpr int kChunks = Count_ * Panel_::kChunks;
  static constexpr int kAlignment = Panel_::kAlignment;
  static constexpr int kPanels = Count_;
  static constexpr int kPanelBytes = Panel_::kBytes;

  /// The byte at which the element (row, column) lies.
  SLUICE_HOST_DEVICE static constexpr uint32_t offset(int row, int column) {
    const uint32_t along = static_cast<uint32_t>(kMajor == Major::K ? column : row);
    const uint32_t panel = along / kLineElements;
    const int within = static_cast<int>(along % kLineElements);
    return panel * kPanelBytes +
           (kMajor == Major::K ? Panel_::offset(row, within) : Panel_::offset(within, column));
  }
};

/// One row of `Elements` elements without swizzle: what a plain bulk copy fills.
template <class Element, int Elements>
using Row = Tile<Element, 1, Elements>;

namespace detail {

template <class T>
inline constexpr bool kIsTile = false;
template <class Element, int Rows, int Columns, Swizzle S, Major M>
inline constexpr bool kIsTile<Tile<Element, Rows, Columns, S, M>> = true;

template <class Panel, int Count>
inline constexpr bool kIsTile<Panels<Panel, Count>> = kIsTile<Panel>;

template <class>
inline constexpr bool kNever = false;

}  // namespace detail

/// What may be done with a tile beyond reading and writing its elements.
enum class TileRight : unsigned {
  None = 0,
  Copy = 1,   ///< cp.async may write it
  Wgmma = 2,  ///< wgmma may read it: what fills it makes it visible to the asynchronous proxy
  Any = 3,
};

/// A tile at an address in shared memory. `Element_` is `const` where threads may only read it; `Rights_` is
/// what the ring that it comes from allows. A view is a pointer: copy it freely, but use it only as long as
/// the stage it came from is held.
template <class Tile_, class Element_, TileRight Rights_ = TileRight::Any>
class TileView {
 public:
  using Tile = Tile_;
  using Element = Element_;
  static constexpr bool kIsConst = std::is_const_v<Element_>;
  static constexpr bool kMayCopy = static_cast<unsigned>(Rights_) & static_cast<unsigned>(TileRight::Copy);
  static constexpr bool kMayWgmma = static_cast<unsigned>(Rights_) & static_cast<unsigned>(TileRight::Wgmma);

  SLUICE_DEVICE explicit TileView(Element_* data) : data_(data) {}

  SLUICE_HOST_DEVICE static constexpr int rows() { return Tile::kRows; }
  SLUICE_HOST_DEVICE static constexpr int columns() { return Tile::kColumns; }

  /// The element at (row, column). Any thread that holds the stage.
  SLUICE_DEVICE Element_& operator()(int row, int column) const { return vector<Element_>(row, column); }

  /// Several neighbours along the contiguous dimension as one `Vector` (float4, uint4, __half2, ...), the
  /// first at (row, column). At most 16 bytes, aligned to its own size within the tile.
  template <class Vector>
  SLUICE_DEVICE auto& vector(int row, int column) const {
    static_assert(sizeof(Vector) <= kCopyGranularityBytes,
                  "sluice: a swizzle keeps 16 bytes together, so a vector has at most 16 bytes");
    using Qualified = std::conditional_t<kIsConst, const Vector, Vector>;
    return *reinterpret_cast<Qualified*>(bytes() + Tile::offset(row, column));
  }

  /// The i-th element in memory order; only without a swizzle, where memory order means something.
  SLUICE_DEVICE Element_& operator[](int i) const {
    static_assert(
        Tile::kSwizzle == Swizzle::None,
        "sluice: memory order of a swizzled tile is not the order of its elements: use tile(row, column)");
    return data_[i];
  }

  /// Start of the tile.
  SLUICE_DEVICE Element_* data() const { return data_; }

  /// Starts copying 16 bytes from global memory to (row, column) on; both aligned to 16. Does not block; the
  /// slot is passed on when the copy has landed. PTX: cp.async.cg.shared.global 16
  SLUICE_DEVICE void copy(int row, int column, const void* source) const {
    require_copy();
    ptx::cp_async<kCopyGranularityBytes>(place_of_copy(row, column), source);
  }

  /// The same; only the first `valid_bytes` are read, the rest becomes zero. PTX: cp.async with src-size
  SLUICE_DEVICE void copy_or_zero(int row, int column, const void* source, uint32_t valid_bytes) const {
    require_copy();
    ptx::cp_async_zfill<kCopyGranularityBytes>(place_of_copy(row, column), source, valid_bytes);
  }

  /// The shared-memory descriptor that a wgmma reads this tile through, from element `k` of the K dimension
  /// on. The tile starts at its swizzle's alignment, as every tile of a ring does. K-major: `k` is a multiple
  /// of 32 bytes. MN-major: `k` is a multiple of 8, and M or N may run over several panels. (PTX ISA, "Matrix
  /// Descriptor Format")
  SLUICE_DEVICE uint64_t wgmma_descriptor(int k = 0) const {
    static_assert(kMayWgmma,
                  "sluice: threads fill this ring, and wgmma reads through the asynchronous proxy: state "
                  "Stores or CpAsync "
                  "with ReadBy::AsyncProxy");
    static_assert(
        Tile::kSwizzle != Swizzle::None,
        "sluice: wgmma reads this tile only with a swizzle; without one it wants 8 x 16 byte core matrices");
    // In units of 16 bytes: from one span to the next (MN-major alone), and from eight lines to the next
    // eight.
    constexpr uint64_t kSpanStride =
        Tile::kMajor == Major::MN && Tile::kPanels > 1 ? Tile::kPanelBytes / 16 : 1;
    constexpr uint64_t kGroupStride = 8 * Tile::kLineBytes / 16;
    constexpr uint64_t kLayout = Tile::kSwizzle == Swizzle::B128 ? 1 : Tile::kSwizzle == Swizzle::B64 ? 2 : 3;
    const uint32_t at = static_cast<uint32_t>(k);
    const uint32_t offset = Tile::kMajor == Major::MN ? at * Tile::kLineBytes
                                                      : at / Tile::kLineElements * Tile::kPanelBytes +
                                                            at % Tile::kLineElements * sizeof(Element_);
    const uint32_t start = ptx::shared_address(data_) + offset;
    return ((start & 0x3FFFFu) >> 4) | (kSpanStride << 16) | (kGroupStride << 32) | (kLayout << 62);
  }

 private:
  SLUICE_DEVICE static constexpr void require_copy() {
    static_assert(kMayCopy,
                  "sluice: cp.async fills the slots of a CpAsync ring alone: elsewhere the stage would be "
                  "passed on before "
                  "the copy has landed");
  }

  SLUICE_DEVICE unsigned char* place_of_copy(int row, int column) const {
    return const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(data_)) +
           Tile::offset(row, column);
  }

  SLUICE_DEVICE auto* bytes() const {
    return reinterpret_cast<std::conditional_t<kIsConst, const unsigned char, unsigned char>*>(data_);
  }

  Element_* data_;
};

}  // namespace sluice
