// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The rules of a tensor map, each with a name. The driver's encode calls answer every mistake with the same
// "invalid value"; `check` finds the broken rule first and says it in a sentence. Pure host logic: only the
// enumerations of <cuda.h> are used, neither the driver nor the runtime is called, so that the rules are
// tested on any machine. Sources: the requirements listed with cuTensorMapEncodeTiled and
// cuTensorMapEncodeIm2col in the CUDA driver API, and the answers of an H200's driver to random descriptions.
// Three rules are ours or the documentation's alone, the driver does not ask for them: AddressPresent,
// StrideCoversExtent, SwizzleForInterleave.
#pragma once

#include <cuda.h>
#include <cstdint>
#include <initializer_list>

#include "sluice/host/error.hpp"

namespace sluice::host {

/// The rule that a description of a tensor map breaks.
enum class TensorMapRule {
  None,                ///< nothing is wrong
  RankInRange,         ///< 1 to 5 dimensions; im2col 3 to 5
  RankForInterleave,   ///< an interleaved layout has at least 3 dimensions
  ListLength,          ///< shape, strides, box and element strides have as many entries as the rank asks for
  AddressPresent,      ///< the global address is not null
  AddressAligned,      ///< the global address lies on 16 bytes (32 with 32-byte interleave)
  AddressInRange,      ///< the global address is below 2^57
  ShapeInRange,        ///< each extent is 1 to 2^32
  StrideMultiple,      ///< each stride is a multiple of 16 bytes (32 with 32-byte interleave)
  StrideInRange,       ///< each stride is below 2^40 bytes
  StrideCoversExtent,  ///< a stride spans what lies inside it, unless overlap is asked for
  BoxInRange,          ///< each box extent is 1 to 256
  BoxInnerMultiple,    ///< the inner box row is a multiple of 16 bytes
  BoxWithinSwizzle,    ///< the inner box row is no longer than the swizzle span
  BoxFitsShared,       ///< the box is no larger than a CTA's shared memory
  ElementStrideInRange,  ///< each element stride is 1 to 8
  SwizzleForInterleave,  ///< 32-byte interleave goes with the 32-byte swizzle
  FillForInteger,        ///< NaN fill needs a floating-point element
  UnknownMode,           ///< an element type, interleave, swizzle, L2 promotion or fill that does not exist
  LaterDevice,           ///< sub-byte types and swizzles with larger atoms begin with compute capability 10.0
  CornerInRange,         ///< im2col: corner offsets fit the bits that the rank leaves them
  CornerLeavesBox,       ///< im2col: the corners leave a bounding box that is not empty
  ChannelsInRange,       ///< im2col: 1 to 256 channels per pixel
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
    case TensorMapRule::AddressInRange:
      return "AddressInRange";
    case TensorMapRule::ShapeInRange:
      return "ShapeInRange";
    case TensorMapRule::StrideMultiple:
      return "StrideMultiple";
    case TensorMapRule::StrideInRange:
      return "StrideInRange";
    case TensorMapRule::StrideCoversExtent:
      return "StrideCoversExtent";
    case TensorMapRule::BoxInRange:
      return "BoxInRange";
    case TensorMapRule::BoxInnerMultiple:
      return "BoxInnerMultiple";
    case TensorMapRule::BoxWithinSwizzle:
      return "BoxWithinSwizzle";
    case TensorMapRule::BoxFitsShared:
      return "BoxFitsShared";
    case TensorMapRule::ElementStrideInRange:
      return "ElementStrideInRange";
    case TensorMapRule::SwizzleForInterleave:
      return "SwizzleForInterleave";
    case TensorMapRule::FillForInteger:
      return "FillForInteger";
    case TensorMapRule::UnknownMode:
      return "UnknownMode";
    case TensorMapRule::LaterDevice:
      return "LaterDevice";
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
constexpr std::uint64_t kAddressLimit = std::uint64_t{1} << 57;
constexpr std::uint64_t kMaxBoxBytes = 232448;  ///< shared memory that a CTA can have

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
    default:
      return 32;
  }
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

/// The bytes that `count` elements take.
constexpr std::uint64_t row_bytes(CUtensorMapDataType element, std::uint64_t count) {
  return count * static_cast<std::uint64_t>(element_bits(element)) / 8;
}

namespace detail {

using ull = unsigned long long;

/// The alignment that address and strides need.
inline unsigned required_alignment(const TensorMapSpec& spec) {
  return spec.interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? 32 : 16;
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
  if (reinterpret_cast<std::uintptr_t>(spec.address) >= kAddressLimit) {
    error.set(TensorMapRule::AddressInRange,
              "the global address %p is not below 2^57: it is no address of device memory", spec.address);
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
  return true;
}

inline bool check_strides(const TensorMapSpec& spec, TensorMapError& error) {
  const unsigned alignment = required_alignment(spec);
  for (int i = 0; i + 1 < spec.rank; ++i) {
    const std::uint64_t stride = spec.strides[i];
    if (stride >= kStrideLimit) {
      error.set(TensorMapRule::StrideInRange,
                "strides[%d] is %llu bytes, a stride is below 2^40 = 1099511627776: split the tensor", i,
                ull{stride});
      return false;
    }
    if (stride % alignment != 0) {
      error.set(TensorMapRule::StrideMultiple,
                "strides[%d] is %llu bytes, a stride is a multiple of %u: pad the rows to %llu bytes", i,
                ull{stride}, alignment, ull{(stride / alignment + 1) * alignment});
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
  if (bytes % 16 != 0) {
    error.set(TensorMapRule::BoxInnerMultiple,
              "%s is %u elements of %d bits = %llu bytes, an inner row is a multiple of 16 bytes: make it a "
              "multiple of %d elements",
              name, count, bits, ull{bytes}, 128 / bits);
    return false;
  }
  if (spec.interleave == CU_TENSOR_MAP_INTERLEAVE_NONE && span != 0 && bytes > span) {
    error.set(TensorMapRule::BoxWithinSwizzle,
              "%s is %u elements = %llu bytes, the swizzle spans %u bytes: load the tile in boxes of at most "
              "%u elements%s",
              name, count, ull{bytes}, span, span * 8 / static_cast<unsigned>(bits),
              span < 128 ? ", or take a wider swizzle" : "");
    return false;
  }
  return true;
}

/// What one copy brings, `elements` of them, against shared memory.
inline bool check_box_bytes(const TensorMapSpec& spec, std::uint64_t elements, TensorMapError& error) {
  const std::uint64_t bytes = row_bytes(spec.element, elements);
  if (bytes <= kMaxBoxBytes) return true;
  error.set(
      TensorMapRule::BoxFitsShared,
      "one copy brings %llu bytes, a CTA has at most %llu of shared memory: load the tile in several boxes",
      ull{bytes}, ull{kMaxBoxBytes});
  return false;
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
  std::uint64_t elements = 1;
  for (int i = 0; i < spec.rank; ++i) elements *= spec.box[i] / spec.element_strides[i];
  return check_box_bytes(spec, elements, error) && check_inner_row(spec, "box[0]", spec.box[0], error);
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
    // The driver counts in 32 bits; in an interleaved layout the channels of a slice are no dimension.
    const int dimension = spec.interleave == CU_TENSOR_MAP_INTERLEAVE_NONE ? i + 1 : i;
    const long long extent = static_cast<long long>(static_cast<std::int32_t>(spec.shape[dimension])) +
                             spec.upper_corner[i] - spec.lower_corner[i];
    if (extent <= 0) {
      error.set(
          TensorMapRule::CornerLeavesBox,
          "the corners %d and %d leave %lld pixels of shape[%d] = %llu: the bounding box must not be empty",
          spec.lower_corner[i], spec.upper_corner[i], extent, dimension, ull{spec.shape[dimension]});
      return false;
    }
  }
  if (spec.channels_per_pixel == 0 || spec.channels_per_pixel > kMaxBoxExtent) {
    error.set(TensorMapRule::ChannelsInRange,
              "channels_per_pixel is %u, allowed are 1 to %u: load the channels in several copies",
              spec.channels_per_pixel, kMaxBoxExtent);
    return false;
  }
  if (spec.pixels_per_column == 0 || spec.pixels_per_column > kMaxPixelsPerColumn) {
    error.set(TensorMapRule::PixelsInRange,
              "pixels_per_column is %u, allowed are 1 to %u: load fewer pixels per copy",
              spec.pixels_per_column, kMaxPixelsPerColumn);
    return false;
  }
  return check_box_bytes(spec, std::uint64_t{spec.channels_per_pixel} * spec.pixels_per_column, error) &&
         check_inner_row(spec, "channels_per_pixel", spec.channels_per_pixel, error);
}

inline bool check_element_strides(const TensorMapSpec& spec, TensorMapError& error) {
  for (int i = 0; i < spec.rank; ++i) {
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

/// Enumerators come as numbers where a program computes them.
inline bool check_enumerators(const TensorMapSpec& spec, TensorMapError& error) {
  const struct {
    const char* name;
    unsigned value, most;
  } modes[] = {
      {"element type", static_cast<unsigned>(spec.element), CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B},
      {"interleave", static_cast<unsigned>(spec.interleave), CU_TENSOR_MAP_INTERLEAVE_32B},
      {"swizzle", static_cast<unsigned>(spec.swizzle), CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B},
      {"L2 promotion", static_cast<unsigned>(spec.l2_promotion), CU_TENSOR_MAP_L2_PROMOTION_L2_256B},
      {"fill mode", static_cast<unsigned>(spec.oob_fill), CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA}};
  for (const auto& [name, value, most] : modes) {
    if (value <= most) continue;
    error.set(TensorMapRule::UnknownMode, "%s %d does not exist: take one of <cuda.h>'s enumeration", name,
              static_cast<int>(value));
    return false;
  }
  return true;
}

inline bool check_modes(const TensorMapSpec& spec, TensorMapError& error) {
  if (!check_enumerators(spec, error)) return false;
  if (spec.element > CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ || spec.swizzle > CU_TENSOR_MAP_SWIZZLE_128B) {
    error.set(
        TensorMapRule::LaterDevice, "%s begins with compute capability 10.0, a Hopper GPU has 9.0: take %s",
        spec.swizzle > CU_TENSOR_MAP_SWIZZLE_128B ? "a swizzle with larger atoms" : "a sub-byte element type",
        spec.swizzle > CU_TENSOR_MAP_SWIZZLE_128B ? "the 128-byte swizzle" : "bytes and unpack them");
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

/// What the driver does not ask for, but no right map does: looked at last.
inline bool check_beyond_driver(const TensorMapSpec& spec, TensorMapError& error) {
  if (spec.address == nullptr) {
    error.set(TensorMapRule::AddressPresent, "the global address is null: allocate device memory first");
    return false;
  }
  if (spec.interleave == CU_TENSOR_MAP_INTERLEAVE_32B && spec.swizzle != CU_TENSOR_MAP_SWIZZLE_32B) {
    error.set(TensorMapRule::SwizzleForInterleave,
              "the 32-byte interleave is combined with a swizzle over %u bytes: it goes with the 32-byte "
              "swizzle alone",
              swizzle_span(spec.swizzle));
    return false;
  }
  if (spec.allow_overlap) return true;
  for (int i = 0; i + 1 < spec.rank; ++i) {
    // The extent inside is one row for the first stride, shape times the next inner stride for the others.
    // What is as long as the longest stride is too long in any case; the product could pass 2^64.
    const bool huge = i > 0 && spec.strides[i - 1] > kStrideLimit / spec.shape[i];
    const std::uint64_t inside = i == 0 ? row_bytes(spec.element, spec.shape[0])
                                 : huge ? kStrideLimit
                                        : spec.shape[i] * spec.strides[i - 1];
    if (spec.strides[i] < inside && spec.shape[i + 1] > 1) {
      error.set(TensorMapRule::StrideCoversExtent,
                "strides[%d] is %llu bytes, but what lies inside dimension %d takes %s%llu: strides are in "
                "bytes, not in elements; call allow_overlap() if the slices are meant to overlap",
                i, ull{spec.strides[i]}, i + 1, huge ? "more than " : "", ull{inside});
      return false;
    }
  }
  return true;
}

}  // namespace detail

/// Checks a description against every rule, and returns the first
/// that is broken, or an error that is false. Host only; calls nothing.
inline TensorMapError check(const TensorMapSpec& spec) {
  TensorMapError error;
  detail::check_modes(spec, error) && detail::check_rank(spec, error) && detail::check_address(spec, error) &&
      detail::check_shape(spec, error) && detail::check_strides(spec, error) &&
      detail::check_element_strides(spec, error) &&
      (spec.im2col ? detail::check_im2col(spec, error) : detail::check_box(spec, error)) &&
      detail::check_beyond_driver(spec, error);
  return error;
}

}  // namespace sluice::host
