// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The version of the PTX ISA that the instruction table follows.
#pragma once

#include <cstdint>

namespace sluice::ptx {

/// The newest version that the table has rows of: 9.1.
inline constexpr uint16_t kNewestVersion = 91;

}  // namespace sluice::ptx
