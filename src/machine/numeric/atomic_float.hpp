// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Floating-point atomics: add, min, max on one element (or a packed pair), bits in and bits out.
#pragma once

#include <cstdint>

#include "ptx/types.hpp"

namespace sluice::machine {

enum class FloatAtomic : uint8_t { Add, Min, Max };

/// `type` is f32, f64, f16, bf16, f16x2 or bf16x2. Adds round to nearest even. Subnormals are kept.
uint64_t float_atomic(FloatAtomic operation, ptx::ScalarType type, uint64_t old, uint64_t value);

}  // namespace sluice::machine
