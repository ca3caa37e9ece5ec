// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The scheduler and the step loop.
//
// Warps that can run stand in one queue and take turns of a bounded number of instructions. Within a warp,
// the split at the lowest place runs first and stops where another one waits, so that lanes meet again at the
// earliest point (code is laid out so that a join lies behind everything that leads to it); a split that
// spins without effect, or loops for long, steps back behind its siblings. Clusters are made resident one
// after the other and only when those already resident cannot go on without another, up to what fits on the
// device: every such order is one that a GPU may show, and kernels that wait for each other across CTAs still
// find them all resident.
//
// When nothing can run, the machine is quiescent (worker_idle.cpp): asynchronous operations in flight land,
// then virtual time moves to the next deadline, and when time alone cannot help, the launch is deadlocked.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "machine/cta_setup.hpp"
#include "machine/definedness_watch.hpp"
#include "machine/device.hpp"
#include "machine/executing.hpp"
#include "machine/ops/barrier.hpp"
#include "machine/payload_watch.hpp"
#include "machine/state.hpp"
#include "machine/units/emit.hpp"

namespace sluice::machine {
namespace {

constexpr uint32_t kTurnInstructions = 4096;
constexpr uint64_t kTimeAloneNs =
    200'000;  ///< of the host: a launch that takes longer gets the other workers
constexpr uint64_t kTurnsBetweenLooks = 16;
constexpr uint64_t kTurnsBetweenStarts = 16;
constexpr uint32_t kNoLimit = 0xffffffffu;

uint64_t host_now_ns() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

}  // namespace

Worker::Worker(LaunchContext& launch, uint32_t id) : launch_(launch), id_(id) {
  if (launch.payload != nullptr)
    payload_watch_ = std::make_unique<PayloadWatch>(*launch.kernel, *launch.payload);
  const LaunchOptions& options = launch.request->options;
  if (options.follow_definedness) {
    definedness_ =
        std::make_unique<DefinednessWatch>(*launch.device->memory().defined(), options.undefined_is_error);
  }
  watch_ = own_watch();
}

Worker::~Worker() = default;

AccessWatch* Worker::own_watch() const {
  return definedness_ != nullptr ? static_cast<AccessWatch*>(definedness_.get()) : payload_watch_.get();
}

// --- the outer loop
// ------------------------------------------------------------------------------------------------------

void Worker::run() {
  const Executing executing;
  const uint64_t started = host_now_ns();
  bool alone = id_ == 0;
  random_ = launch_.request->options.seed * 0x9e3779b97f4a7c15ull + 0x1234567;
  while (!failed()) {
    if (launch_.request->options.side_by_side > 1 && turns_ % kTurnsBetweenStarts == 0) fill_up();
    if (++turns_ % kTurnsBetweenLooks == 0 && alone && host_now_ns() - started > kTimeAloneNs) {
      alone = false;
      launch_.call_for_help();
    }
    if (launch_.deadline_ns != 0 && host_now_ns() > launch_.deadline_ns) {
      fail(Fault{.kind = FaultKind::Timeout, .message = "the time limit of the run is over"});
      break;
    }
    if (!ready_.empty() && idle_rounds_ <= 2 * ready_.size() + 1) {
      // A round in which nothing came of it is followed by fair ones, or a warp that can go on might be
      // missed.
      if (launch_.request->options.perturb && idle_rounds_ == 0) choose_warp();
      Warp& warp = *ready_.front();
      ready_.pop_front();
      warp.queued = false;
      const bool was_asleep = run_warp(warp);
      // Under an unfair schedule whoever is left behind stays behind while copies can still land.
      if (launch_.request->options.perturb && !progress_ && !async_.empty())
        land_one(random() % async_.size());
      idle_rounds_ = progress_ ? 0 : idle_rounds_ + 1;
      if (acted_) idle_time_ = counted_rounds_ = 0;
      progress_ = acted_ = false;
      // One turn each: sleepers that poll must not keep the others from what they poll for.
      if (clock_ns_ >= next_sleeper_ && (!was_asleep || ready_.empty())) wake_sleepers();
      if (launch_.request->options.timing == CopyTiming::Shuffled && !async_.empty()) {
        const uint64_t number = random();
        if (number >> 60 < 6) land_one((number >> 20) % async_.size());
      }
      continue;
    }
    retire_clusters();
    if (start_cluster() || quiesce()) {
      idle_rounds_ = 0;
      continue;
    }
    if (resident_.empty()) break;
    if (!pass_divergent_barriers()) report_deadlock();
  }
  // In-flight operations of ended CTAs still land: a kernel may end on a committed store.
  while (!failed() && !async_.empty()) land_one(0);
  for (const auto& cluster : resident_) {
    record_phases(*cluster);
    forget_payload(*cluster);
  }
}

uint64_t Worker::random() {
  random_ = random_ * 6364136223846793005ull + 1442695040888963407ull;
  return random_;
}

uint32_t Worker::attentive(Warp& warp, uint32_t lanes) {
  constexpr uint64_t kLongestDelay = 256;  // turns
  if (!launch_.request->options.perturb || random() >> 62 != 0) return lanes;
  // As often as not one lane alone goes on.
  uint32_t some = lanes & static_cast<uint32_t>(random() >> 32);
  if (random() >> 63 != 0) some = lanes & (0u - lanes);
  if (some == 0 || some == lanes) return lanes;
  warp.late_lanes = lanes & ~some;
  warp.late_until = turns_ + random() % kLongestDelay;
  return some;
}

bool Worker::answers_at_once(const Op& wait) {
  const LaunchOptions& options = launch_.request->options;
  if (!options.hasty_waits) return false;
  return hurried_.insert(&wait).second || (options.perturb && random() >> 61 == 0);
}

bool Worker::left_behind(const Warp& warp, const Split& split) const {
  // A round in which nothing came of it is followed by fair ones.
  return turns_ < warp.late_until && idle_rounds_ == 0 && (split.lanes & ~warp.late_lanes) == 0;
}

void Worker::choose_warp() {
  constexpr uint64_t kSlow = 5;
  const uint64_t seed = launch_.request->options.seed;
  size_t choice = (random() >> 32) % ready_.size();
  const Warp& warp = *ready_[choice];
  if ((warp.index + warp.cta->linear + seed) % kSlow == 0 && random() >> 60 != 0)
    choice = (random() >> 32) % ready_.size();
  Warp* const chosen = ready_[choice];
  ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(choice));
  ready_.push_front(chosen);
}

