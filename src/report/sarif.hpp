// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Findings as a SARIF 2.1.0 log, the form that code hosts and editors read.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "report/diagnostic.hpp"

namespace sluice::report {

/// One run with a result per diagnostic about the program. The first place is the location, the others are
/// related locations, the calls that a place was inlined through included. A run that a signal interrupted is
/// an invocation without success. `meaning_of(name)` describes a rule.
nlohmann::json to_sarif(const std::vector<Diagnostic>& diagnostics, int interrupted_by,
                        std::string_view tool_version,
                        const std::function<std::string(std::string_view)>& meaning_of);

}  // namespace sluice::report
