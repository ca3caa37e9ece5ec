// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The 128 bytes of a tensor map. The layout is the driver's, found from what an H200's driver encoded
// (tests/machine_units/data/tensor_maps.txt holds the calls and the words).
#include "machine/tensor_map.hpp"

#include <fmt/format.h>

namespace sluice::machine {
namespace {

/// A field of the map: `width` bits of one word.
struct Field {
  uint8_t word, shift, width;
};

uint64_t mask_of(Field f) { return f.width == 64 ? ~uint64_t{0} : (uint64_t{1} << f.width) - 1; }
uint64_t get(const TensorMapWords& words, Field f) { return words[f.word] >> f.shift & mask_of(f); }
void set(TensorMapWords& words, Field f, uint64_t value) {
  words[f.word] = (words[f.word] & ~(mask_of(f) << f.shift)) | (value & mask_of(f)) << f.shift;
}
int32_t get_signed(const TensorMapWords& words, Field f) {
  const uint64_t raw = get(words, f);
  const uint64_t sign = uint64_t{1} << (f.width - 1);
  return static_cast<int32_t>(static_cast<int64_t>((raw ^ sign) - sign));
}

constexpr Field kAddress{0, 0, 64};
constexpr Field kMark{1, 0, 4};
constexpr Field kType{1, 4, 4};
constexpr Field kRank{1, 8, 3};
constexpr Field kInterleave{1, 11, 2};
constexpr Field kSwizzle{1, 13, 3};
constexpr Field kL2{1, 16, 2};
constexpr Field kFill{1, 18, 1};
constexpr Field kIm2col{1, 19, 1};
constexpr std::array<Field, 5> kDims{{{2, 0, 32}, {2, 32, 32}, {3, 0, 32}, {3, 32, 32}, {4, 0, 32}}};
constexpr std::array<Field, 4> kStrides{{{5, 0, 36}, {6, 0, 36}, {7, 0, 36}, {8, 0, 36}}};
constexpr std::array<Field, 5> kBox{{{9, 0, 8}, {9, 8, 8}, {9, 16, 8}, {9, 24, 8}, {9, 32, 8}}};
constexpr std::array<Field, 5> kSteps{{{10, 0, 3}, {10, 3, 3}, {10, 6, 3}, {10, 9, 3}, {10, 12, 3}}};
constexpr std::array<Field, 3> kLower{{{11, 0, 16}, {11, 16, 16}, {11, 32, 16}}};
constexpr std::array<Field, 3> kUpper{{{12, 0, 16}, {12, 16, 16}, {12, 32, 16}}};
constexpr Field kChannels{13, 0, 8};
constexpr Field kPixels{13, 8, 10};
constexpr uint64_t kMarkValue = 5;

}  // namespace

Result<TensorMapWords> encode_tensor_map(const TensorMapInfo& m) {
  if (Result<void> rules = check_tensor_map(m); !rules) return rules.error();
  TensorMapWords words{};
  set(words, kAddress, m.address);
  set(words, kMark, kMarkValue);
  set(words, kType, static_cast<uint64_t>(m.type));
  set(words, kRank, m.rank - 1u);
  set(words, kInterleave, m.interleave);
  set(words, kSwizzle, m.swizzle);
  set(words, kL2, m.l2_promotion);
  set(words, kFill, m.fill_nan ? 1 : 0);
  set(words, kIm2col, m.im2col ? 1 : 0);
  for (unsigned i = 0; i < m.rank; ++i) {
    set(words, kDims[i], m.dims[i] - 1);
    if (i + 1 < m.rank) set(words, kStrides[i], m.strides[i] >> 4);
    set(words, kSteps[i], m.steps[i] - 1u);
    if (!m.im2col) set(words, kBox[i], m.box[i] - 1u);
  }
  if (m.im2col) {
    for (unsigned i = 0; i + 2 < m.rank; ++i) {
      set(words, kLower[i], static_cast<uint64_t>(static_cast<int64_t>(m.lower[i])));
      set(words, kUpper[i], static_cast<uint64_t>(static_cast<int64_t>(m.upper[i])));
    }
    set(words, kChannels, m.channels - 1u);
    set(words, kPixels, m.pixels - 1u);
  }
  return words;
}

Result<TensorMapInfo> decode_tensor_map(const TensorMapWords& words) {
  if (get(words, kMark) != kMarkValue) return Error{"the bytes are no tensor map", {}};
  TensorMapInfo m;
  m.address = get(words, kAddress);
  m.type = static_cast<TensorType>(get(words, kType));
  m.rank = static_cast<uint8_t>(get(words, kRank) + 1);
  if (m.rank > 5) return Error{fmt::format("the tensor map has rank {}", m.rank), {}};
  m.interleave = static_cast<uint8_t>(get(words, kInterleave));
  m.swizzle = static_cast<uint8_t>(get(words, kSwizzle));
  m.l2_promotion = static_cast<uint8_t>(get(words, kL2));
  m.fill_nan = get(words, kFill) != 0;
  m.im2col = get(words, kIm2col) != 0;
  for (unsigned i = 0; i < m.rank; ++i) {
    m.dims[i] = get(words, kDims[i]) + 1;
    if (i + 1 < m.rank) m.strides[i] = get(words, kStrides[i]) << 4;
    m.steps[i] = static_cast<uint32_t>(get(words, kSteps[i]) + 1);
    if (!m.im2col) m.box[i] = static_cast<uint32_t>(get(words, kBox[i]) + 1);
  }
  if (m.im2col) {
    for (unsigned i = 0; i + 2 < m.rank; ++i) {
      m.lower[i] = get_signed(words, kLower[i]);
      m.upper[i] = get_signed(words, kUpper[i]);
    }
    m.channels = static_cast<uint32_t>(get(words, kChannels) + 1);
    m.pixels = static_cast<uint32_t>(get(words, kPixels) + 1);
  }
  return m;
}

Result<void> replace_tensor_map_address(TensorMapWords& words, uint64_t address) {
  const uint64_t alignment = get(words, kInterleave) == 2 ? 32 : 16;
  if (address == 0) return Error{"the global address is null", {}};
  if (address % alignment != 0) return Error{fmt::format("the global address is not a multiple of {}", alignment), {}};
  set(words, kAddress, address);
  return {};
}

void replace_tensor_map_field(TensorMapWords& words, TensorMapField field, uint32_t ordinal, uint64_t value) {
  switch (field) {
    case TensorMapField::GlobalAddress: set(words, kAddress, value); break;
    // The instruction takes the rank minus one.
    case TensorMapField::Rank: set(words, kRank, value); break;
    case TensorMapField::BoxDim: if (ordinal < 5) set(words, kBox[ordinal], value - 1); break;
    case TensorMapField::GlobalDim: if (ordinal < 5) set(words, kDims[ordinal], value - 1); break;
    case TensorMapField::GlobalStride: if (ordinal < 4) set(words, kStrides[ordinal], value >> 4); break;
    case TensorMapField::ElementStride: if (ordinal < 5) set(words, kSteps[ordinal], value - 1); break;
    case TensorMapField::ElementType: set(words, kType, value); break;
    case TensorMapField::Interleave: set(words, kInterleave, value); break;
    case TensorMapField::Swizzle: set(words, kSwizzle, value); break;
    case TensorMapField::Fill: set(words, kFill, value); break;
  }
}

}  // namespace sluice::machine
