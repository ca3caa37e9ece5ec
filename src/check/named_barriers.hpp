// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Named barriers of a CTA: whether all who come to one generation agree on its size, and whether they come to
// the generation that they mean. Whoever comes to generation n without being ordered after all arrivals of
// generation n - 1 may as well be counted in that one: more threads come than were counted.
#pragma once

#include <array>
#include <unordered_map>
#include <vector>

#include "check/findings.hpp"
#include "check/order.hpp"
#include "check/shadow.hpp"
#include "event/event.hpp"

namespace sluice::check {

struct NamedGeneration {
  uint32_t threads = 0;  ///< announced by the first that came; 0 = all
  uint32_t arrived = 0;
  std::vector<uint32_t> origins;
  std::vector<Stamp> arrivals;
};

class NamedBarriers {
 public:
  NamedBarriers(Order& order, Findings& findings) : order_(order), findings_(findings) {}
  void begin_launch() { ctas_.clear(); }
  /// Hears of an event before Order does.
  void apply(const event::Event& e);
  /// The open generation of a barrier, for the analysis of deadlocks.
  const NamedGeneration& open(uint32_t cta, uint64_t id) { return ctas_[cta][id % kBarriers].now; }

 private:
  static constexpr size_t kBarriers = 16;
  struct Barrier {
    NamedGeneration now, last;
  };
  void check_count(const event::Event& e, const NamedGeneration& g);
  void check_order(const event::Event& e, const NamedGeneration& last, WarpOrder& w, Strand& strand,
                   uint32_t lanes);

  Order& order_;
  Findings& findings_;
  std::unordered_map<uint32_t, std::array<Barrier, kBarriers>> ctas_;
};

}  // namespace sluice::check