bool Worker::start_cluster() {
  if (launch_.running_clusters.fetch_add(1) >= launch_.resident_limit) {
    launch_.running_clusters.fetch_sub(1);
    return false;
  }
  const uint64_t index = launch_.next_cluster.fetch_add(1);
  if (index >= launch_.cluster_count) {
    launch_.running_clusters.fetch_sub(1);
    return false;
  }
  resident_.push_back(make_cluster(*this, launch_, index, std::move(spare_)));
  for (auto& cta : resident_.back()->ctas) {
    if (listener() != nullptr) emit_cta_begin(*this, *cta);
    for (auto& warp : cta->warps) ready(*warp);
  }
  if (resident_.back()->live_threads() == 0) retire_clusters();
  return true;
}

/// Starts what runs side by side with those that run.
void Worker::fill_up() {
  if (resident_.size() >= launch_.request->options.side_by_side) retire_clusters();
  while (resident_.size() < launch_.request->options.side_by_side && start_cluster()) {
  }
}

void Worker::retire_clusters() {
  uint64_t count = 0;
  std::erase_if(resident_, [&](std::unique_ptr<Cluster>& cluster) {
    // Shared memory must outlive the operations that name it.
    const bool stays = cluster->operations != 0 ||
                       std::ranges::any_of(cluster->ctas, [](const auto& cta) { return !cta->ended(); });
    if (stays) return false;
    record_phases(*cluster);
    forget_payload(*cluster);
    spare_ = std::move(cluster);
    ++count;
    return true;
  });
  if (count != 0) launch_.running_clusters.fetch_sub(count);
}

void Worker::record_phases(Cluster& cluster) {
  if (!launch_.request->options.record_phases) return;
  const std::lock_guard lock(launch_.mutex);
  for (const auto& cta : cluster.ctas) {
    launch_.phases.insert(launch_.phases.end(), cta->ended_mbarriers.begin(), cta->ended_mbarriers.end());
    for (const auto& [offset, phases] : cta->mbarrier_phases)
      launch_.phases.push_back({cta->linear, offset, phases});
  }
}

