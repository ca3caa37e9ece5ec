// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Findings that are known and not to be told: by a file of names and places, by a comment in the source, or
// by the report of an earlier run (a baseline).
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "report/diagnostic.hpp"

namespace sluice::report {

class Suppressions {
 public:
  /// Reads a file with one suppression a line: `NAME`, `NAME FILE` or `NAME FILE:LINE`. FILE is the end of a
  /// path; a `#` begins a comment. NAME is one for which `is_name` holds.
  Result<void> add_file(const std::string& path, const std::function<bool(const std::string&)>& is_name);
  /// Adds all findings of a report that `--json` has written.
  Result<void> add_baseline(const std::string& path);

  /// Whether the finding is suppressed: by an entry for one of its places, by the baseline, or by a comment
  /// `sluice: allow NAME` in the line of one of its places.
  bool covers(const Diagnostic& diagnostic) const;

 private:
  struct Entry {
    std::string name, file;
    uint32_t line = 0;
  };
  std::vector<Entry> entries_;
  std::set<std::string> known_;
};

}  // namespace sluice::report
