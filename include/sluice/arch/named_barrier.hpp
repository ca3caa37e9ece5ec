// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The sixteen hardware barriers of a CTA (PTX ISA, "bar / barrier"). The aligned forms (bar_*) want whole
// warps that execute the instruction together; the unaligned ones (barrier_*) do not. The class is
// sluice::NamedBarrier.
#pragma once

#include "sluice/arch/config.hpp"

namespace sluice::ptx {

/// Arrives and blocks until `threads` threads (a multiple of 32) have arrived at barrier `id` (0 to 15).
/// Whole warps. PTX: bar.sync
SLUICE_DEVICE void bar_sync(uint32_t id, uint32_t threads) {
  SLUICE_PTX("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// Arrives without waiting. Whole warps. PTX: bar.arrive
SLUICE_DEVICE void bar_arrive(uint32_t id, uint32_t threads) {
  SLUICE_PTX("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// bar_sync for lanes that may come apart. PTX: barrier.sync
SLUICE_DEVICE void barrier_sync(uint32_t id, uint32_t threads) {
  SLUICE_PTX("barrier.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// bar_arrive for lanes that may come apart. PTX: barrier.arrive
SLUICE_DEVICE void barrier_arrive(uint32_t id, uint32_t threads) {
  SLUICE_PTX("barrier.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

}  // namespace sluice::ptx
