// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The state of a running launch: worker > cluster > CTA > warp > split. A warp's lanes that stand at one
// place form a split; divergence makes more of them, meeting again merges them (lowest place first, so that
// lanes wait where paths join). State holds indices and plain values; the few cached pointers (`Warp::frame`,
// `Warp::code`) are set anew whenever a split starts to run, so that a copy of the state is a snapshot.
//
// Who may touch what: handlers (src/machine/ops) receive the warp and use the members documented here. Only
// the step loop and the scheduler (worker.cpp) move splits.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "event/event.hpp"
#include "machine/access_watch.hpp"
#include "machine/async_queue.hpp"
#include "machine/device_memory.hpp"
#include "machine/fault.hpp"
#include "machine/kernel.hpp"
#include "machine/launch.hpp"
#include "machine/op.hpp"
#include "machine/register_marks.hpp"
#include "machine/space.hpp"

namespace sluice::machine {

struct Cluster;
struct Cta;
class DefinednessWatch;
class Worker;

/// Why a split does not run.
enum class Wait : uint8_t {
  None,
  Mbarrier,  ///< key = shared offset in the own CTA, value = parity (0/1), or ordinal parity of a state token
  NamedBarrier,  ///< key = id
  ClusterBarrier,
  Rendezvous,    ///< the other lanes of an aligned or collective instruction
  WarpSync,      ///< bar.warp.sync; value = member mask
  BulkGroup,     ///< key = number of bulk groups that may stay in flight; value 1 for `.read`
  CpAsyncGroup,  ///< key = number of groups that may stay in flight
  Wgmma,         ///< key = number of wgmma groups that may stay in flight
  Registers,     ///< setmaxnreg.inc; key = registers wanted
  Sleep,         ///< key = clock at which it goes on
  Dependency,    ///< griddepcontrol.wait
};

constexpr uint64_t kNoLook = ~uint64_t{0};

/// Lanes of a warp at one place.
struct Split {
  uint32_t pc = 0;
  uint32_t lanes = 0;
  uint32_t frame = 0;  ///< index into Warp::frames
  Wait wait = Wait::None;
  bool advance = false;  ///< goes on behind the instruction when woken
  bool timed = false;    ///< the wait also ends at `deadline`
  bool slept = false;    ///< it has just woken from nanosleep: the round of the loop around that only looked
  uint32_t granted =
      0;  ///< lanes whose mbarrier wait was satisfied when its phase completed, whatever came since
  uint64_t key = 0;
  uint64_t value = 0;
  uint64_t deadline = 0;  ///< worker clock in ns, for timed waits
  uint64_t looked =
      kNoLook;  ///< offset and, in bit 0, parity of the mbarrier that it has just found unfinished
  uint64_t round_state = 0;  ///< hash of the registers at the last round of a loop that only looked
  uint32_t rounds = 0;       ///< backward jumps since the split was last put behind the others
  // Places of the loop whose last round came to nothing, in the activation `idle_frame`.
  uint32_t idle_first = 1, idle_last = 0, idle_frame = 0;
  bool counted = false;     ///< its last backward jump was one of a loop in which a counter moves
  bool goes_alone = false;  ///< at an aligned barrier: it stands for its warp, whose other lanes cannot come
  bool reads_time = false;  ///< its last backward jump was one of a loop that reads a clock
};

/// One activation of a function, shared by all lanes that came through the same call.
struct FrameNode {
  uint32_t parent = 0;
  uint32_t function = 0;  ///< index into Kernel::functions
  uint32_t return_pc = 0;
  uint32_t base = 0;        ///< offset of the frame in Warp::registers
  uint32_t local_base = 0;  ///< offset of the frame in the thread's local memory
  uint32_t lanes = 0;       ///< lanes inside; 0 = free
};

/// A warp: 32 lanes, their registers, and the splits they form.
struct Warp {
  // --- where it is
  // -------------------------------------------------------------------------------------------------
  Cta* cta = nullptr;
  uint32_t index = 0;    ///< in the CTA
  uint32_t threads = 0;  ///< lanes that exist
  uint32_t live = 0;     ///< lanes that have not exited

