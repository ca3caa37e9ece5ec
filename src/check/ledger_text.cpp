// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Names and states of barriers, in words. A barrier is called by its symbol; one in memory without a symbol
// by the role seen at run time: one that receives bytes of copies is a `full`, one that a thread which issues
// copies waits for is an `empty`, numbered by position among those initialised at the same place.
#include <fmt/format.h>

#include <algorithm>

#include "check/ledger.hpp"

namespace sluice::check {

std::vector<const Barrier*> Ledger::siblings(const Barrier& b) const {
  std::vector<const Barrier*> all;
  for (auto at = barriers_.lower_bound(key(b.cta, 0)); at != barriers_.end() && at->second.cta == b.cta;
       ++at) {
    if (at->second.receives_bytes == b.receives_bytes) all.push_back(&at->second);
  }
  return all;
}

std::string Ledger::name_of(const Barrier& b) const {
  // A symbol that is the barrier's own, or an array of barriers, is the best name; one of a larger struct
  // only says where in it the barrier lies.
  const std::string place = findings_.barrier_name(b.offset);
  const bool has_symbol = !findings_.symbol_name(b.offset).empty();
  if (has_symbol && place.find("+0x") == std::string::npos) return place;
  const bool empty = std::any_of(b.waiters.begin(), b.waiters.end(), [&](const Contribution& c) {
    return std::find(copiers_.begin(), copiers_.end(), c.agent) != copiers_.end();
  });
  if (!b.receives_bytes && !empty) return place;
  const auto all = siblings(b);
  const auto position = std::find(all.begin(), all.end(), &b) - all.begin();
  const std::string role = fmt::format("{}[{}]", b.receives_bytes ? "full" : "empty", position);
  return has_symbol ? fmt::format("{} ({})", role, place) : role;
}

std::string Ledger::state_of(const Barrier& b) const {
  std::string text = fmt::format("{} (cta {}), phase {}: {} of {} arrivals pending", name_of(b), b.cta,
                                 b.phase, b.pending, b.count);
  if (b.receives_bytes || b.now.expected_bytes != 0) {
    text += fmt::format(", {} bytes expected, {} brought, {} due", b.now.expected_bytes, b.now.brought_bytes,
                        b.tx);
  }
  return text;
}

}  // namespace sluice::check
