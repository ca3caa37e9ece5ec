// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Element-wise reductions of the asynchronous copies and of red.async.
#pragma once

#include <cstdint>

#include "machine/numeric/atomic_float.hpp"
#include "ptx/ast.hpp"

namespace sluice::machine {

enum class Reduction : uint8_t { None, Add, Min, Max, Inc, Dec, And, Or, Xor };

/// The operation that the modifiers name, None where they name none.
Reduction reduction_of(const ptx::Mods& mods);

/// memory[i] = memory[i] op source[i] for `bytes` of elements of `type`, added as atomics of `unit` do.
/// Neither needs an alignment.
void reduce_bytes(uint8_t* memory, const uint8_t* source, uint32_t bytes, Reduction operation,
                  ptx::ScalarType type, AtomicUnit unit = AtomicUnit::Global);

}  // namespace sluice::machine
