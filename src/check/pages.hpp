// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// One page for each finding: what it means, the smallest program that has it, why it is wrong, how to mend
// it.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sluice::check {

struct Page {
  std::string_view name;
  std::string_view text;
};

/// All pages, by name.
std::span<const Page> pages();

/// What a finding means, on one line; empty if there is none of that name.
std::string meaning_of(std::string_view name);

}  // namespace sluice::check
