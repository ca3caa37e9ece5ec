// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What the scheduler and barriers need to know of each other.
#pragma once

#include "machine/state.hpp"

namespace sluice::machine {

/// Threads of `warp` have exited (Warp::live is up to date): barriers that wait for all remaining threads may
/// complete.
void settle_barriers(Worker& worker, Warp& warp, uint32_t exited);

/// Whether the split is at an aligned barrier (not the cluster's) and waits for other lanes of its warp.
bool waits_for_own_warp(const Worker& worker, const Warp& warp, const Split& split);

}  // namespace sluice::machine
