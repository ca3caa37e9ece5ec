// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The clock by which tool and engine measure and wait.
#pragma once

#include <time.h>

#include <cstdint>

namespace sluice {

/// Nanoseconds that never go back; the processes of one machine share them.
inline uint64_t host_clock_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace sluice
