// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Tells a wait for the host from a deadlock. A launch runs to its end inside the call that submits it, so the
// host cannot write meanwhile; whether a kernel that looks at memory of the host would go on is not decided.
#pragma once

#include "machine/access_watch.hpp"
#include "machine/device_memory.hpp"
#include "machine/fault.hpp"

namespace sluice::machine {

/// Keeps the first access to memory that the host can write at any time: mapped or managed memory.
class HostWait : public AccessWatch {
 public:
  explicit HostWait(const DeviceMemory& memory) : memory_(memory) {}

  bool access(Warp& warp, uint32_t lanes, uint8_t* const (&pointers)[kLanes], uint32_t bytes) override;

  bool found() const { return fault_.kind != FaultKind::None; }
  /// Kind Undecided, placed at the access. Precondition: `found()`.
  const Fault& fault() const { return fault_; }

 private:
  const DeviceMemory& memory_;
  Fault fault_;
};

}  // namespace sluice::machine
