// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// One entry per name.
#include "check/fault_words.hpp"

#include <algorithm>
#include <iterator>

namespace sluice::check {
namespace {

constexpr FaultWords kWords[] = {
    {"out-of-bounds", "a GPU faults on such an access, or changes memory that belongs to something else",
     "check the index against the size that was allocated; for a copy, its coordinates and its size in the "
     "last tile"},
    {"misaligned-access", "an access of n bytes needs an address that is a multiple of n",
     "align the variable or the offset (alignas), or use a narrower access"},
    {"tma-misaligned",
     "the copy engine takes shared addresses that are multiples of 16 (128 for tensor copies) and global "
     "ones that are "
     "multiples of 16",
     "align the stage in shared memory (alignas(128), 1024 with a 128-byte swizzle), and the source and size "
     "to 16 bytes"},
    {"tensor-map-misplaced",
     "the copy engine reads a tensor map from parameter, constant or global memory only",
     "pass the map as a `const __grid_constant__ CUtensorMap` parameter and take its address in the kernel"},
    {"tensor-map-invalid",
     "the copy and the tensor map have to agree in rank and mode, and the map must have been made",
     "make the map with the encode call for this rank and mode, and look at what the call returns"},
    {"barrier-misaligned", "an mbarrier object has 8 bytes and lies on a multiple of 8",
     "declare barriers as uint64_t, or align what holds them to 8 bytes"},
    {"multicast-mask-mismatch", "bit i of a mask, and rank i of mapa, mean the CTA of rank i in the cluster",
     "build masks and ranks from those that the cluster has"},
    {"wgmma-descriptor-invalid",
     "a matrix descriptor says where in the CTA's shared memory each 16 bytes of the operand lie",
     "make it from the shared address (18 bits) and byte offsets, each shifted right by 4"},
};

}  // namespace

FaultWords fault_words(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kWords), std::end(kWords),
                                         [&](const FaultWords& words) { return words.name == name; });
  return found == std::end(kWords) ? FaultWords{} : *found;
}

}  // namespace sluice::check
