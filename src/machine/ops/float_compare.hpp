// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Comparison and selection: setp, set, selp, slct, testp.
#pragma once

#include <span>

#include "machine/bind.hpp"

namespace sluice::machine {

std::span<const BindRow> compare_rows();

}  // namespace sluice::machine
