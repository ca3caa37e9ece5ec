// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Words for what the machine finds itself and what ends a launch: an address or an operand that a GPU faults
// on.
#pragma once

#include <string_view>

namespace sluice::check {

struct FaultWords {
  std::string_view name;  ///< of the finding
  const char* why = "";
  const char* help = "";
};

/// Empty words for a name without an entry.
FaultWords fault_words(std::string_view name);

}  // namespace sluice::check
