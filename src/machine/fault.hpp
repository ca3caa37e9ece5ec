// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What ends a launch before its threads do: the error a GPU reports, with the place and the agent.
#pragma once

#include <cstdint>
#include <string>

namespace sluice::machine {

enum class FaultKind : uint8_t {
  None,
  IllegalAddress,       ///< access outside every allocation (CUDA error 700)
  MisalignedAddress,    ///< natural alignment broken (716)
  IllegalInstruction,   ///< an operand the instruction cannot take (715)
  InvalidAddressSpace,  ///< generic address in the wrong window (717)
  HardwareStack,        ///< call stack exhausted (714)
  Assert,               ///< a device-side assert failed (710)
  Trap,                 ///< trap or brkpt
  LaunchFailure,        ///< everything else a GPU calls "unspecified launch failure" (719)
  Timeout,              ///< no thread can run again, or the time limit is over (702)
  Undecided,            ///< no thread goes on here, and on a GPU one might: `why` says how
  NeedsData,            ///< a run without data came to something that payload decides
  Unsupported,          ///< our limit: the engine cannot execute this exactly
};

/// The first fault of a launch.
struct Fault {
  FaultKind kind = FaultKind::None;
  std::string message;    ///< one sentence, lower case, without the place
  const char* name = "";  ///< of the finding, where it is finer than the kind
  std::string why{};      ///< of FaultKind::Undecided
  uint32_t origin = 0;    ///< index into the module's table of origins
  uint32_t function = 0;  ///< lowered function of the kernel
  uint32_t instruction = 0;
  uint32_t cta[3] = {};
  uint32_t warp = 0;
  uint32_t lane = 0;
  uint64_t address = 0;
};

}  // namespace sluice::machine
