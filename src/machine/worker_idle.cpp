// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The scheduler where no warp does anything: copies land, virtual time moves, sleepers wake, and when that
// cannot help, it is told who waits for what.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "machine/device.hpp"
#include "machine/host_wait.hpp"
#include "machine/ops/barrier.hpp"
#include "machine/state.hpp"
#include "machine/stuck_report.hpp"
#include "machine/units/emit.hpp"

namespace sluice::machine {
namespace {

constexpr uint64_t kFirstIdleJump = 1'000;          ///< ns of virtual time
constexpr uint64_t kIdleLimit = uint64_t{1} << 60;  ///< ns without progress, 36 years: time will not help

/// Calls visit(warp, split) for all that the clusters have.
template <class Clusters, class Visit>
void for_each_split(const Clusters& clusters, Visit visit) {
  for (const auto& cluster : clusters) {
    for (const auto& cta : cluster->ctas) {
      for (const auto& warp : cta->warps) {
        for (Split& split : warp->splits) visit(*warp, split);
      }
    }
  }
}

}  // namespace

void Worker::wake_sleepers() {
  std::vector<std::pair<Warp*, Split*>> due;
  next_sleeper_ = UINT64_MAX;
  for_each_split(resident_, [&](Warp& warp, Split& split) {
    if (split.wait != Wait::Sleep) return;
    if (split.deadline <= clock_ns_)
      due.emplace_back(&warp, &split);
    else
      next_sleeper_ = std::min(next_sleeper_, split.deadline);
  });
  // In front of the queue, the earliest first: their time has come, whoever else is waiting for a turn.
  std::ranges::stable_sort(due, std::greater{}, [](const auto& sleeper) { return sleeper.second->deadline; });
  for (const auto& [warp, split] : due) unpark(*warp, *split, true);
}

bool Worker::quiesce() {
  // Copies in flight land first, oldest first, until someone can go on.
  if (!async_.empty()) {
    do {
      land_one(0);
    } while (ready_.empty() && !async_.empty() && !failed());
    return true;
  }
  // Then time moves: to the next deadline, and in growing jumps while nothing comes of it.
  uint64_t earliest = UINT64_MAX;
  for_each_split(resident_, [&](Warp&, Split& split) {
    if (split.wait != Wait::None && split.timed) earliest = std::min(earliest, split.deadline);
  });
  if (earliest == UINT64_MAX && !(clock_was_read_ && !ready_.empty())) return false;
  if (idle_time_ > kIdleLimit) return false;
  // Less than doubling: who does one thing after a limit and another after twice the limit comes by both. No
  // power of two: the low halves of the clocks come to different values.
  const uint64_t jump = std::max(kFirstIdleJump, idle_time_ / 2 + idle_time_ / 5);
  const uint64_t target = earliest == UINT64_MAX
                              ? clock_ns_ + jump
                              : std::max(earliest, clock_ns_ + (idle_time_ == 0 ? 0 : jump));
  const uint64_t moved = target > clock_ns_ ? target - clock_ns_ : 0;
  idle_time_ += std::max(moved, kFirstIdleJump);
  clock_ns_ += moved;
  for_each_split(resident_, [&](Warp& warp, Split& split) {
    if (split.wait == Wait::None || !split.timed) return;
    // nanosleep is approximate (up to twice its time): those that would wake soon after wake together.
    const uint64_t slack = split.wait == Wait::Sleep ? moved / 2 : 0;
    if (split.deadline <= clock_ns_ + slack) unpark(warp, split);
  });
  return true;
}

/// Every thread that spins or sleeps runs one more round. True if something came of it.
bool Worker::look_once_more() {
  acted_ = false;
  for (const auto& cluster : resident_) {
    for (const auto& cta : cluster->ctas) wake_all(*cta, Wait::Sleep);
  }
  for (size_t turns = ready_.size(); turns > 0 && !failed(); --turns) {
    Warp& warp = *ready_.front();
    ready_.pop_front();
    warp.queued = false;
    run_warp(warp);
  }
  return acted_;
}

/// Where nobody can go on, lanes that wait at an aligned barrier for others of their warp pass it as the
/// whole warp, as on an H200; of each warp one group of lanes. A checker hears of the deadlock instead.
bool Worker::pass_divergent_barriers() {
  if (listener() != nullptr) return false;
  const Warp* last = nullptr;
  for_each_split(resident_, [&](Warp& warp, Split& split) {
    if (&warp == last || !waits_for_own_warp(*this, warp, split)) return;
    last = &warp;
    split.goes_alone = true;
    unpark(warp, split);
  });
  return last != nullptr;
}

/// Places `fault` at a thread that goes round a loop which reads a clock. False if there is none. A loop that
/// looks at an mbarrier is a wait for it: the clock says how long to sleep between two looks (libcu++).
bool Worker::find_clock_loop(Fault& fault) const {
  bool found = false;
  for_each_split(resident_, [&](const Warp& warp, const Split& split) {
    const bool goes_round = split.pc >= split.idle_first && split.pc <= split.idle_last;
    if (found || !goes_round || !split.reads_time || split.looked != kNoLook) return;
    place_fault(fault, warp, split);
    found = true;
  });
  return found;
}

void Worker::report_deadlock() {
  HostWait host(launch_.device->memory());
  watch_ = &host;
  const bool goes_on = look_once_more();
  watch_ = own_watch();
  if (goes_on) return;

  std::vector<const Cluster*> clusters;
  for (const auto& cluster : resident_) clusters.push_back(cluster.get());
  StuckReport report = describe_stuck(launch_, clusters);
  if (host.found()) {
    report.fault = host.fault();
  } else if (find_clock_loop(report.fault)) {
    report.fault.kind = FaultKind::Undecided;
    report.fault.message = "a loop that reads a clock does not end in 36 years of the kernel's time";
    report.fault.why = "its condition may depend on the clock in a way that jumps of time miss";
  } else if (counted_rounds_ >= kCountedRounds) {
    report.fault.kind = FaultKind::Undecided;
    report.fault.message = fmt::format("a loop has looked {} times at what nobody changes", kCountedRounds);
    report.fault.why = "a counter moves in it, by which it may end; nothing else in the kernel goes on";
  }
  if (listener() != nullptr && report.fault.kind == FaultKind::Timeout) {
    for (const auto& cluster : resident_) emit_stuck(*this, *cluster);
  }
  {
    std::lock_guard lock(launch_.mutex);
    if (launch_.fault.kind == FaultKind::None) launch_.detail = launch_.remark + report.text;
  }
  fail(std::move(report.fault));
}

}  // namespace sluice::machine
