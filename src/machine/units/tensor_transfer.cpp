// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of tensor copies.
#include "machine/units/tensor_transfer.hpp"

#include <cstring>

#include "machine/units/swizzle.hpp"

namespace sluice::machine {
namespace {

using ptx::ScalarType;

constexpr uint32_t kChunk = 16;

/// The NaN that fills what lies outside, in the low bits.
uint64_t fill_of(const TensorMapInfo& map) {
  if (map.fill == 0) return 0;
  switch (map.type) {
    case TensorType::F16:
    case TensorType::BF16:
      return 0x7fff;
    case TensorType::F64:
      return 0x7fffffffffffffff;
    default:
      return 0x7fffffff;
  }
}

void fill(uint8_t* out, uint32_t first, uint32_t end, uint32_t element_bytes, uint64_t value) {
  if (value == 0) {
    std::memset(out + size_t{first} * element_bytes, 0, size_t{end - first} * element_bytes);
    return;
  }
  for (uint32_t i = first; i < end; ++i) std::memcpy(out + size_t{i} * element_bytes, &value, element_bytes);
}

bool flushes(TensorType type) {
  return type == TensorType::F32Ftz || type == TensorType::TF32Ftz;
}
bool rounds(TensorType type) {
  return type == TensorType::TF32 || type == TensorType::TF32Ftz;
}

/// What the 32-bit floating types with a rule of their own do to an element that is read.
void convert(TensorType type, uint8_t* elements, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t bits;
    std::memcpy(&bits, elements + size_t{i} * 4, 4);
    if (flushes(type) && (bits & 0x7f800000) == 0) bits &= 0x80000000;
    if (rounds(type)) bits &= ~uint32_t{0x1fff};
    std::memcpy(elements + size_t{i} * 4, &bits, 4);
  }
}

}  // namespace

ScalarType scalar_of(TensorType type) {
  switch (type) {
    case TensorType::U8:
      return ScalarType::u8;
    case TensorType::U16:
      return ScalarType::u16;
    case TensorType::U32:
      return ScalarType::u32;
    case TensorType::S32:
      return ScalarType::s32;
    case TensorType::U64:
      return ScalarType::u64;
    case TensorType::S64:
      return ScalarType::s64;
    case TensorType::F16:
      return ScalarType::f16;
    case TensorType::F64:
      return ScalarType::f64;
    case TensorType::BF16:
      return ScalarType::bf16;
    default:
      return ScalarType::f32;
  }
}

void read_row(const TensorMapInfo& map, const TensorShape& shape, const TensorRow& row, const uint8_t* from,
              uint8_t* out) {
  const uint32_t width = shape.element_bytes;
  const uint64_t outside = fill_of(map);
  if (row.count == 0) return fill(out, 0, shape.row_elements, width, outside);
  if (row.first != 0) fill(out, 0, row.first, width, outside);
  const uint32_t end = row.first + row.count;
  if (end != shape.row_elements) fill(out, end, shape.row_elements, width, outside);
  std::memcpy(out + size_t{row.first} * width, from, size_t{row.count} * width);
  if (flushes(map.type) || rounds(map.type)) convert(map.type, out + size_t{row.first} * width, row.count);
}

void put_row(uint8_t* shared, uint32_t offset, const uint8_t* row, uint32_t bytes, uint8_t swizzle) {
  if (swizzle == 0 || offset % kChunk != 0) {
    std::memcpy(shared + offset, row, bytes);
    return;
  }
  for (uint32_t b = 0; b < bytes; b += kChunk) {
    std::memcpy(shared + swizzle_address(offset + b, swizzle), row + b, std::min(kChunk, bytes - b));
  }
}

void get_row(const uint8_t* shared, uint32_t offset, uint8_t* row, uint32_t bytes, uint8_t swizzle) {
  if (swizzle == 0 || offset % kChunk != 0) {
    std::memcpy(row, shared + offset, bytes);
    return;
  }
  for (uint32_t b = 0; b < bytes; b += kChunk) {
    std::memcpy(row + b, shared + swizzle_address(offset + b, swizzle), std::min(kChunk, bytes - b));
  }
}

void write_row(const TensorMapInfo& map, const TensorShape& shape, const TensorRow& row, const uint8_t* bytes,
               uint8_t* to, Reduction reduction) {
  const uint8_t* const inside = bytes + size_t{row.first} * shape.element_bytes;
  const uint32_t count = row.count * shape.element_bytes;
  if (reduction == Reduction::None)
    std::memcpy(to, inside, count);
  else
    reduce_bytes(to, inside, count, reduction, scalar_of(map.type));
}

}  // namespace sluice::machine