  // --- the running split (valid inside a handler)
  // --------------------------------------------------------------------
  uint32_t pc = 0;        ///< of the instruction that runs
  uint32_t active = 0;    ///< lanes of the split, before the guard
  uint8_t* bank[2] = {};  ///< frame of the running function, its constants
  const Op* code = nullptr;
  uint32_t frame_node = 0;
  uint64_t steps = 0;       ///< instructions executed, the running one included
  bool acted = false;       ///< since the last backward jump: something others could see was changed
  bool clock_read = false;  ///< since the last backward jump: a clock was read
  bool polled = false;      ///< since the last backward jump: something that others change was read
  bool passed = false;      ///< since the last backward jump: a wait found its phase complete

  // --- storage
  // -------------------------------------------------------------------------------------------------------
  std::vector<uint8_t> registers;  ///< 64-byte aligned through `register_shift`
  uint32_t register_shift = 0;
  std::vector<FrameNode> frames;
  std::vector<Split> splits;  ///< splits[current] is the running one
  uint32_t current = 0;
  bool queued = false;         ///< in the worker's ready queue
  std::vector<uint8_t> local;  ///< local memory: lane-major, `local_bytes` each
  uint32_t local_bytes = 0;
  std::array<uint32_t, kLanes>
      stack_bytes{};                 ///< per lane: what alloca has taken from the end of local memory
  std::vector<uint32_t> bulk_group;  ///< per lane: ordinal of the bulk group being filled (empty until used)
  std::vector<uint32_t> cp_async_group;             ///< per lane: ordinal of the cp.async group being filled
  std::array<uint64_t, kLanes> cluster_arrivals{};  ///< per lane: barrier.cluster phases arrived in
  uint32_t register_budget = 0;                     ///< setmaxnreg: registers per thread now
  uint32_t carry = 0;                               ///< condition code of add.cc and its kin, a lane mask
  RegisterMarks marks;                              ///< in checks that follow definedness
  uint32_t late_lanes = 0;                          ///< of an unfair schedule: lanes that are left behind
  uint64_t late_until = 0;                          ///< up to this turn of the worker

  uint32_t frame_base() const { return frames[frame_node].base; }

  // --- access to values
  // ----------------------------------------------------------------------------------------------
  template <class T>
  T* at(Location location) {
    return reinterpret_cast<T*>(bank[location & 1] + (location & ~kConstantBit));
  }
  uint32_t* u32(Location location) { return at<uint32_t>(location); }
  uint64_t* u64(Location location) { return at<uint64_t>(location); }
  uint32_t& predicate(uint32_t index) { return reinterpret_cast<uint32_t*>(bank[0])[index]; }

  /// Ends the launch with `kind`: returns Step::Fault. `lane` is the first faulting lane.
  /// `name`: the finding, where it is finer than the kind.
  Step fault(FaultKind kind, std::string message, uint32_t lane = 0, uint64_t address = 0,
             const char* name = "");

  /// The fault itself, placed at the running instruction.
  Fault fault_here(FaultKind kind, std::string message, uint32_t lane, uint64_t address) const;

  /// Parks the running split. It runs the instruction again (Blocked) or goes on behind it (Parked) when
  /// woken.
  Step block(Wait wait, uint64_t key, uint64_t value = 0);
  Step park(Wait wait, uint64_t key, uint64_t value = 0);
  /// The same with a deadline in ns of the worker's clock.
  Step block_until(Wait wait, uint64_t key, uint64_t value, uint64_t deadline);

  /// For instructions that lanes execute together: Step::Next once the running split holds all non-exited
  /// lanes of `required`; otherwise parks it until they have come to the same instruction.
  Step rendezvous(uint32_t required) {
    const uint32_t needed = required & live;
    if ((active & needed) != needed) return block(Wait::Rendezvous, needed);
    if (required == kAllLanes) tell_rendezvous();
    return Step::Next;
  }
  /// Tells the listener, if there is one, that all lanes are together.
  void tell_rendezvous();
  /// Whether all non-exited lanes of the warp are in the running split.
  bool converged() const { return active == live; }