/// The host memory behind a cluster is about to serve others.
void Worker::forget_payload(Cluster& cluster) {
  if (launch_.payload == nullptr) return;
  for (const auto& cta : cluster.ctas) {
    launch_.payload->clear(cta->shared.data(), cta->shared.size());
    for (const auto& warp : cta->warps) launch_.payload->clear(warp->local.data(), warp->local.size());
  }
}

void Worker::fail(Fault fault) {
  std::lock_guard lock(launch_.mutex);
  if (launch_.fault.kind != FaultKind::None) return;
  launch_.fault = std::move(fault);
  launch_.stop.store(true);
}

// --- asynchronous operations
// --------------------------------------------------------------------------------------------

void Worker::submit(AsyncOp op) {
  op.id = next_operation();
  note_progress();
  if (listener() != nullptr) emit_issue(*this, op);
  if (launch_.request->options.timing == CopyTiming::Early) {
    while (!op.perform(*this, op)) {
    }
    return;
  }
  async_.push(op);
  ++op.cta->cluster->operations;
}

bool Worker::land_one(size_t which) {
  AsyncOp op = async_.at(which);
  const bool done = op.perform(*this, op);
  note_progress();
  if (done) {
    async_.remove(which);
    --op.cta->cluster->operations;
  } else {
    async_.update(which, op);
  }
  wake_group_waiters(op);
  return done;
}

void Worker::land_all(const Cluster& cluster) {
  for (size_t place = 0; !failed() && place < async_.size();) {
    if (async_.at(place).cta->cluster != &cluster)
      ++place;
    else
      land_one(place);
  }
}

/// Groups belong to the lane that filled them: nobody else waits for them.
void Worker::wake_group_waiters(const AsyncOp& op) {
  if (op.kind != AsyncKind::CpAsync && op.kind != AsyncKind::BulkToGlobal) return;
  const Wait wait = op.kind == AsyncKind::CpAsync ? Wait::CpAsyncGroup : Wait::BulkGroup;
  Warp& warp = *op.cta->warps[op.warp];
  for (Split& split : warp.splits) {
    if (split.wait == wait && (split.lanes >> op.lane & 1) != 0) unpark(warp, split);
  }
}

bool Worker::in_flight(const Warp& warp, uint32_t lane, AsyncKind kind, uint32_t before,
                       bool source_only) const {
  return async_.any_of_lane(warp.cta, warp.index, lane, [&](const AsyncOp& op) {
    return op.kind == kind && op.group < before && !(source_only && op.source_read);
  });
}

bool Worker::in_flight_before(const Warp& warp, uint32_t lane, AsyncKind kind, uint64_t id) const {
  return async_.any_of_lane(warp.cta, warp.index, lane,
                            [&](const AsyncOp& op) { return op.kind == kind && op.id < id; });
}

// --- waking
// ----------------------------------------------------------------------------------------------------------------

void Worker::ready(Warp& warp, bool in_front) {
  if (warp.queued || warp.live == 0) return;
  warp.queued = true;
  if (in_front)
    ready_.push_front(&warp);
  else
    ready_.push_back(&warp);
}

void Worker::unpark(Warp& warp, Split& split, bool in_front) {
  if (split.wait == Wait::Mbarrier) --warp.cta->mbarrier_waiters;
  split.slept = split.wait == Wait::Sleep;
  split.wait = Wait::None;
  split.timed = false;
  if (split.advance) ++split.pc;
  split.advance = false;
  ready(warp, in_front);
}

void Worker::wake(Cta& cta, Wait wait, uint64_t key) {
  for (auto& warp : cta.warps) {
    for (Split& split : warp->splits) {
      if (split.wait == wait && split.key == key) unpark(*warp, split);
    }
  }
}

void Worker::wake_all(Cta& cta, Wait wait) {
  for (auto& warp : cta.warps) {
    for (Split& split : warp->splits) {
      if (split.wait == wait) unpark(*warp, split);
    }
  }
}

