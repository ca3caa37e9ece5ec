// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What barriers need to know of exiting threads.
#pragma once

#include "machine/state.hpp"

namespace sluice::machine {

/// Threads of `warp` have exited (Warp::live is up to date): barriers that wait for all remaining threads may
/// complete.
void settle_barriers(Worker& worker, Warp& warp, uint32_t exited);

}  // namespace sluice::machine
