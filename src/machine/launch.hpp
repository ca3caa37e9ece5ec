// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A launch: what is asked for (LaunchRequest), what all workers share while it runs (LaunchContext), what
// came of it (LaunchResult).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "event/event.hpp"
#include "machine/fault.hpp"
#include "machine/space.hpp"

namespace sluice::machine {

struct Kernel;
class Device;
class PayloadMarks;

/// When asynchronous copies land. Every one of these is a schedule a GPU may show.
enum class CopyTiming : uint8_t {
  Early,     ///< at once, when they are issued
  Late,      ///< only when no thread can go on without them, oldest first
  Shuffled,  ///< at random moments and in random order (seeded)
};

/// How a launch is executed.
struct LaunchOptions {
  CopyTiming timing = CopyTiming::Early;
  uint64_t seed = 0;
  /// An unfair schedule, chosen by the seed: warps run in random order and for random spans, one in five
  /// hardly ever; lanes that have come apart go on in any order; a try_wait may answer false to some of its
  /// lanes.
  bool perturb = false;
  /// A try_wait need not wait: the first one at each place of the code that would have to answers false at
  /// once, under `perturb` others too. A GPU may do so at any time (PTX ISA, mbarrier.try_wait).
  bool hasty_waits = false;
  /// Clusters that a worker runs side by side; otherwise the next one starts when those before cannot go on.
  uint32_t side_by_side = 1;
  /// The protocol alone: payload of copies and matrix operations is not computed. The kernel must have been
  /// made with KernelOptions::without_data.
  bool no_data = false;
  /// Follow which bytes are undefined, and tell the listener (there must be one) where it matters. The
  /// device's memory must have been told before (DeviceMemory::follow_definedness).
  bool follow_definedness = false;
  bool undefined_is_error = false;  ///< what is told then is an error, not a warning
  bool record_phases = false;       ///< keep how often each mbarrier completed: LaunchResult::phases
  bool parallel = true;             ///< use several host threads where the kernel allows it
  uint32_t workers = 0;             ///< host threads, 0 = as many as the host has
  uint64_t heap_bytes = 8 << 20;    ///< what malloc of device code may give, all launches together
  double timeout_seconds = 0;       ///< wall-clock limit, 0 = none
  std::vector<std::pair<uint64_t, uint64_t>>
      ctas;  ///< run only the clusters of these ranges [first, last] of linear CTAs; empty = all
};

struct LaunchRequest {
  const Kernel* kernel = nullptr;
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};
  uint32_t cluster[3] = {1, 1, 1};
  uint32_t dynamic_shared = 0;
  std::vector<uint8_t> parameters;  ///< laid out as Kernel::parameters says
  bool explicit_cluster = false;    ///< a cluster shape was asked for, be it 1x1x1
  bool cooperative = false;         ///< all CTAs must be resident together
  bool overlaps_previous =
      false;  ///< for the listener: a GPU may begin it before the launch before has ended
  LaunchOptions options;
  std::function<void(std::string_view)> print;  ///< receives device printf output; may be called from workers
  event::Sink* listener = nullptr;
};

struct LaunchStatistics {
  uint64_t warp_instructions = 0;
  uint64_t thread_instructions = 0;
  uint64_t copies = 0;
  uint64_t mbarrier_phases = 0;  ///< phases completed, all barriers together
  uint64_t ctas_run = 0;
  uint64_t ctas_skipped = 0;
  uint64_t ctas_added = 0;  ///< of those that ran: not named, but in a cluster of one that is
};

/// Phases that an mbarrier completed from its init to its end: inval, another init, or the end of the launch.
struct MbarrierRecord {
  uint64_t cta = 0;     ///< linear index in the grid
  uint32_t offset = 0;  ///< in the CTA's shared memory
  uint64_t phases = 0;
};

struct LaunchResult {
  Fault fault;         ///< kind None when all threads ended
  std::string detail;  ///< several lines for a person: who waits for what, where
  LaunchStatistics statistics;
  std::vector<MbarrierRecord> phases;  ///< with LaunchOptions::record_phases, by CTA and offset
};

/// Shared by the workers of one launch.
struct LaunchContext {
  Device* device = nullptr;
  const Kernel* kernel = nullptr;
  const LaunchRequest* request = nullptr;
  event::Sink* listener = nullptr;
  uint64_t parameters = 0;      ///< device address of the parameter buffer
  uint64_t grid_workspace = 0;  ///< device address of what grid barriers count in; 0 unless cooperative
  uint32_t ordinal = 0;         ///< of the launch in the process
  uint32_t shared_bytes = 0;    ///< of a CTA, reserved part included
  uint32_t dynamic_shared_offset = 0;
  uint32_t threads = 0;              ///< of a CTA
  uint32_t clusters[3] = {1, 1, 1};  ///< grid in clusters
  uint32_t cluster_ctas = 1;
  bool explicit_cluster = false;
  uint64_t cluster_count = 0;
  uint64_t resident_limit = 0;  ///< clusters that fit on the device together
  std::atomic<uint64_t> next_cluster{0};
  std::atomic<uint64_t> running_clusters{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  Fault fault;         ///< guarded by `mutex`
  std::string remark;  ///< guarded by `mutex`: a line for the report of a launch that gets stuck
  std::string detail;
  LaunchStatistics statistics;          ///< guarded by `mutex`
  std::vector<MbarrierRecord> phases;   ///< guarded by `mutex`; unsorted
  std::function<void()> call_for_help;  ///< the first worker's: starts the others
  PayloadMarks* payload = nullptr;      ///< null unless LaunchOptions::no_data
  uint64_t deadline_ns = 0;             ///< host clock, 0 = none

  bool failed() const { return stop.load(std::memory_order_relaxed); }
};

}  // namespace sluice::machine