void Worker::wake_mbarrier(Cta& cta, uint32_t offset) {
  note_progress();
  if (cta.mbarrier_waiters == 0) return;
  // Whoever waits here waits for the phase that has just completed, and has seen it: a hardware wait that is
  // suspended does not sleep through the phases that follow, however late its warp runs again.
  for (auto& warp : cta.warps) {
    for (Split& split : warp->splits) {
      if (split.wait != Wait::Mbarrier || split.key != offset) continue;
      split.granted = split.lanes;
      unpark(*warp, split);
    }
  }
}

void Worker::wake_cluster(Cluster& cluster) {
  note_progress();
  for (auto& cta : cluster.ctas) wake_all(*cta, Wait::ClusterBarrier);
}

Step Warp::fault(FaultKind kind, std::string message, uint32_t lane, uint64_t address, const char* name) {
  Fault fault = fault_here(kind, std::move(message), lane, address);
  fault.name = name;
  worker().fail(std::move(fault));
  return Step::Fault;
}

Fault Warp::fault_here(FaultKind kind, std::string message, uint32_t lane, uint64_t address) const {
  Fault fault;
  fault.kind = kind;
  fault.message = std::move(message);
  fault.function = frames[frame_node].function;
  fault.instruction = pc;
  std::copy(cta->index, cta->index + 3, fault.cta);
  fault.warp = index;
  fault.lane = lane;
  fault.address = address;
  const program::Function& lowered = *worker().kernel().functions[fault.function]->lowered;
  if (pc < lowered.code.size()) fault.origin = worker().kernel().functions[fault.function]->first_origin + pc;
  return fault;
}

Step Warp::block(Wait wait, uint64_t key, uint64_t value) {
  Split& split = splits[current];
  split.wait = wait;
  split.key = key;
  split.value = value;
  split.advance = false;
  split.timed = false;
  if (wait == Wait::Mbarrier) ++cta->mbarrier_waiters;
  return Step::Blocked;
}

Step Warp::park(Wait wait, uint64_t key, uint64_t value) {
  block(wait, key, value);
  splits[current].advance = true;
  return Step::Parked;
}

Step Warp::block_until(Wait wait, uint64_t key, uint64_t value, uint64_t deadline) {
  worker().note_timed_wait(*this);
  block(wait, key, value);
  splits[current].timed = true;
  splits[current].deadline = deadline;
  if (wait == Wait::Sleep) worker().note_sleeper(deadline);
  return Step::Blocked;
}

// --- splits
// ------------------------------------------------------------------------------------------------------------------

bool Worker::enter_split(Warp& warp, uint32_t index) {
  Split& split = warp.splits[index];
  const FrameNode& node = warp.frames[split.frame];
  const BoundFunction& function = *launch_.kernel->functions[node.function];
  warp.current = index;
  warp.pc = split.pc;
  warp.active = split.lanes;
  warp.frame_node = split.frame;
  warp.bank[0] = warp.registers.data() + warp.register_shift + node.base;
  warp.bank[1] = function.constant_base();
  warp.code = definedness_ != nullptr                             ? function.tracked.data()
              : listener() == nullptr || function.watched.empty() ? function.code.data()
                                                                  : function.watched.data();
  return true;
}

void Worker::ended_lanes(Warp& warp, uint32_t lanes) {
  Cta& cta = *warp.cta;
  const auto ending = static_cast<uint32_t>(std::popcount(lanes));
  // Whoever listens has the CTA's records only while it lives: what is under way lands before, as it may.
  if (listener() != nullptr && cta.live_threads == ending) land_all(*cta.cluster);
  warp.live &= ~lanes;
  cta.live_threads -= ending;
  if (warp.live == 0) --cta.live_warps;
  note_progress();
  if (listener() != nullptr) emit_exit(*this, warp, lanes);
  // Those who wait for all remaining threads look again.
  for (Split& split : warp.splits) {
    if (split.wait == Wait::Rendezvous) unpark(warp, split);
    if (split.wait != Wait::WarpSync) continue;
    const uint64_t mask = split.value;
    uint32_t here = 0;
    for (const Split& other : warp.splits) {
      if (other.wait == Wait::WarpSync && other.value == mask) here |= other.lanes;
    }
    if ((here & mask & warp.live) != (mask & warp.live)) continue;
    for (Split& other : warp.splits) {
      if (other.wait == Wait::WarpSync && other.value == mask) unpark(warp, other);
    }
  }
  settle_barriers(*this, warp, lanes);
  if (cta.ended()) cta.exited_at = clock_ns_;
}

