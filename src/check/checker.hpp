// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// `sluice check`: receives the events of launches, keeps order, ledger and shadow memory, and tells what it
// found when a launch has ended.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "check/deadlock.hpp"
#include "check/dependent_launch.hpp"
#include "check/findings.hpp"
#include "check/ledger.hpp"
#include "check/named_barriers.hpp"
#include "check/order.hpp"
#include "check/races.hpp"
#include "check/swizzled_tiles.hpp"
#include "check/tensor_maps.hpp"
#include "check/wgmma_registers.hpp"
#include "event/event.hpp"
#include "report/diagnostic.hpp"

namespace sluice::check {

class Checker : public event::Sink {
 public:
  event::KindMask wants() const override { return event::kAllKinds; }
  void receive(const event::Event& e) override;

  /// `f` is called with each finding of a launch that will be told on its own, while the event that shows it
  /// is received.
  void on_finding(std::function<void(const Finding&)> f) { findings_.on_finding(std::move(f)); }
  /// Whether the launch has shown an error.
  bool has_error() const { return findings_.has_error(); }
  /// Adds what ended the launch before its threads did: the machine found it, at the place `origin`.
  void add_fault(const char* name, std::string message, uint32_t origin, std::string agent);
  /// The findings of the launch that has ended; forgets them.
  std::vector<report::Diagnostic> take();

 private:
  void add_broken_rule(const event::Event& e);

  Findings findings_;
  Order order_;
  Ledger ledger_{order_, findings_};
  Races races_{order_, ledger_, findings_};
  NamedBarriers named_{order_, findings_};
  WgmmaRegisters registers_{findings_};
  DependentLaunch dependent_{order_, findings_};
  TensorMaps maps_{order_, races_, findings_};
  SwizzledTiles tiles_{order_, findings_};
  Deadlock deadlock_{order_, ledger_, named_, findings_};
};

}  // namespace sluice::check
