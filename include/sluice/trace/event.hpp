// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What a kernel has recorded, as the host sees it: launches, rings, and events with times in nanoseconds.
// Host only, the standard library alone.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sluice::trace {

/// What a launch looked like. CTAs are counted with x fastest.
struct Launched {
  std::string kernel;
  std::array<uint32_t, 3> grid{1, 1, 1};
  std::array<uint32_t, 3> cta{1, 1, 1};      ///< threads
  std::array<uint32_t, 3> cluster{1, 1, 1};  ///< CTAs
  bool failed = false;

  uint32_t ctas() const { return grid[0] * grid[1] * grid[2]; }

  /// The linear CTA of rank `rank` in the cluster of CTA `cta`.
  uint32_t peer(uint32_t cta, uint32_t rank) const {
    const uint32_t x = cta % grid[0] / cluster[0] * cluster[0] + rank % cluster[0];
    const uint32_t y = cta / grid[0] % grid[1] / cluster[1] * cluster[1] + rank / cluster[0] % cluster[1];
    const uint32_t z = cta / grid[0] / grid[1] / cluster[2] * cluster[2] + rank / cluster[0] / cluster[1];
    return x + grid[0] * (y + grid[1] * z);
  }
};

/// A ring of the kernel: addresses in units of 8 bytes.
struct RingPlace {
  uint32_t full = 0, empty = 0, stages = 0;
  bool operator==(const RingPlace& other) const {
    return full == other.full && empty == other.empty && stages == other.stages;
  }
};

enum class EventKind { Role, Wait, Arrive, Copy, StoreWait, Mark };

/// One line of a trace.
struct Event {
  EventKind kind{};
  uint64_t t = 0;
  uint64_t end = 0;
  bool has_end = false;
  bool waited = false;
  uint32_t cta = 0, warp = 0;
  uint32_t barrier = 0;  ///< address in bytes; 0 where there is none
  uint32_t of = 0;
  int32_t phase = 0;
  uint32_t parity = 0;
  uint32_t count = 0;
  uint64_t bytes = 0;
  int ring = -1;  ///< into Decoded::rings
  uint32_t stage = 0;
  bool is_empty = false;  ///< the barrier is the stage's empty one
  std::string name;
};

struct Decoded {
  Launched launched;
  uint32_t first_cta = 0, recorded_ctas = 0;
  std::vector<RingPlace> rings;
  std::vector<std::pair<uint32_t, std::string>> names;  ///< of barriers, by address
  std::vector<Event> events;                            ///< by t
  uint64_t end = 0;
  uint64_t left_out = 0;  ///< records that had no room
  bool is_clock_measured = false;
  std::string error;  ///< why there are no events
};

}  // namespace sluice::trace