bool Worker::lookup_global(uint64_t address, uint64_t bytes, bool write) {
  const Allocation* found = launch_.device->memory().find(address);
  if (found == nullptr || !found->contains(address, bytes) || (write && found->read_only)) return false;
  cached_first_ = found->first;
  cached_bytes_ = found->bytes;
  cached_read_only_ = found->read_only;
  return true;
}

const Allocation* Worker::find_allocation(uint64_t address) const {
  return launch_.device->memory().find(address);
}

bool Worker::pick_split(Warp& warp) {
  auto& splits = warp.splits;
  limit_pc_ = kNoLimit;
  if (splits.size() == 1) {
    if (splits[0].wait != Wait::None) return false;
    return enter_split(warp, 0);
  }

  // Lanes that wait at a collective instruction are joined by those that came to the same place, and then
  // look again.
  for (size_t i = 0; i < splits.size(); ++i) {
    if (splits[i].wait != Wait::Rendezvous) continue;
    for (size_t j = 0; j < splits.size(); ++j) {
      if (j == i || splits[j].pc != splits[i].pc || splits[j].frame != splits[i].frame) continue;
      if (splits[j].wait == Wait::None || (splits[j].wait == Wait::Rendezvous && j > i)) {
        splits[i].wait = Wait::None;
        break;
      }
    }
  }

  // Of the splits that can run: those that stepped back least, in the deepest call, at the lowest place.
  const auto key = [&warp](const Split& split) {
    return std::make_tuple(split.rounds, ~warp.frames[split.frame].base, split.frame, split.pc);
  };
  uint32_t best = kNoLimit;
  bool skipped = false;
  for (uint32_t i = 0; i < splits.size(); ++i) {
    if (splits[i].wait != Wait::None) continue;
    if (left_behind(warp, splits[i])) {
      skipped = true;
      continue;
    }
    if (best == kNoLimit || key(splits[i]) < key(splits[best])) best = i;
  }
  if (best == kNoLimit) {
    if (skipped) ready(warp);
    return false;
  }
  if (launch_.request->options.perturb && idle_rounds_ == 0 && random() >> 63 != 0) {
    const auto other = static_cast<uint32_t>((random() >> 32) % splits.size());
    if (splits[other].wait == Wait::None && !left_behind(warp, splits[other])) best = other;
  }

  // Join those that stand at the same place; the next place where one waits is the limit of this run.
  for (uint32_t i = 0; i < splits.size();) {
    Split& other = splits[i];
    const bool same_frame = i != best && other.frame == splits[best].frame;
    const bool waits_here = other.wait == Wait::None || other.wait == Wait::Rendezvous;
    if (same_frame && waits_here && other.pc == splits[best].pc) {
      splits[best].lanes |= other.lanes;
      splits[best].granted |= other.granted;
      splits[best].rounds = std::min(splits[best].rounds, other.rounds);
      splits.erase(splits.begin() + i);
      if (i < best) --best;
      continue;
    }
    if (same_frame && waits_here && other.pc > splits[best].pc) limit_pc_ = std::min(limit_pc_, other.pc);
    ++i;
  }
  return enter_split(warp, best);
}

Step Worker::diverge(Warp& warp, uint32_t lanes, uint32_t target) {
  Split& split = warp.splits[warp.current];
  Split other = split;
  split.lanes = warp.active & ~lanes;
  split.pc = warp.pc + 1;
  other.lanes = lanes;
  other.pc = target;
  warp.splits.push_back(other);
  return Step::Resplit;
}

Step Worker::separate(Warp& warp, uint32_t lanes) {
  Split& split = warp.splits[warp.current];
  Split rest = split;
  split.lanes = lanes;
  split.pc = warp.pc;
  rest.lanes = warp.active & ~lanes;
  rest.pc = warp.pc;
  warp.splits.push_back(rest);
  return enter_split(warp, warp.current) ? Step::Jumped : Step::Resplit;
}

