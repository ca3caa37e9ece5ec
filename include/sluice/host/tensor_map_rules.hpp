// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The rules of a tensor map, each with a name. The driver's encode calls answer every mistake with the same
// "invalid value"; `check` finds the broken rule first and says it in a sentence. Pure host logic: only the
// enumerations of <cuda.h> are used, neither the driver nor the runtime is called, so that the rules are
// tested on any machine. Sources: the requirements listed with cuTensorMapEncodeTiled and
// cuTensorMapEncodeIm2col in the CUDA driver API.
#pragma once

#include <cuda.h>
#include <cstdint>
#include <initializer_list>

#include "sluice/host/error.hpp"

namespace sluice::host {

/// The rule that a description of a tensor map breaks.
enum class TensorMapRule {
  None,               ///< nothing is wrong
  RankInRange,        ///< 1 to 5 dimensions; im2col 3 to 5
  RankForInterleave,  ///< an interleaved layout has at least 3 dimensions
  ListLength,         ///< shape, strides, box and element strides have as many entries as the rank asks for
  AddressPresent,     ///< the global address is not null
  AddressAligned,  ///< the global address lies on 16 bytes (32 with 32-byte interleave or padded sub-bytes)
  ShapeInRange,    ///< each extent is 1 to 2^32
  ShapePacked,     ///< extents of sub-byte types: multiples of 128, or of 2 for the dense 4-bit type
  StrideMultiple,  ///< each stride is a multiple of 16 bytes (32 with 32-byte interleave or padded sub-bytes)
  StrideInRange,   ///< each stride is below 2^40 bytes
  StrideCoversExtent,    ///< a stride spans what lies inside it, unless overlap is asked for
  BoxInRange,            ///< each box extent is 1 to 256
  BoxPacked,             ///< the inner box extent of padded sub-byte types is 128
  BoxInnerMultiple,      ///< the inner box row is a multiple of 16 bytes
  BoxWithinSwizzle,      ///< the inner box row is no longer than the swizzle span
  ElementStrideInRange,  ///< each element stride is 1 to 8
  SwizzleForInterleave,  ///< 32-byte interleave goes with the 32-byte swizzle
  SwizzleForPacked,      ///< sub-byte types with padding allow few swizzles
  InterleaveForPacked,   ///< the 6-bit type has no interleave
  FillForInteger,        ///< NaN fill needs a floating-point element of at least 8 bits
  CornerInRange,         ///< im2col: corner offsets fit the bits that the rank leaves them
  CornerLeavesBox,       ///< im2col: the corners leave a bounding box that is not empty
  ChannelsInRange,       ///< im2col: 1 to 256 channels per pixel (128 for padded sub-byte types)
  PixelsInRange,         ///< im2col: 1 to 1024 pixels per column
  DriverCall,            ///< the driver could not be asked, or refused in spite of all rules
};

/// A rule's name, as it stands in the enumeration.
inline const char* name_of(TensorMapRule rule) {
  switch (rule) {
    case TensorMapRule::None:
      return "None";
    case TensorMapRule::RankInRange:
      return "RankInRange";
    case TensorMapRule::RankForInterleave:
      return "RankForInterleave";
    case TensorMapRule::ListLength:
      return "ListLength";
    case TensorMapRule::AddressPresent:
      return "AddressPresent";
    case TensorMapRule::AddressAligned:
      return "AddressAligned";
    case TensorMapRule::ShapeInRange:
      return "ShapeInRange";
    case TensorMapRule::ShapePacked:
      return "ShapePacked";
    case TensorMapRule::StrideMultiple:
      return "StrideMultiple";
    case TensorMapRule::StrideInRange:
      return "StrideInRange";
    case TensorMapRule::StrideCoversExtent:
      return "StrideCoversExtent";
    case TensorMapRule::BoxInRange:
      return "BoxInRange";
    case TensorMapRule::BoxPacked:
      return "BoxPacked";
    case TensorMapRule::BoxInnerMultiple:
      return "BoxInnerMultiple";
    case TensorMapRule::BoxWithinSwizzle:
      return "BoxWithinSwizzle";
    case TensorMapRule::ElementStrideInRange:
      return "ElementStrideInRange";
    case TensorMapRule::SwizzleForInterleave:
      return "SwizzleForInterleave";
    case TensorMapRule::SwizzleForPacked:
      return "SwizzleForPacked";
    case TensorMapRule::InterleaveForPacked:
      return "InterleaveForPacked";
    case TensorMapRule::FillForInteger:
      return "FillForInteger";
    case TensorMapRule::CornerInRange:
      return "CornerInRange";
    case TensorMapRule::CornerLeavesBox:
      return "CornerLeavesBox";
    case TensorMapRule::ChannelsInRange:
      return "ChannelsInRange";
    case TensorMapRule::PixelsInRange:
      return "PixelsInRange";
    case TensorMapRule::DriverCall:
      return "DriverCall";
  }
  return "?";
}

using TensorMapError = Error<TensorMapRule>;

constexpr int kMaxTensorRank = 5;
constexpr std::uint64_t kMaxExtent = std::uint64_t{1} << 32;
constexpr std::uint64_t kStrideLimit = std::uint64_t{1} << 40;
constexpr std::uint32_t kMaxBoxExtent = 256;
constexpr std::uint32_t kMaxElementStride = 8;
constexpr std::uint32_t kMaxPixelsPerColumn = 1024;

/// Everything that a tensor map says. Index 0 is the innermost (contiguous) dimension throughout, as in the
/// driver's call; `strides[i]` is the distance in bytes between neighbours of dimension i + 1.
struct TensorMapSpec {
  CUtensorMapDataType element = CU_TENSOR_MAP_DATA_TYPE_UINT8;
  int rank = 0;
  void* address = nullptr;
  std::uint64_t shape[kMaxTensorRank] = {};
  std::uint64_t strides[kMaxTensorRank - 1] = {};
  std::uint32_t element_strides[kMaxTensorRank] = {1, 1, 1, 1, 1};
  CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  CUtensorMapL2promotion l2_promotion = CU_TENSOR_MAP_L2_PROMOTION_NONE;
  CUtensorMapFloatOOBfill oob_fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  bool allow_overlap = false;  ///< strides may be shorter than what lies inside them

