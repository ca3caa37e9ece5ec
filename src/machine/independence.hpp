// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether CTAs of a kernel can run on several host threads with the same result as on one.
#pragma once

#include <string>

#include "machine/kernel.hpp"

namespace sluice::machine {

/// The first instruction through which CTAs could notice each other: atomics, volatile or synchronising
/// accesses to global memory, fences wider than a cluster, reductions into global memory, calls with an order
/// (printf, malloc). Empty if there is none.
std::string shares_global_memory(const Kernel& kernel);

}  // namespace sluice::machine
