// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Tells a crash of the engine from one of the program, whose process it shares.
#pragma once

#include <signal.h>

#include <array>
#include <atomic>
#include <cstdint>

namespace sluice::cuda {

/// While it lives, a fatal signal that meets a thread which executes a kernel is noted in `mark` before it
/// goes the way it would have gone. One at a time.
class CrashGuard {
 public:
  explicit CrashGuard(std::atomic<uint32_t>& mark);
  ~CrashGuard();
  CrashGuard(const CrashGuard&) = delete;
  CrashGuard& operator=(const CrashGuard&) = delete;

  static constexpr std::array<int, 5> kSignals = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
};

}  // namespace sluice::cuda
