// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Which bytes of memory hold payload that was not computed, in a run without data: a bit per byte, by host
// address (global memory lies at its own; shared and local memory where their owners keep them).
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

namespace sluice::machine {

class PayloadMarks {
 public:
  void mark(const void* first, uint64_t bytes);
  void clear(const void* first, uint64_t bytes);
  bool any(const void* first, uint64_t bytes) const;
  /// Memory was copied: the marks go with it. The ranges may overlap.
  void move(const void* to, const void* from, uint64_t bytes);

 private:
  static constexpr uint64_t kPage = 4096;
  using Page = std::array<uint64_t, kPage / 64>;

  std::unordered_map<uint64_t, Page> pages_;  ///< by address / kPage
};

}  // namespace sluice::machine
