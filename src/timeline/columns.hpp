// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Text in columns, and lists of warps in words.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sluice::timeline {

/// Rows of cells below a heading, each column as wide as its widest cell. A cell that is a number stands
/// right.
class Columns {
 public:
  explicit Columns(std::vector<std::string> heading) { row(std::move(heading)); }
  void row(std::vector<std::string> cells);
  /// A line between rows that keeps to no column.
  void line(std::string text) { row({std::move(text)}); }
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// "warp 0", "warps 1-3, 5".
std::string warp_list(const std::vector<uint32_t>& warps);

}  // namespace sluice::timeline