  // Tiled mode.
  std::uint32_t box[kMaxTensorRank] = {};

  // Im2col mode: corners and pixels instead of a box.
  bool im2col = false;
  int lower_corner[kMaxTensorRank - 2] = {};
  int upper_corner[kMaxTensorRank - 2] = {};
  std::uint32_t channels_per_pixel = 0;
  std::uint32_t pixels_per_column = 0;
};

/// The bits of one element in global memory.
constexpr int element_bits(CUtensorMapDataType element) {
  switch (element) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8:
      return 8;
    case CU_TENSOR_MAP_DATA_TYPE_UINT16:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
      return 16;
    case CU_TENSOR_MAP_DATA_TYPE_UINT64:
    case CU_TENSOR_MAP_DATA_TYPE_INT64:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
      return 64;
    case CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B:
    case CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B:
      return 4;
    case CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B:
      return 6;
    default:
      return 32;
  }
}

/// Returns true for the sub-byte types that shared memory holds with gaps, 16 values in 16 bytes.
constexpr bool is_padded(CUtensorMapDataType element) {
  return element == CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B || element == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B;
}

/// Returns true for the types that a NaN can fill.
constexpr bool is_floating(CUtensorMapDataType element) {
  switch (element) {
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ:
    case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32:
    case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
      return true;
    default:
      return false;
  }
}

/// The bytes that a swizzle permutes within; 0 for none.
constexpr std::uint32_t swizzle_span(CUtensorMapSwizzle swizzle) {
  switch (swizzle) {
    case CU_TENSOR_MAP_SWIZZLE_NONE:
      return 0;
    case CU_TENSOR_MAP_SWIZZLE_32B:
      return 32;
    case CU_TENSOR_MAP_SWIZZLE_64B:
      return 64;
    default:
      return 128;
  }
}