  Worker& worker() const;
  /// Local memory below what the lanes have taken with alloca.
  uint32_t free_local_bytes() const {
    return local_bytes - *std::max_element(stack_bytes.begin(), stack_bytes.end());
  }
  uint8_t* local_of(uint32_t lane) { return local.data() + size_t{lane} * local_bytes; }
};

/// One of the sixteen named barriers of a CTA.
struct NamedBarrierState {
  uint32_t expected = 0;     ///< threads of the open generation; 0 = none is open, or all threads are meant
  bool all_threads = false;  ///< the open generation waits for every thread that has not exited
  uint32_t arrived = 0;
  uint64_t generation = 0;
  uint32_t holds = 0;  ///< barrier.red: threads whose predicate held
};

/// A wgmma that one warp of a warpgroup has issued: what it needs once all four have come.
struct WgmmaIssue {
  const Op* op = nullptr;
  uint32_t frame_base = 0;  ///< of the function that issued it: its registers are named relative to it
  uint32_t function = 0;    ///< place of the instruction
  uint32_t pc = 0;
  bool scale_d = false;   ///< the accumulators are added to, not overwritten
  uint64_t a = 0, b = 0;  ///< matrix descriptors
};

/// The four warps of a warpgroup and their wgmma operations in flight. Filled by ops/wgmma.cpp.
struct WarpgroupState {
  std::deque<WgmmaIssue> issued[4];  ///< by warp: not yet issued by all four
  uint64_t issued_count[4] = {};     ///< operations that the warp has issued altogether
  std::deque<uint64_t> groups[4];    ///< committed groups: operations issued up to each commit
  uint64_t submitted = 0;            ///< operations that all four warps have issued
  uint64_t performed = 0;            ///< operations performed, in order
};

struct Cta {
  Cluster* cluster = nullptr;
  uint32_t index[3] = {};
  uint32_t linear = 0;                ///< linear index in the grid
  uint32_t rank = 0;                  ///< in the cluster
  std::vector<uint8_t> shared;        ///< from offset 0; the first kReservedShared bytes belong to the system
  std::vector<uint8_t> shared_marks;  ///< per byte of it, in checks that follow definedness, once one is used
  std::vector<std::unique_ptr<Warp>> warps;
  std::vector<WarpgroupState> warpgroups;
  std::array<NamedBarrierState, 16> named;
  uint32_t live_warps = 0;
  uint32_t live_threads = 0;
  uint32_t register_pool = 0;     ///< registers free for setmaxnreg.inc
  uint32_t mbarrier_waiters = 0;  ///< splits parked on Wait::Mbarrier
  /// Phases completed since init, by the barrier's offset: the unbounded ordinal behind the phase bit.
  std::unordered_map<uint32_t, uint64_t> mbarrier_phases;
  std::vector<MbarrierRecord>
      ended_mbarriers;  ///< with LaunchOptions::record_phases: those inval or init ended
  uint64_t exited_at = 0;

  bool ended() const { return live_warps == 0; }
  /// Host address of shared memory, or null where [offset, offset + bytes) leaves the CTA's shared memory.
  uint8_t* shared_at(uint64_t offset, uint64_t bytes) {
    if (offset > shared.size() || bytes > shared.size() - offset) return nullptr;
    return shared.data() + offset;
  }
};

/// CTAs that run together; a launch without clusters has clusters of one.
struct Cluster {
  Worker* worker = nullptr;
  uint32_t index[3] = {};
  uint32_t linear = 0;
  std::vector<std::unique_ptr<Cta>> ctas;
  uint32_t operations = 0;  ///< asynchronous operations in flight that its CTAs issued
  // barrier.cluster
  uint32_t arrived = 0;  ///< threads arrived in this phase
  uint64_t phase = 0;
  uint32_t live_threads() const {
    uint32_t sum = 0;
    for (const auto& cta : ctas) sum += cta->live_threads;
    return sum;
  }
};

/// Runs clusters of one launch on one host thread: the step loop, the ready queue, asynchronous operations,
/// the clock.
class Worker {
 public:
  Worker(LaunchContext& launch, uint32_t id);
  ~Worker();

