// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Layout of columns.
#include "timeline/columns.hpp"
#include "base/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace sluice::timeline {
namespace {

bool is_number(const std::string& cell) {
  return !cell.empty() && std::all_of(cell.begin(), cell.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

void Columns::row(std::vector<std::string> cells) {
  rows_.push_back(std::move(cells));
}

std::string Columns::text() const {
  std::vector<size_t> widths(rows_.front().size());
  std::vector<bool> is_right(widths.size());
  for (const auto& row : rows_) {
    if (row.size() != widths.size()) continue;
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
      if (is_number(row[i])) is_right[i] = true;
    }
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    if (row.size() != widths.size()) {
      line = row.front();
    } else {
      for (size_t i = 0; i < row.size(); ++i)
        line += is_right[i] ? fmt::format("{:>{}}  ", row[i], widths[i])
                            : fmt::format("{:<{}}  ", row[i], widths[i]);
    }
    text += line.erase(line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string warp_list(const std::vector<uint32_t>& warps) {
  if (warps.empty()) return "none of this CTA";
  const std::set<uint32_t> distinct(warps.begin(), warps.end());
  return fmt::format("{} {}", distinct.size() == 1 ? "warp" : "warps", ranges_text(distinct));
}

}  // namespace sluice::timeline
