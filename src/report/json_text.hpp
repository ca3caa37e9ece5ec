// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// JSON as text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace sluice::report {

/// On one line, or with `indent` spaces a level. What is not UTF-8 is replaced: names and paths of programs
/// need not be.
template <class Json>
std::string json_text(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace sluice::report
