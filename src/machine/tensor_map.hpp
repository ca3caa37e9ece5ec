// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensor maps: what a tensor copy must know about a tensor in global memory, the driver's rules for making
// one, and the driver's own 128 bytes. Index 0 is the innermost dimension throughout. Pure functions of plain
// data.
#pragma once

#include <array>
#include <cstdint>

#include "base/result.hpp"

namespace sluice::machine {

/// Numbers as in CUtensorMapDataType.
enum class TensorType : uint8_t {
  U8,
  U16,
  U32,
  S32,
  U64,
  S64,
  F16,
  F32,
  F64,
  BF16,
  F32Ftz,
  TF32,
  TF32Ftz,
  U4Dense,   ///< 16U4_ALIGN8B
  U4Padded,  ///< 16U4_ALIGN16B
  U6Padded,  ///< 16U6_ALIGN16B
};

struct TensorMapInfo {
  TensorType type = TensorType::U8;
  bool im2col = false;
  uint8_t rank = 1;
  uint8_t interleave = 0;  ///< 0 none, 1 slices of 16 bytes, 2 of 32
  uint8_t swizzle =
      0;  ///< numbers as in CUtensorMapSwizzle: 0 none, 1 32 bytes, 2 64, 3 128, 4.. with larger atoms
  uint8_t l2_promotion = 0;  ///< 0 none, 1 64 bytes, 2 128, 3 256
  uint8_t fill = 0;          ///< what elements outside read as: 0 zero, 1 the special NaN
  uint64_t address = 0;
  std::array<uint64_t, 5> dims{};     ///< extents in elements
  std::array<uint64_t, 4> strides{};  ///< bytes between neighbours of dimension i + 1
  std::array<uint32_t, 5> box{};      ///< tiled: extents in elements of the tensor (before element strides)
  std::array<uint32_t, 5> steps{};    ///< element strides
  std::array<int32_t, 3> lower{};     ///< im2col: corner offsets per spatial dimension, innermost first
  std::array<int32_t, 3> upper{};
  uint32_t channels = 0;  ///< im2col: channels per pixel
  uint32_t pixels = 0;    ///< im2col: pixels per column

  friend bool operator==(const TensorMapInfo&, const TensorMapInfo&) = default;
};

using TensorMapWords = std::array<uint64_t, 16>;

/// Bits of one element in global memory.
uint32_t element_bits(TensorType type);
/// A type that NaN can fill.
bool is_floating(TensorType type);
/// Bytes within which a swizzle permutes; 0 for none.
uint32_t swizzle_span(uint8_t swizzle);

/// Bytes of a box as the driver counts them, with element strides rounding down. The box must have positive
/// strides.
uint64_t noted_box_bytes(const TensorMapInfo& info);

/// The rules of the driver's encode calls. The error says in a sentence which rule is broken.
Result<void> check_tensor_map(const TensorMapInfo& info);

/// Checks the rules, then gives the driver's 128 bytes.
Result<TensorMapWords> encode_tensor_map(const TensorMapInfo& info);

/// What 128 bytes in memory say; the error tells why they are no tensor map.
Result<TensorMapInfo> decode_tensor_map(const TensorMapWords& words);

/// cuTensorMapReplaceAddress. The error tells why the driver refuses.
Result<void> replace_tensor_map_address(TensorMapWords& words, uint64_t address);

/// Fields that `tensormap.replace` can write.
enum class TensorMapField : uint8_t {
  GlobalAddress,
  Rank,
  BoxDim,
  GlobalDim,
  GlobalStride,
  ElementStride,
  ElementType,
  Interleave,
  Swizzle,
  Fill,
};

/// Writes one field of a map in memory as the instruction does: nothing is checked, values are cut to the
/// field's width. `ordinal` is the dimension, where the field has one.
void replace_tensor_map_field(TensorMapWords& words, TensorMapField field, uint32_t ordinal, uint64_t value);

}  // namespace sluice::machine
