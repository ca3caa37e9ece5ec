// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of tensor copies.
#include "machine/units/tensor_transfer.hpp"

#include <algorithm>
#include <cstring>

#include "machine/units/swizzle.hpp"

namespace sluice::machine {
namespace {

using ptx::ScalarType;

constexpr uint32_t kChunk = 16;

/// What elements outside read as: zeros, or 16 bits that are a NaN in every floating-point type when
/// repeated.
void fill(const TensorMapInfo& map, uint8_t* out, uint32_t first, uint32_t end) {
  constexpr uint16_t kNan = 0x7ff7;
  if (map.fill == 0) {
    std::memset(out + first, 0, end - first);
    return;
  }
  for (uint32_t b = first; b + sizeof kNan <= end; b += sizeof kNan) std::memcpy(out + b, &kNan, sizeof kNan);
}

bool rounds(TensorType type) {
  return type == TensorType::TF32 || type == TensorType::TF32Ftz;
}

/// Rounds to the nearest TF32 number, ties to even.
uint32_t nearest_tf32(uint32_t bits) {
  constexpr uint32_t kDropped = 0x1fff, kNan = 0x7fffe000;
  if ((bits & 0x7fffffff) > 0x7f800000) return kNan;
  return (bits + 0xfff + (bits >> 13 & 1)) & ~kDropped;
}

/// What types with a rule of their own do to elements that are read.
void convert(TensorType type, uint8_t* elements, uint32_t bytes) {
  if (!rounds(type)) return;
  for (uint32_t b = 0; b < bytes; b += 4) {
    uint32_t bits;
    std::memcpy(&bits, elements + b, 4);
    bits = nearest_tf32(bits);
    std::memcpy(elements + b, &bits, 4);
  }
}

/// Sums of F32 and TF32 keep subnormal numbers, as atomics in shared memory do; the types that flush to zero
/// do it here alone.
AtomicUnit adder_of(TensorType type) {
  return type == TensorType::F32 || type == TensorType::TF32 ? AtomicUnit::Shared : AtomicUnit::Global;
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
  if (row.count == 0) return fill(map, out, 0, shape.row_bytes());
  const uint32_t first = row.first * shape.unit_bytes;
  const uint32_t count = row.count * shape.unit_bytes;
  fill(map, out, 0, first);
  fill(map, out, first + count, shape.row_bytes());
  std::memcpy(out + first, from, count);
  convert(map.type, out + first, count);
}

uint32_t written_bytes(const TensorShape& shape, const TensorRow& row) {
  const uint32_t most = (shape.row_units - row.first) * shape.unit_bytes;
  return std::min((row.count * shape.unit_bytes + kChunk - 1) / kChunk * kChunk, most);
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
  const uint8_t* const inside = bytes + size_t{row.first} * shape.unit_bytes;
  const uint32_t count = written_bytes(shape, row);
  if (reduction == Reduction::None)
    std::memcpy(to, inside, count);
  else
    reduce_bytes(to, inside, count, reduction, scalar_of(map.type), adder_of(map.type));
}

}  // namespace sluice::machine
