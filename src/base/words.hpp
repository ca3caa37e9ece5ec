// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Small pieces of sentences.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace sluice {

/// "1 tile", "8 tiles"; `many` where that is not `one` with an s.
std::string counted(uint64_t number, std::string_view one, std::string_view many = {});

/// "0-3, 7".
std::string ranges_text(const std::set<uint32_t>& numbers);

}  // namespace sluice