/// Where a new frame may lie, at `base` or behind: lanes that have come apart may be in different functions
/// at once, and only frames of one function may lie over each other, since in these each lane has its own
/// columns.
uint32_t Worker::free_base(const Warp& warp, uint32_t base, uint32_t function) const {
  const auto bytes_of = [&](uint32_t f) { return launch_.kernel->functions[f]->frame_bytes; };
  for (bool moved = true; moved;) {
    moved = false;
    for (const FrameNode& other : warp.frames) {
      const uint32_t end = other.base + bytes_of(other.function);
      const bool overlaps = other.lanes != 0 && other.base < base + bytes_of(function) && base < end;
      if (!overlaps || (other.function == function && other.base == base)) continue;
      base = end;
      moved = true;
    }
  }
  return base;
}

Step Worker::call(Warp& warp, uint32_t lanes, uint32_t function) {
  const BoundFunction& caller = *launch_.kernel->functions[warp.frames[warp.frame_node].function];
  const BoundFunction& callee = *launch_.kernel->functions[function];
  const FrameNode& from = warp.frames[warp.frame_node];
  uint32_t base = from.base + caller.frame_bytes;
  const uint32_t local_base = from.local_base + caller.local_bytes;
  // The activation of this call, shared with lanes that came through it before.
  uint32_t node = kNoLimit;
  for (uint32_t i = 0; i < warp.frames.size(); ++i) {
    const FrameNode& f = warp.frames[i];
    if (f.lanes == 0) {
      if (node == kNoLimit && i != 0) node = i;
    } else if (f.parent == warp.frame_node && f.function == function && f.return_pc == warp.pc + 1 &&
               i != 0) {
      node = i;
      break;
    }
  }
  const bool is_new = node == kNoLimit || warp.frames[node].lanes == 0;
  base = is_new ? free_base(warp, base, function) : warp.frames[node].base;
  if (local_base + callee.local_bytes > warp.free_local_bytes() ||
      base + callee.frame_bytes > kMaxRegisterBytes) {
    return warp.fault(FaultKind::HardwareStack, "the call stack of a thread is exhausted",
                      static_cast<uint32_t>(std::countr_zero(lanes)));
  }
  if (node == kNoLimit) {
    node = static_cast<uint32_t>(warp.frames.size());
    warp.frames.emplace_back();
  }
  if (is_new) {
    warp.frames[node] = FrameNode{warp.frame_node, function, warp.pc + 1, base, local_base, 0};
  }
  warp.frames[node].lanes |= lanes;
  reserve_registers(warp, base + callee.frame_bytes);
  reinterpret_cast<uint32_t*>(warp.registers.data() + warp.register_shift + base)[kTruePredicate] = kAllLanes;

  Split& split = warp.splits[warp.current];
  if (lanes != warp.active) {
    Split rest = split;
    rest.lanes = warp.active & ~lanes;
    rest.pc = warp.pc + 1;
    split.lanes = lanes;
    split.pc = 0;
    split.frame = node;
    warp.splits.push_back(rest);
  } else {
    split.pc = 0;
    split.frame = node;
  }
  return Step::Resplit;
}

Step Worker::leave(Warp& warp, uint32_t lanes) {
  if (warp.frame_node == 0) return exit(warp, lanes);
  FrameNode& node = warp.frames[warp.frame_node];
  node.lanes &= ~lanes;
  Split& split = warp.splits[warp.current];
  Split back = split;
  back.lanes = lanes;
  back.frame = node.parent;
  back.pc = node.return_pc;
  if (lanes == warp.active) {
    split = back;
  } else {
    split.lanes = warp.active & ~lanes;
    split.pc = warp.pc + 1;
    warp.splits.push_back(back);
  }
  return Step::Resplit;
}

Step Worker::exit(Warp& warp, uint32_t lanes) {
  for (FrameNode& node : warp.frames) node.lanes &= ~lanes;
  Split& split = warp.splits[warp.current];
  split.lanes = warp.active & ~lanes;
  split.pc = warp.pc + 1;
  if (split.lanes == 0) warp.splits.erase(warp.splits.begin() + warp.current);
  ended_lanes(warp, lanes);
  return warp.splits.empty() ? Step::Exited : Step::Resplit;
}

/// Whether the registers are what they were when a round was closed last: then the loop has done nothing.
bool Worker::repeats_round(const Warp& warp, Split& split) const {
  const BoundFunction& function = *launch_.kernel->functions[warp.frames[warp.frame_node].function];
  const auto* words = reinterpret_cast<const uint64_t*>(warp.bank[0]);
  uint64_t hash = warp.pc + 1;
  for (uint32_t i = 0; i < function.frame_bytes / 8; ++i)
    hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15ull + (hash >> 29);
  return std::exchange(split.round_state, hash) == hash;
}