  /// Runs until no cluster is left for it, or the launch has failed.
  void run();

  LaunchContext& launch() { return launch_; }
  const Kernel& kernel() const { return *launch_.kernel; }

  // --- for handlers
  // ----------------------------------------------------------------------------------------------------
  /// Hands over an asynchronous operation. Under CopyTiming::Early it is performed before this returns.
  void submit(AsyncOp op);
  /// Whether an operation of this lane and kind, with group < `before`, is in flight.
  bool in_flight(const Warp& warp, uint32_t lane, AsyncKind kind, uint32_t before, bool source_only) const;
  /// Whether a copy that this lane issued before the operation `id` is in flight.
  bool in_flight_before(const Warp& warp, uint32_t lane, AsyncKind kind, uint64_t id) const;
  bool has_async() const { return !async_.empty(); }

  /// Wakes what waits. Cheap when nothing does.
  void wake_mbarrier(Cta& cta, uint32_t offset);  ///< a phase of the barrier at `offset` completed
  void wake(Cta& cta, Wait wait, uint64_t key);   ///< splits of the CTA parked on (wait, key)
  void wake_all(Cta& cta, Wait wait);
  void wake_cluster(Cluster& cluster);

  /// Host address of global memory for a kernel's access; null when it is outside every allocation (or
  /// read-only and `write`). Constant-time for accesses that stay in the allocation of the one before.
  uint8_t* global_at(uint64_t address, uint64_t bytes, bool write) {
    if (address - cached_first_ > cached_bytes_ || bytes > cached_bytes_ - (address - cached_first_) ||
        (write && cached_read_only_)) {
      if (!lookup_global(address, bytes, write)) return nullptr;
    }
    return reinterpret_cast<uint8_t*>(address);
  }

  /// The allocation of the access before: where it starts, and the largest offset at which `bytes` still fit.
  /// False if none do, or if `write` is not allowed there.
  bool cached_allocation(uint64_t bytes, bool write, uint64_t& first, uint64_t& room) const {
    if (bytes > cached_bytes_ || (write && cached_read_only_)) return false;
    first = cached_first_;
    room = cached_bytes_ - bytes;
    return true;
  }
  const Allocation* find_allocation(uint64_t address) const;
  void forget_cached_allocation() { cached_bytes_ = 0; }

  /// The CTA that a shared::cluster address names, seen from `cta`; null when it has no such rank or has
  /// ended.
  Cta* shared_owner(Cta& cta, uint32_t address) {
    const uint32_t rank = address >> kSharedRankShift;
    if (rank == cta.rank) return &cta;
    return rank < cta.cluster->ctas.size() ? cta.cluster->ctas[rank].get() : nullptr;
  }

  uint64_t clock_ns() const { return clock_ns_; }  ///< virtual time, the same on every run
  void note_progress() { progress_ = acted_ = true; }
  void note_sleeper(uint64_t deadline) {
    next_sleeper_ = deadline < next_sleeper_ ? deadline : next_sleeper_;
  }
  void note_clock_read(Warp& warp) {
    clock_was_read_ = true;
    warp.polled = true;
    warp.clock_read = true;
  }
  /// Closes a round of a loop that only looked at what others change and jumped back at `from`: Step::Yield
  /// if nothing came of it.
  Step close_idle_round(Warp& warp, uint32_t from);
  /// The same of a round whose waits did not have to wait: Step::Yield if the next one can only be like it.
  Step close_passed_round(Warp& warp, uint32_t from);
  /// The running split is about to wait for time. Unless it polls, this is a step of its own program, of
  /// which time must not run ahead.
  void note_timed_wait(Warp& warp);
  uint32_t free_base(const Warp& warp, uint32_t base, uint32_t function) const;
  void ended_lanes(Warp& warp, uint32_t lanes);  ///< lanes exit: barriers and rendezvous are looked at again
  void fail(Fault fault);                        ///< the first fault of the launch wins
  bool failed() const { return launch_.failed(); }
  AccessWatch* watch() const { return watch_; }
  DefinednessWatch* definedness() const { return definedness_.get(); }  ///< null if nobody asks
  event::Sink* listener() const { return launch_.listener; }
  uint64_t next_operation() { return ++operations_; }
  /// Of an unfair schedule: the lanes that see what they wait for now, while the others are left behind for a
  /// while; all of them otherwise.
  uint32_t attentive(Warp& warp, uint32_t lanes);
  /// LaunchOptions::hasty_waits: whether a wait at this place that would have to wait answers false now.
  bool answers_at_once(const Op& wait);
  LaunchStatistics& statistics() { return local_statistics_; }
  std::unordered_set<uint64_t> judged_descriptors;  ///< of wgmma, with a listener: those that were looked at

