// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The test of each address.
#include "machine/host_wait.hpp"

#include <fmt/format.h>

#include "machine/state.hpp"

namespace sluice::machine {

bool HostWait::access(Warp& warp, uint32_t lanes, uint8_t* const (&pointers)[kLanes], uint32_t bytes) {
  for (uint32_t m = lanes; m != 0 && !found(); m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    const auto address = reinterpret_cast<uint64_t>(pointers[lane]);
    const Allocation* const allocation = memory_.find(address);
    if (allocation == nullptr) continue;
    const bool managed = allocation->kind == AllocationKind::Managed;
    if (!managed && allocation->kind != AllocationKind::HostVisible) continue;
    fault_ = warp.fault_here(FaultKind::Undecided,
                             fmt::format("the kernel waits for a write to {} memory ({} bytes at 0x{:x})",
                                         managed ? "managed" : "mapped host", bytes, address),
                             lane, address);
    fault_.why =
        "a launch runs to its end inside the call that submits it, so the host cannot write meanwhile; on a "
        "GPU "
        "the kernel may go on";
  }
  return true;
}

}  // namespace sluice::machine
