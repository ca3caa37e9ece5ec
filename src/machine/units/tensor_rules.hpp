// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Where a tensor copy may start. An H200 answers a start that breaks a rule with an illegal instruction. Pure
// functions.
#pragma once

#include <string>

#include "machine/units/tensor_walk.hpp"

namespace sluice::machine {

/// A sentence on the rule that the start of the box breaks; empty when it breaks none.
std::string broken_start_rule(const TensorBox& box, bool store);

}  // namespace sluice::machine
