// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The two-dimensional tensor copies by CuTe, for the compile-time benchmark.
#pragma once

#include <cute/arch/copy_sm90_tma.hpp>

namespace sluice::ptx {

struct Coordinates {
  int inner;
  int outer;
};

constexpr auto kNoHint = static_cast<std::uint64_t>(cute::TMA::CacheHintSm90::EVICT_NORMAL);

CUTE_DEVICE void cp_async_bulk_tensor(void* to, const void* map, std::uint64_t* barrier, Coordinates at) {
  cute::SM90_TMA_LOAD_2D::copy(map, barrier, kNoHint, to, at.inner, at.outer);
}

CUTE_DEVICE void cp_async_bulk_tensor_multicast(void* to, const void* map, std::uint64_t* barrier,
                                                Coordinates at, std::uint16_t ctas) {
  cute::SM90_TMA_LOAD_MULTICAST_2D::copy(map, barrier, ctas, kNoHint, to, at.inner, at.outer);
}

}  // namespace sluice::ptx