Step Worker::close_passed_round(Warp& warp, uint32_t from) {
  warp.passed = false;
  Split& split = warp.splits[warp.current];
  if (!repeats_round(warp, split)) return Step::Jumped;
  split.reads_time = false;
  split.idle_first = warp.pc;
  split.idle_last = from;
  split.idle_frame = warp.frame_node;
  return Step::Yield;
}

Step Worker::close_idle_round(Warp& warp, uint32_t from) {
  const bool timed = warp.clock_read;
  warp.polled = warp.passed = false;
  warp.clock_read = false;
  Split& split = warp.splits[warp.current];
  split.reads_time = timed;
  split.idle_first = warp.pc;
  split.idle_last = from;
  split.idle_frame = warp.frame_node;
  if (timed || repeats_round(warp, split)) return Step::Yield;
  split.idle_first = 1;
  split.idle_last = 0;
  // A counter moves: the loop may have an end of its own, to which time must not jump.
  if (++counted_rounds_ >= kCountedRounds) return Step::Yield;
  split.counted = true;
  progress_ = true;
  idle_time_ = 0;
  return Step::Jumped;
}

void Worker::note_timed_wait(Warp& warp) {
  Split& split = warp.splits[warp.current];
  const bool in_idle_loop =
      split.idle_frame == warp.frame_node && warp.pc >= split.idle_first && warp.pc <= split.idle_last;
  if (std::exchange(split.counted, false) || in_idle_loop || counted_rounds_ >= kCountedRounds) return;
  ++counted_rounds_;
  idle_time_ = 0;
}

// --- the step loop
// --------------------------------------------------------------------------------------------------------------

bool Worker::run_warp(Warp& warp) {
  if (!pick_split(warp)) return false;
  warp.acted = warp.passed = false;
  const bool was_asleep = warp.splits[warp.current].slept;
  warp.polled = was_asleep;
  warp.splits[warp.current].slept = false;
  const uint64_t steps_before = warp.steps;
  uint64_t lane_count = 0;
  uint32_t budget = kTurnInstructions;
  if (launch_.request->options.perturb) budget = 8u << (random() >> 40) % 8;
  const auto save = [&warp] { warp.splits[warp.current].pc = warp.pc; };

  bool running = true;
  while (running) {
    if (budget == 0) {
      save();
      progress_ = true;  // a full turn of instructions is progress, whatever they did
      if (warp.splits.size() > 1 && ++warp.splits[warp.current].rounds == 0)
        warp.splits[warp.current].rounds = ~0u;
      ready(warp);
      break;
    }
    --budget;
    const Op& op = warp.code[warp.pc];
    const uint32_t lanes = warp.active & (warp.predicate(op.guard) ^ op.guard_flip);
    ++warp.steps;
    Step step = Step::Next;
    if (lanes != 0) {
      lane_count += static_cast<uint32_t>(std::popcount(lanes));
      step = op.run(warp, op, lanes);
    }
    switch (step) {
      case Step::Next:
        if (++warp.pc < limit_pc_) continue;
        save();
        running = pick_split(warp);
        break;
      case Step::Jumped:
        if (warp.pc < limit_pc_) continue;
        save();
        running = pick_split(warp);
        break;
      case Step::Resplit:
        running = pick_split(warp);
        break;
      case Step::Blocked:
      case Step::Parked:
        // park() advances the place when the split is woken; until then it names the instruction.
        save();
        running = pick_split(warp);
        break;
      case Step::Yield:
        save();
        if (warp.splits.size() > 1) ++warp.splits[warp.current].rounds;
        ready(warp);
        running = false;
        break;
      case Step::Exited:
      case Step::Fault:
        running = false;
        break;
    }
  }
  if (warp.acted) {
    progress_ = acted_ = true;
    for (Split& split : warp.splits) split.idle_last = 0;  // the loops that were idle are no longer
  }
  const uint64_t executed = warp.steps - steps_before;
  clock_ns_ += executed;
  local_statistics_.warp_instructions += executed;
  local_statistics_.thread_instructions += lane_count;
  return was_asleep;
}

}  // namespace sluice::machine
