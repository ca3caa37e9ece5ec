// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The driver's rules for tensor maps, one check each. The accepted and refused calls that an H200's driver
// answered are in tests/machine_units/data/tensor_maps.txt.
#include <fmt/format.h>

#include "machine/tensor_map.hpp"

namespace sluice::machine {
namespace {

constexpr uint64_t kMostExtent = uint64_t{1} << 32;
constexpr uint64_t kStrideLimit = uint64_t{1} << 40;
constexpr uint32_t kMostBox = 256;
constexpr uint32_t kMostStep = 8;
constexpr uint32_t kMostPixels = 1024;
constexpr uint64_t kMostBytes = 232448;  ///< shared memory that a CTA can have

template <class... T>
Error broken(fmt::format_string<T...> text, T&&... values) {
  return Error{fmt::format(text, std::forward<T>(values)...), {}};
}

bool is_padded(TensorType type) {
  return type == TensorType::U4Padded || type == TensorType::U6Padded;
}

uint64_t row_bytes(TensorType type, uint64_t count) {
  return is_padded(type) ? count : count * element_bits(type) / 8;
}

Result<void> check_modes(const TensorMapInfo& m) {
  if (m.type > TensorType::U6Padded)
    return broken("element type {} does not exist", static_cast<int>(m.type));
  if (m.interleave > 2) return broken("interleave {} does not exist", m.interleave);
  if (m.swizzle > 6) return broken("swizzle {} does not exist", m.swizzle);
  if (m.l2_promotion > 3) return broken("L2 promotion {} does not exist", m.l2_promotion);
  // MODEL: an sm_90 device takes neither sub-byte elements nor swizzles with larger atoms.
  if (m.type > TensorType::TF32Ftz)
    return broken("element type {} needs a later device", static_cast<int>(m.type));
  if (m.swizzle > 3) return broken("swizzle {} needs a later device", m.swizzle);
  if (m.fill > 1) return broken("fill mode {} does not exist", m.fill);
  if (m.fill != 0 && !is_floating(m.type)) return broken("NaN fill needs a floating-point element type");
  return {};
}

Result<void> check_tensor(const TensorMapInfo& m) {
  const unsigned least = m.im2col ? 3 : 1;
  if (m.rank < least || m.rank > 5) return broken("the rank is {}, allowed are {} to 5", m.rank, least);
  if (m.interleave != 0 && m.rank < 3) return broken("the rank is {}, an interleaved layout needs 3", m.rank);
  const uint64_t alignment = m.interleave == 2 || is_padded(m.type) ? 32 : 16;
  if (m.address >> 57 != 0) return broken("the global address 0x{:x} is not below 2^57", m.address);
  if (m.address % alignment != 0)
    return broken("the global address 0x{:x} is not a multiple of {}", m.address, alignment);
  for (unsigned i = 0; i < m.rank; ++i) {
    if (m.dims[i] == 0 || m.dims[i] > kMostExtent) {
      return broken("extent {} is {}, allowed are 1 to 4294967296", i, m.dims[i]);
    }
  }
  for (unsigned i = 0; i + 1 < m.rank; ++i) {
    if (m.strides[i] % alignment != 0)
      return broken("stride {} is {} bytes, not a multiple of {}", i, m.strides[i], alignment);
    if (m.strides[i] >= kStrideLimit) return broken("stride {} is {} bytes, not below 2^40", i, m.strides[i]);
  }
  for (unsigned i = 0; i < m.rank; ++i) {
    if (m.steps[i] == 0 || m.steps[i] > kMostStep) {
      return broken("element stride {} is {}, allowed are 1 to {}", i, m.steps[i], kMostStep);
    }
  }
  return {};
}

/// The innermost extent of what a copy takes: the box's first entry, or the channels of a pixel.
Result<void> check_row(const TensorMapInfo& m, uint32_t count) {
  const uint64_t bytes = row_bytes(m.type, count);
  if (bytes % 16 != 0)
    return broken("the inner row of {} elements takes {} bytes, not a multiple of 16", count, bytes);
  const uint32_t span = swizzle_span(m.swizzle);
  if (m.interleave == 0 && span != 0 && bytes > span)
    return broken("the inner row takes {} bytes, the swizzle spans {}", bytes, span);
  return {};
}

Result<void> check_box(const TensorMapInfo& m) {
  for (unsigned i = 0; i < m.rank; ++i) {
    if (m.box[i] == 0 || m.box[i] > kMostBox)
      return broken("box extent {} is {}, allowed are 1 to {}", i, m.box[i], kMostBox);
  }
  if (noted_box_bytes(m) > kMostBytes) {
    return broken("the box takes {} bytes, more than the {} of a CTA's shared memory", noted_box_bytes(m),
                  kMostBytes);
  }
  return check_row(m, m.box[0]);
}

Result<void> check_im2col(const TensorMapInfo& m) {
  const int most = m.rank == 3 ? 32767 : m.rank == 4 ? 127 : 15;
  for (unsigned i = 0; i + 2 < m.rank; ++i) {
    for (const int32_t corner : {m.lower[i], m.upper[i]}) {
      if (corner < -most - 1 || corner > most)
        return broken("corner offset {} is {}, allowed are {} to {}", i, corner, -most - 1, most);
    }
    // The driver counts in 32 bits; in an interleaved layout the channels within a slice are no dimension.
    const uint64_t dimension = m.dims[m.interleave == 0 ? i + 1 : i];
    const int64_t extent = int64_t{static_cast<int32_t>(dimension)} + m.upper[i] - m.lower[i];
    if (extent <= 0) return broken("the corners leave {} pixels of extent {}", extent, dimension);
  }
  if (m.channels == 0 || m.channels > kMostBox)
    return broken("channels per pixel are {}, allowed are 1 to {}", m.channels, kMostBox);
  if (m.pixels == 0 || m.pixels > kMostPixels)
    return broken("pixels per column are {}, allowed are 1 to {}", m.pixels, kMostPixels);
  if (noted_box_bytes(m) > kMostBytes) {
    return broken("the pixels take {} bytes, more than the {} of a CTA's shared memory", noted_box_bytes(m),
                  kMostBytes);
  }
  return check_row(m, m.channels);
}

}  // namespace

uint32_t element_bits(TensorType type) {
  switch (type) {
    case TensorType::U8:
      return 8;
    case TensorType::U16:
    case TensorType::F16:
    case TensorType::BF16:
      return 16;
    case TensorType::U64:
    case TensorType::S64:
    case TensorType::F64:
      return 64;
    case TensorType::U4Dense:
    case TensorType::U4Padded:
      return 4;
    case TensorType::U6Padded:
      return 6;
    default:
      return 32;
  }
}

bool is_floating(TensorType type) {
  switch (type) {
    case TensorType::F16:
    case TensorType::F32:
    case TensorType::F64:
    case TensorType::BF16:
    case TensorType::F32Ftz:
    case TensorType::TF32:
    case TensorType::TF32Ftz:
      return true;
    default:
      return false;
  }
}

uint64_t noted_box_bytes(const TensorMapInfo& m) {
  uint64_t bytes = element_bits(m.type) / 8;
  if (m.im2col) return bytes * m.channels * m.pixels;
  for (unsigned i = 0; i < m.rank; ++i) bytes *= m.box[i] / m.steps[i];
  return bytes;
}

uint32_t swizzle_span(uint8_t swizzle) {
  return swizzle == 0 ? 0 : swizzle == 1 ? 32 : swizzle == 2 ? 64 : 128;
}

Result<void> check_tensor_map(const TensorMapInfo& m) {
  if (Result<void> modes = check_modes(m); !modes) return modes;
  if (Result<void> tensor = check_tensor(m); !tensor) return tensor;
  return m.im2col ? check_im2col(m) : check_box(m);
}

}  // namespace sluice::machine
