// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The 128 bytes of a tensor map. The layout is the driver's, found from what an H200's driver encoded
// (tests/machine_units/data/tensor_maps.txt holds the calls and the words).
#include "machine/tensor_map.hpp"

#include <fmt/format.h>

#include <iterator>

namespace sluice::machine {
namespace {

/// A field of the map: `width` bits of one word.
struct Field {
  uint8_t word, shift, width;
};

uint64_t mask_of(Field f) {
  return f.width == 64 ? ~uint64_t{0} : (uint64_t{1} << f.width) - 1;
}
uint64_t get(const TensorMapWords& words, Field f) {
  return words[f.word] >> f.shift & mask_of(f);
}
void set(TensorMapWords& words, Field f, uint64_t value) {
  words[f.word] = (words[f.word] & ~(mask_of(f) << f.shift)) | (value & mask_of(f)) << f.shift;
}
int32_t get_signed(const TensorMapWords& words, Field f) {
  const uint64_t raw = get(words, f);
  const uint64_t sign = uint64_t{1} << (f.width - 1);
  return static_cast<int32_t>(static_cast<int64_t>((raw ^ sign) - sign));
}

constexpr Field kAddress{0, 0, 64};
constexpr Field kIm2col{1, 0, 1};
constexpr Field kRank{1, 4, 3};
constexpr Field kType{1, 7, 4};
constexpr Field kInterleave{1, 11, 2};
constexpr Field kSwizzle{1, 13, 2};
constexpr Field kFill{1, 15, 1};
constexpr Field kRoundTf32{1, 16, 1};
constexpr Field kL2{1, 17, 2};
/// Strides in units of 16 bytes: 32 bits of each, the upper 4 apart.
constexpr std::array<Field, 4> kStrideLow{{{1, 32, 32}, {2, 0, 32}, {2, 32, 32}, {3, 0, 32}}};
constexpr std::array<Field, 4> kStrideHigh{{{3, 32, 4}, {3, 36, 4}, {3, 40, 4}, {3, 44, 4}}};
constexpr std::array<Field, 5> kDims{{{4, 0, 32}, {4, 32, 32}, {5, 0, 32}, {5, 32, 32}, {6, 0, 32}}};
constexpr std::array<Field, 5> kSteps{{{6, 32, 3}, {6, 35, 3}, {6, 38, 3}, {6, 41, 3}, {6, 44, 3}}};
/// The first entry holds the channels of a pixel in im2col mode, the others only exist in tile mode.
constexpr std::array<Field, 5> kBox{{{6, 56, 8}, {7, 0, 8}, {7, 8, 8}, {7, 16, 8}, {7, 24, 8}}};
constexpr Field kPixels{7, 32, 10};
/// For software, which the copy engine does not look at: bytes of a box, and the length of the swizzle
/// pattern.
constexpr unsigned kBytesWord = 8;
constexpr unsigned kPatternWord = 9;

void set_stride(TensorMapWords& words, unsigned i, uint64_t bytes) {
  set(words, kStrideLow[i], bytes >> 4);
  set(words, kStrideHigh[i], bytes >> 36);
}

/// The corners share 16 bits each among the spatial dimensions.
Field corner_field(unsigned rank, unsigned dimension, bool upper) {
  const unsigned width = rank == 3 ? 16 : rank == 4 ? 8 : 5;
  return {7, static_cast<uint8_t>((upper ? 16 : 0) + dimension * width), static_cast<uint8_t>(width)};
}

/// The map numbers its element types otherwise than the driver's call; TF32 is F32 with rounding.
constexpr TensorType kTypes[] = {TensorType::U8,     TensorType::U16, TensorType::U32, TensorType::S32,
                                 TensorType::U64,    TensorType::S64, TensorType::F16, TensorType::F32,
                                 TensorType::F32Ftz, TensorType::F64, TensorType::BF16};

void set_type(TensorMapWords& words, TensorType type) {
  const bool rounds = type == TensorType::TF32 || type == TensorType::TF32Ftz;
  const TensorType stored = type == TensorType::TF32      ? TensorType::F32
                            : type == TensorType::TF32Ftz ? TensorType::F32Ftz
                                                          : type;
  for (unsigned i = 0; i < std::size(kTypes); ++i) {
    if (kTypes[i] == stored) set(words, kType, i);
  }
  set(words, kRoundTf32, rounds ? 1 : 0);
}

}  // namespace

Result<TensorMapWords> encode_tensor_map(const TensorMapInfo& m) {
  if (Result<void> rules = check_tensor_map(m); !rules) return rules.error();
  TensorMapWords words{};
  set(words, kAddress, m.address);
  set(words, kIm2col, m.im2col ? 1 : 0);
  set(words, kRank, m.rank - 1u);
  set_type(words, m.type);
  set(words, kInterleave, m.interleave);
  set(words, kSwizzle, m.swizzle);
  set(words, kFill, m.fill);
  set(words, kL2, m.l2_promotion);
  for (unsigned i = 0; i < m.rank; ++i) {
    set(words, kDims[i], m.dims[i] - 1);
    set(words, kSteps[i], m.steps[i] - 1u);
    if (i + 1 < m.rank) set_stride(words, i, m.strides[i]);
    if (!m.im2col) set(words, kBox[i], m.box[i] - 1u);
  }
  if (m.im2col) {
    for (unsigned i = 0; i + 2 < m.rank; ++i) {
      set(words, corner_field(m.rank, i, false), static_cast<uint64_t>(int64_t{m.lower[i]}));
      set(words, corner_field(m.rank, i, true), static_cast<uint64_t>(int64_t{m.upper[i]}));
    }
    set(words, kBox[0], m.channels - 1u);
    set(words, kPixels, m.pixels - 1u);
  }
  words[kBytesWord] = noted_box_bytes(m);
  words[kPatternWord] = m.swizzle == 0 ? 16 : swizzle_span(m.swizzle) * 8;
  return words;
}

Result<TensorMapInfo> decode_tensor_map(const TensorMapWords& words) {
  TensorMapInfo m;
  m.address = get(words, kAddress);
  m.im2col = get(words, kIm2col) != 0;
  m.rank = static_cast<uint8_t>(get(words, kRank) + 1);
  if (m.rank > 5) return Error{fmt::format("the bytes are no tensor map: they say rank {}", m.rank), {}};
  if (m.im2col && m.rank < 3) return Error{fmt::format("an im2col tensor map of rank {}", m.rank), {}};
  const uint64_t type = get(words, kType);
  if (type >= std::size(kTypes))
    return Error{fmt::format("the bytes are no tensor map: they say element type {}", type), {}};
  m.type = kTypes[type];
  if (get(words, kRoundTf32) != 0) {
    m.type = m.type == TensorType::F32      ? TensorType::TF32
             : m.type == TensorType::F32Ftz ? TensorType::TF32Ftz
                                            : m.type;
  }
  m.interleave = static_cast<uint8_t>(get(words, kInterleave));
  m.swizzle = static_cast<uint8_t>(get(words, kSwizzle));
  m.fill = static_cast<uint8_t>(get(words, kFill));
  m.l2_promotion = static_cast<uint8_t>(get(words, kL2));
  for (unsigned i = 0; i < m.rank; ++i) {
    m.dims[i] = get(words, kDims[i]) + 1;
    m.steps[i] = static_cast<uint32_t>(get(words, kSteps[i]) + 1);
    if (i + 1 < m.rank) m.strides[i] = (get(words, kStrideLow[i]) | get(words, kStrideHigh[i]) << 32) << 4;
    if (!m.im2col) m.box[i] = static_cast<uint32_t>(get(words, kBox[i]) + 1);
  }
  if (m.im2col) {
    for (unsigned i = 0; i + 2 < m.rank; ++i) {
      m.lower[i] = get_signed(words, corner_field(m.rank, i, false));
      m.upper[i] = get_signed(words, corner_field(m.rank, i, true));
    }
    m.channels = static_cast<uint32_t>(get(words, kBox[0]) + 1);
    m.pixels = static_cast<uint32_t>(get(words, kPixels) + 1);
  }
  return m;
}

Result<void> replace_tensor_map_address(TensorMapWords& words, uint64_t address) {
  // Unlike the encode calls, this one refuses null and asks for no more than 16 bytes of any layout.
  if (address == 0) return Error{"the global address is null", {}};
  if (address % 16 != 0) return Error{"the global address is not a multiple of 16", {}};
  if (address >> 57 != 0) return Error{"the global address is not below 2^57", {}};
  set(words, kAddress, address);
  return {};
}

void replace_tensor_map_field(TensorMapWords& words, TensorMapField field, uint32_t ordinal, uint64_t value) {
  switch (field) {
    case TensorMapField::GlobalAddress:
      set(words, kAddress, value);
      break;
    // The instruction takes the rank minus one.
    case TensorMapField::Rank:
      set(words, kRank, value);
      break;
    case TensorMapField::BoxDim:
      if (ordinal < 5) set(words, kBox[ordinal], value - 1);
      break;
    case TensorMapField::GlobalDim:
      if (ordinal < 5) set(words, kDims[ordinal], value - 1);
      break;
    case TensorMapField::GlobalStride:
      if (ordinal < 4) set_stride(words, ordinal, value);
      break;
    case TensorMapField::ElementStride:
      if (ordinal < 5) set(words, kSteps[ordinal], value - 1);
      break;
    case TensorMapField::ElementType:
      // The instruction numbers types as the map does, and goes on with the two that round.
      if (value >= std::size(kTypes))
        set_type(words, value == std::size(kTypes) ? TensorType::TF32 : TensorType::TF32Ftz);
      else
        set_type(words, kTypes[value]);
      break;
    case TensorMapField::Interleave:
      set(words, kInterleave, value);
      break;
    case TensorMapField::Swizzle:
      set(words, kSwizzle, value);
      break;
    case TensorMapField::Fill:
      set(words, kFill, value);
      break;
  }
}

}  // namespace sluice::machine
