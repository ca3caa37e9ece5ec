// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Launches that may begin before the launch before them in their stream has ended (programmatic dependent
// launch). What that kernel touched in global memory may be touched only after griddepcontrol.wait, in the
// thread itself or in one that it is ordered after. The engine runs the two one after the other, so what the
// first one touched is known when the second one runs.
#pragma once

#include <string>

#include "check/findings.hpp"
#include "check/order.hpp"
#include "check/shadow.hpp"
#include "event/event.hpp"

namespace sluice::check {

class DependentLaunch {
 public:
  DependentLaunch(Order& order, Findings& findings) : order_(order), findings_(findings) {}

  /// `global`: the accesses to global memory of the launch before.
  void begin_launch(const event::LaunchDetails& details, Shadow global);
  /// Hears of accesses, and of waits for the launch before.
  void apply(const event::Event& e);

 private:
  void wait(const event::Event& e);
  void thread_access(const event::Event& e);
  void operation_access(const event::Event& e);
  void compare(const event::Event& e, uint64_t address, uint64_t bytes, bool writes);

  Order& order_;
  Findings& findings_;
  AgentId before_ = 0;  ///< the launch before as one agent; 0 if this one begins after its end
  Shadow accesses_;     ///< of the launch before
  std::string kernel_, kernel_before_;
};

}  // namespace sluice::check
