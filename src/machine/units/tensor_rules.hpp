// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Where a tensor copy may start, and what it may reduce. An H200 answers a broken rule with an illegal
// instruction. Pure functions.
#pragma once

#include <string>

#include "machine/units/reduce.hpp"
#include "machine/units/tensor_walk.hpp"

namespace sluice::machine {

/// A sentence on the rule that the start of the box breaks; empty when it breaks none.
std::string broken_start_rule(const TensorBox& box, bool store);

/// A sentence when elements of the type cannot be reduced so; else empty.
std::string broken_reduction_rule(TensorType type, Reduction reduction);

}  // namespace sluice::machine