/// The bytes that `count` elements take in a row of shared memory.
constexpr std::uint64_t row_bytes(CUtensorMapDataType element, std::uint64_t count) {
  return is_padded(element) ? count : count * static_cast<std::uint64_t>(element_bits(element)) / 8;
}

namespace detail {

using ull = unsigned long long;

/// The alignment that address and strides need.
inline unsigned required_alignment(const TensorMapSpec& spec) {
  return spec.interleave == CU_TENSOR_MAP_INTERLEAVE_32B || is_padded(spec.element) ? 32 : 16;
}

inline bool check_rank(const TensorMapSpec& spec, TensorMapError& error) {
  const int least = spec.im2col ? 3 : 1;
  if (spec.rank < least || spec.rank > kMaxTensorRank) {
    error.set(TensorMapRule::RankInRange,
              "the tensor has %d dimensions, %s map takes %d to %d: merge dimensions%s", spec.rank,
              spec.im2col ? "an im2col" : "a tiled", least, kMaxTensorRank,
              spec.im2col ? ", or add ones of extent 1" : "");
    return false;
  }
  if (spec.interleave != CU_TENSOR_MAP_INTERLEAVE_NONE && spec.rank < 3) {
    error.set(
        TensorMapRule::RankForInterleave,
        "the tensor has %d dimensions, an interleaved layout needs at least 3: add a dimension of extent 1",
        spec.rank);
    return false;
  }
  return true;
}

inline bool check_address(const TensorMapSpec& spec, TensorMapError& error) {
  if (spec.address == nullptr) {
    error.set(TensorMapRule::AddressPresent, "the global address is null: allocate device memory first");
    return false;
  }
  const unsigned alignment = required_alignment(spec);
  const auto misfit = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(spec.address) % alignment);
  if (misfit != 0) {
    error.set(
        TensorMapRule::AddressAligned,
        "the global address lies %u bytes above a multiple of %u: start the tensor on a %u-byte boundary and "
        "reach inner parts through the coordinates of the copy",
        misfit, alignment, alignment);
    return false;
  }
  return true;
}

inline bool check_shape(const TensorMapSpec& spec, TensorMapError& error) {
  for (int i = 0; i < spec.rank; ++i) {
    if (spec.shape[i] == 0 || spec.shape[i] > kMaxExtent) {
      error.set(TensorMapRule::ShapeInRange, "shape[%d] is %llu, an extent is 1 to 4294967296: %s", i,
                ull{spec.shape[i]},
                spec.shape[i] == 0 ? "do not build a map of an empty tensor" : "split the tensor");
      return false;
    }
  }
  const unsigned step = is_padded(spec.element)                                ? 128
                        : spec.element == CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B ? 2
                                                                               : 1;
  if (spec.shape[0] % step != 0) {
    error.set(TensorMapRule::ShapePacked,
              "shape[0] is %llu values, this sub-byte type needs a multiple of %u: pad the inner extent",
              ull{spec.shape[0]}, step);
    return false;
  }
  return true;
}

inline bool check_strides(const TensorMapSpec& spec, TensorMapError& error) {
  const unsigned alignment = required_alignment(spec);
  for (int i = 0; i + 1 < spec.rank; ++i) {
    const std::uint64_t stride = spec.strides[i];
    if (stride % alignment != 0) {
      error.set(TensorMapRule::StrideMultiple,
                "strides[%d] is %llu bytes, a stride is a multiple of %u: pad the rows to %llu bytes", i,
                ull{stride}, alignment, ull{(stride / alignment + 1) * alignment});
      return false;
    }
    if (stride >= kStrideLimit) {
      error.set(TensorMapRule::StrideInRange,
                "strides[%d] is %llu bytes, a stride is below 2^40 = 1099511627776: split the tensor", i,
                ull{stride});
      return false;
    }
  }
  if (spec.allow_overlap) return true;
  for (int i = 0; i + 1 < spec.rank; ++i) {
    // The extent inside is one row for the first stride, shape times the next inner stride for the others.
    const std::uint64_t bits = spec.shape[0] * static_cast<std::uint64_t>(element_bits(spec.element));
    const std::uint64_t inside = i == 0 ? (bits + 7) / 8 : spec.shape[i] * spec.strides[i - 1];
    if (spec.strides[i] < inside && spec.shape[i + 1] > 1) {
      error.set(TensorMapRule::StrideCoversExtent,
                "strides[%d] is %llu bytes, but what lies inside dimension %d takes %llu: strides are in "
                "bytes, not in "
                "elements; call allow_overlap() if the slices are meant to overlap",
                i, ull{spec.strides[i]}, i + 1, ull{inside});
      return false;
    }
  }
  return true;
}

