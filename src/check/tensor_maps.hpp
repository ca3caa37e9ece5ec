// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensor maps that device code changes. The copy engine reads maps through a proxy of its own: after a change
// (ordinary stores, tensormap.replace, tensormap.cp_fenceproxy) a thread of the issuer's CTA must execute
// fence.proxy.tensormap with acquire, behind whatever orders it after the change, and the copy must be
// ordered behind that fence. Changes of the same launch are followed.
//
// What it can miss: the address of a fence is not looked at. Of a warp the last kFences fences are
// remembered.
#pragma once

#include <deque>
#include <unordered_map>

#include "check/findings.hpp"
#include "check/order.hpp"
#include "check/races.hpp"
#include "event/event.hpp"

namespace sluice::check {

class TensorMaps {
 public:
  TensorMaps(Order& order, Races& races, Findings& findings)
      : order_(order), races_(races), findings_(findings) {}
  void begin_launch() { fences_.clear(); }
  /// Hears of proxy fences, before Order does, and of uses of maps.
  void apply(const event::Event& e);

 private:
  static constexpr size_t kFences = 16;

  void use(const event::Event& e);

  Order& order_;
  Races& races_;
  Findings& findings_;
  std::unordered_map<uint32_t, std::unordered_map<AgentId, std::deque<Start>>> fences_;  ///< by CTA and warp
};

}  // namespace sluice::check
