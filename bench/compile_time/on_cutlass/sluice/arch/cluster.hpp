// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The rank of a CTA in its cluster by CuTe, for the compile-time benchmark.
#pragma once

#include <cute/arch/cluster_sm90.hpp>

namespace sluice::ptx {

CUTE_DEVICE std::uint32_t cluster_ctarank() {
  return cute::block_rank_in_cluster();
}

}  // namespace sluice::ptx