/// The inner row of the box, `count` elements, against the swizzle; `name` is how the caller calls the count.
inline bool check_inner_row(const TensorMapSpec& spec, const char* name, std::uint32_t count,
                            TensorMapError& error) {
  const std::uint64_t bytes = row_bytes(spec.element, count);
  const int bits = element_bits(spec.element);
  const std::uint32_t span = swizzle_span(spec.swizzle);
  if (spec.interleave != CU_TENSOR_MAP_INTERLEAVE_NONE) return true;
  if (!is_padded(spec.element) && (std::uint64_t{count} * static_cast<unsigned>(bits)) % 128 != 0) {
    error.set(TensorMapRule::BoxInnerMultiple,
              "%s is %u elements of %d bits = %llu bytes, an inner row is a multiple of 16 bytes: make it a "
              "multiple of "
              "%d elements",
              name, count, bits, ull{bytes}, 128 / bits);
    return false;
  }
  if (span != 0 && bytes > span) {
    error.set(TensorMapRule::BoxWithinSwizzle,
              "%s is %u elements = %llu bytes, the swizzle spans %u bytes: load the tile in boxes of at most "
              "%u elements%s",
              name, count, ull{bytes}, span,
              is_padded(spec.element) ? span : span * 8 / static_cast<unsigned>(bits),
              span < 128 ? ", or take a wider swizzle" : "");
    return false;
  }
  return true;
}

inline bool check_box(const TensorMapSpec& spec, TensorMapError& error) {
  for (int i = 0; i < spec.rank; ++i) {
    if (spec.box[i] == 0 || spec.box[i] > kMaxBoxExtent) {
      error.set(
          TensorMapRule::BoxInRange, "box[%d] is %u, a box extent is 1 to %u: %s", i, spec.box[i],
          kMaxBoxExtent,
          spec.box[i] == 0 ? "give the box an extent in each dimension" : "load the tile in several boxes");
      return false;
    }
  }
  if (is_padded(spec.element) && spec.box[0] != 128) {
    error.set(TensorMapRule::BoxPacked, "box[0] is %u values, this sub-byte type needs exactly 128",
              spec.box[0]);
    return false;
  }
  return check_inner_row(spec, "box[0]", spec.box[0], error);
}

