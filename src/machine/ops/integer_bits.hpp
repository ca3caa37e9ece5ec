// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of the integer family that works on bits.
#pragma once

#include <span>

#include "machine/bind.hpp"

namespace sluice::machine {

std::span<const BindRow> integer_bit_rows();

}  // namespace sluice::machine
