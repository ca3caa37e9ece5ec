// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Says who waits for what when no thread of a launch can run again.
#pragma once

#include <string>
#include <vector>

#include "machine/state.hpp"

namespace sluice::machine {

struct StuckReport {
  Fault fault;       ///< kind Timeout, placed at the first stuck wait
  std::string text;  ///< one line per group of equal waits, then one per mbarrier waited for
};

/// The fault is that of this split's first lane, at the instruction where it stands.
void place_fault(Fault& fault, const Warp& warp, const Split& split);

StuckReport describe_stuck(const LaunchContext& launch, const std::vector<const Cluster*>& clusters);

}  // namespace sluice::machine
