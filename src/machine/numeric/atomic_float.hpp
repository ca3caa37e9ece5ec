// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Floating-point atomics: add, min, max on one element (or a packed pair), bits in and bits out.
#pragma once

#include <cstdint>

#include "ptx/types.hpp"

namespace sluice::machine {

enum class FloatAtomic : uint8_t { Add, Min, Max };

/// Who does the work: the unit in front of global memory, or a loop of loads and compare-and-swap on shared
/// memory.
enum class AtomicUnit : uint8_t { Global, Shared };

/// `type` is f32, f64, f16, bf16, f16x2 or bf16x2. Adds round to nearest even. In global memory sums of f32
/// flush subnormals and sums of f64 hand a NaN on as it is; in shared memory they are those of `add`.
uint64_t float_atomic(FloatAtomic operation, ptx::ScalarType type, AtomicUnit unit, uint64_t old,
                      uint64_t value);

}  // namespace sluice::machine