  // --- for control instructions
  // ------------------------------------------------------------------------------------------
  /// Divides the running split: `lanes` go to `target`, the rest to the next instruction.
  Step diverge(Warp& warp, uint32_t lanes, uint32_t target);
  /// Divides the running split: `lanes` stay at this instruction and run it again now, the rest comes to it
  /// later.
  Step separate(Warp& warp, uint32_t lanes);
  Step call(Warp& warp, uint32_t lanes, uint32_t function);
  Step leave(Warp& warp, uint32_t lanes);  ///< return from the function (or exit from the kernel)
  Step exit(Warp& warp, uint32_t lanes);

 private:
  static constexpr uint32_t kCountedRounds = 1'000'000;  ///< see counted_rounds_

  uint64_t random();
  void choose_warp();
  bool left_behind(const Warp& warp, const Split& split) const;
  bool lookup_global(uint64_t address, uint64_t bytes, bool write);
  bool start_cluster();
  void retire_clusters();
  void fill_up();
  void record_phases(Cluster& cluster);
  void forget_payload(Cluster& cluster);
  AccessWatch* own_watch() const;
  bool run_warp(Warp& warp);  ///< one turn; whether it began by waking from nanosleep
  bool enter_split(Warp& warp, uint32_t split);
  bool pick_split(Warp& warp);
  void ready(Warp& warp, bool in_front = false);
  void unpark(Warp& warp, Split& split, bool in_front = false);
  bool quiesce();
  void wake_sleepers();
  bool land_one(size_t which);
  bool repeats_round(const Warp& warp, Split& split) const;
  void land_all(const Cluster& cluster);  ///< its operations, oldest first
  void wake_group_waiters(const AsyncOp& op);
  void report_deadlock();
  bool look_once_more();
  bool find_clock_loop(Fault& fault) const;
  bool pass_divergent_barriers();
  friend struct Warp;

  LaunchContext& launch_;
  uint32_t id_ = 0;
  std::unique_ptr<AccessWatch> payload_watch_;  ///< of a run without data
  std::unique_ptr<DefinednessWatch> definedness_;
  AccessWatch* watch_ = nullptr;
  std::vector<std::unique_ptr<Cluster>> resident_;
  std::unique_ptr<Cluster> spare_;  ///< has ended; the next one takes over its memory
  std::deque<Warp*> ready_;
  AsyncQueue async_;
  uint64_t operations_ = 0;
  uint64_t clock_ns_ = 1'000'000;
  uint64_t random_ = 0;
  uint64_t turns_ = 0;
  std::unordered_set<const Op*> hurried_;  ///< places of waits that have answered at once
  bool progress_ = false;                  ///< in this turn: something ran that was not a spin
  bool acted_ = false;                     ///< in this turn: something that others can see has changed
  uint32_t counted_rounds_ =
      0;  ///< rounds of loops in which only a counter moved, since anything else has happened
  bool clock_was_read_ = false;
  uint32_t limit_pc_ = 0;  ///< the running split must stop before it reaches this place
  uint64_t cached_first_ = 1;
  uint64_t cached_bytes_ = 0;
  bool cached_read_only_ = false;
  LaunchStatistics local_statistics_;
  uint64_t next_sleeper_ = UINT64_MAX;  ///< earliest deadline of a nanosleep
  uint64_t idle_rounds_ = 0;
  uint64_t idle_time_ = 0;
};

inline Worker& Warp::worker() const {
  return *cta->cluster->worker;
}

}  // namespace sluice::machine
