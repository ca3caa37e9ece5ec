// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// An observer inside the machine of the memory that threads access: loads, stores, atomics, matrix loads and
// stores. Unlike an event::Sink it sees host addresses, before the access is made, and may end the launch.
#pragma once

#include <cstdint>

#include "machine/space.hpp"

namespace sluice::machine {

struct Warp;

class AccessWatch {
 public:
  virtual ~AccessWatch() = default;
  /// The running instruction of `warp` is about to access `bytes` at `pointers[lane]` for each of `lanes`.
  /// False after it has raised a fault.
  virtual bool access(Warp& warp, uint32_t lanes, uint8_t* const (&pointers)[kLanes], uint32_t bytes) = 0;
  /// A call has passed `bytes` of arguments or results.
  virtual void moved(const void* to, const void* from, uint64_t bytes) { (void)to, (void)from, (void)bytes; }
};

}  // namespace sluice::machine
