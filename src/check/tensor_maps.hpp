// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensor maps that device code changes. The copy engine reads maps through a proxy of its own: after a change
// (ordinary stores, tensormap.replace, tensormap.cp_fenceproxy) the issuer of a copy needs
// fence.proxy.tensormap with acquire, behind whatever orders it after the change. Changes of the same launch
// are followed.
#pragma once

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
  void use(const event::Event& e);

  Order& order_;
  Races& races_;
  Findings& findings_;
  std::unordered_map<AgentId, Start> fences_;  ///< by warp: what its last fence knew
};

}  // namespace sluice::check