inline bool check_im2col(const TensorMapSpec& spec, TensorMapError& error) {
  const int corners = spec.rank - 2;
  const int least = corners == 1 ? -32768 : corners == 2 ? -128 : -16;
  const int most = -least - 1;
  for (int i = 0; i < corners; ++i) {
    for (const int* corner : {spec.lower_corner, spec.upper_corner}) {
      if (corner[i] < least || corner[i] > most) {
        error.set(TensorMapRule::CornerInRange,
                  "%s_corner[%d] is %d, with %d dimensions an offset is %d to %d: pad the tensor instead",
                  corner == spec.lower_corner ? "lower" : "upper", i, corner[i], spec.rank, least, most);
        return false;
      }
    }
    const long long extent =
        static_cast<long long>(spec.shape[i + 1]) + spec.upper_corner[i] - spec.lower_corner[i];
    if (extent <= 0) {
      error.set(
          TensorMapRule::CornerLeavesBox,
          "the corners %d and %d leave %lld pixels of shape[%d] = %llu: the bounding box must not be empty",
          spec.lower_corner[i], spec.upper_corner[i], extent, i + 1, ull{spec.shape[i + 1]});
      return false;
    }
  }
  const bool padded = is_padded(spec.element);
  if (spec.channels_per_pixel == 0 || spec.channels_per_pixel > kMaxBoxExtent ||
      (padded && spec.channels_per_pixel != 128)) {
    error.set(TensorMapRule::ChannelsInRange,
              "channels_per_pixel is %u, allowed %s: load the channels in several copies",
              spec.channels_per_pixel, padded ? "is 128 for this sub-byte type" : "are 1 to 256");
    return false;
  }
  if (spec.pixels_per_column == 0 || spec.pixels_per_column > kMaxPixelsPerColumn) {
    error.set(TensorMapRule::PixelsInRange,
              "pixels_per_column is %u, allowed are 1 to %u: load fewer pixels per copy",
              spec.pixels_per_column, kMaxPixelsPerColumn);
    return false;
  }
  return check_inner_row(spec, "channels_per_pixel", spec.channels_per_pixel, error);
}

inline bool check_element_strides(const TensorMapSpec& spec, TensorMapError& error) {
  for (int i = 0; i < spec.rank; ++i) {
    if (i == 0 && spec.interleave == CU_TENSOR_MAP_INTERLEAVE_NONE)
      continue;  // the driver ignores this entry
    if (spec.element_strides[i] == 0 || spec.element_strides[i] > kMaxElementStride) {
      error.set(
          TensorMapRule::ElementStrideInRange,
          "element_strides[%d] is %u, an element stride is 1 to %u: use 1, or a tensor with a larger stride",
          i, spec.element_strides[i], kMaxElementStride);
      return false;
    }
  }
  return true;
}

inline bool check_modes(const TensorMapSpec& spec, TensorMapError& error) {
  if (spec.interleave == CU_TENSOR_MAP_INTERLEAVE_32B && spec.swizzle != CU_TENSOR_MAP_SWIZZLE_32B) {
    error.set(TensorMapRule::SwizzleForInterleave,
              "the 32-byte interleave is combined with a swizzle over %u bytes: it goes with the 32-byte "
              "swizzle alone",
              swizzle_span(spec.swizzle));
    return false;
  }
  if (spec.element == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B &&
      spec.interleave != CU_TENSOR_MAP_INTERLEAVE_NONE) {
    error.set(TensorMapRule::InterleaveForPacked,
              "the 6-bit type is combined with an interleave: it takes none");
    return false;
  }
  const bool atom64 = spec.swizzle == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B;
  const bool allowed = spec.swizzle == CU_TENSOR_MAP_SWIZZLE_NONE ||
                       spec.swizzle == CU_TENSOR_MAP_SWIZZLE_128B ||
                       spec.swizzle == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B ||
                       (atom64 && spec.element == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B);
  if (is_padded(spec.element) && !allowed) {
    error.set(TensorMapRule::SwizzleForPacked,
              "this sub-byte type is combined with a swizzle it does not take: use none, 128 bytes, or 128 "
              "bytes with "
              "32-byte atoms");
    return false;
  }
  if (spec.oob_fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA && !is_floating(spec.element)) {
    error.set(TensorMapRule::FillForInteger,
              "elements outside are to be filled with NaN, but the element type is not floating point: fill "
              "with zero");
    return false;
  }
  return true;
}

}  // namespace detail

/// Checks a description against every rule, in the order of the enumeration's groups, and returns the first
/// that is broken, or an error that is false. Host only; calls nothing.
inline TensorMapError check(const TensorMapSpec& spec) {
  TensorMapError error;
  detail::check_rank(spec, error) && detail::check_address(spec, error) && detail::check_shape(spec, error) &&
      detail::check_strides(spec, error) &&
      (spec.im2col ? detail::check_im2col(spec, error) : detail::check_box(spec, error)) &&
      detail::check_element_strides(spec, error) && detail::check_modes(spec, error);
  return error;
}

}  // namespace sluice::host
