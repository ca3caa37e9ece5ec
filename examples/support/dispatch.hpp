// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// From the numbers of the command line to template arguments: stages 1 to 6, CTAs 1, 2 or 4.
#pragma once

#include <type_traits>

#include "tile_job.hpp"

namespace example {

template <int kValue>
using Constant = std::integral_constant<int, kValue>;

/// Call `body` with `stages` as a constant from 1 to kMaxStages. The caller has checked the range.
template <int kStages = kMaxStages, class Body>
auto with_stages(int stages, Body body) {
  if constexpr (kStages > 1) {
    if (stages < kStages) return with_stages<kStages - 1>(stages, body);
  }
  return body(Constant<kStages>{});
}

/// Call `body` with `ctas` as a constant: 1, 2 or 4.
template <class Body>
auto with_ctas(int ctas, Body body) {
  if (ctas == 1) return body(Constant<1>{});
  if (ctas == 2) return body(Constant<2>{});
  return body(Constant<4>{});
}

}  // namespace example
