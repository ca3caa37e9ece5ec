// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The files of page/ as text; page.cpp is generated from them.
#pragma once

#include <string_view>

namespace sluice::timeline {

extern const std::string_view kPageFrame;  ///< page.html, with @css@, @js@ and @model@ to be filled in
extern const std::string_view kPageStyle;
extern const std::string_view kPageScript;  ///< the .js files, in the order in which they need each other

}  // namespace sluice::timeline
