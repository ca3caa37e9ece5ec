// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Loops over lanes. All 32 at once is the common case and vectorises; otherwise only the lanes of the mask
// are touched.
#pragma once

#include <bit>
#include <cstdint>

#include "machine/space.hpp"

namespace sluice::machine {

template <class F>
inline __attribute__((always_inline)) void for_lanes(uint32_t lanes, F&& f) {
  if (lanes == kAllLanes) {
#pragma GCC ivdep
    for (int i = 0; i < kLanes; ++i) f(i);
  } else {
    for (uint32_t m = lanes; m != 0; m &= m - 1) f(std::countr_zero(m));
  }
}

}  // namespace sluice::machine
