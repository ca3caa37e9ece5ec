// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// An operand is judged by the places of its 16-byte chunks: all inside the CTA's shared memory, no two at one
// place.
#include "machine/units/wgmma_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "machine/space.hpp"
#include "machine/units/wgmma_descriptor.hpp"

namespace sluice::machine {
namespace {

constexpr uint32_t kChunk = 16;

std::vector<uint32_t> chunks_of(const MatrixDescriptor& d, const DescribedOperand& operand) {
  std::vector<uint32_t> chunks;
  if (operand.mn_major) {
    for (uint32_t k = 0; k < operand.k_bytes / 2; ++k)
      for (uint32_t block = 0; block < operand.mn / 8; ++block) chunks.push_back(d.mn_major(block, k));
  } else {
    for (uint32_t row = 0; row < operand.mn; ++row)
      for (uint32_t chunk = 0; chunk < operand.k_bytes / kChunk; ++chunk)
        chunks.push_back(d.k_major(row, chunk));
  }
  return chunks;
}

}  // namespace

std::string describe_descriptor(uint64_t bits) {
  const MatrixDescriptor d = MatrixDescriptor::decode(bits);
  return fmt::format("start 0x{:x}, leading offset {}, stride offset {}, base offset {}, {}", d.start,
                     d.leading, d.stride, d.base_offset,
                     d.span == 0 ? std::string("no swizzle") : fmt::format("{}-byte swizzle", d.span));
}

std::string broken_descriptor_rule(uint64_t bits, const DescribedOperand& operand, uint32_t shared_bytes) {
  const MatrixDescriptor d = MatrixDescriptor::decode(bits);
  if (d.start < kReservedShared || d.start >= shared_bytes) {
    return fmt::format("starts at 0x{:x}, where the CTA has no shared memory (it has 0x{:x} to 0x{:x})",
                       d.start, kReservedShared, shared_bytes);
  }
  if (d.span == 0 && d.base_offset != 0)
    return fmt::format("has base offset {} and no swizzle that it could belong to", d.base_offset);
  std::vector<uint32_t> chunks = chunks_of(d, operand);
  std::sort(chunks.begin(), chunks.end());
  if (chunks.front() < kReservedShared || chunks.back() + kChunk > shared_bytes) {
    const uint32_t outside = chunks.front() < kReservedShared ? chunks.front() : chunks.back();
    return fmt::format("leads with its offsets to 0x{:x}, outside the CTA's shared memory (0x{:x} to 0x{:x})",
                       outside, kReservedShared, shared_bytes);
  }
  const auto twice = std::adjacent_find(chunks.begin(), chunks.end());
  if (twice == chunks.end()) return "";
  return fmt::format("has offsets that put two parts of the {} x {} byte operand at one place, 0x{:x}",
                     operand.mn, operand.k_bytes, *twice);
}

}  // namespace sluice::machine
