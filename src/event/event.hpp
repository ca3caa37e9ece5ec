// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The event vocabulary: every observable fact of a run. The machine emits events, checkers and recorders
// receive them through a Sink; neither knows the other. One event is one warp instruction (lane mask and
// address vector), or one step of an asynchronous operation (issue, source read, write, complete). Phases are
// named by their unbounded ordinal, never by parity: phase 0 is the one that an mbarrier is in after its
// init, and ~0 stands for the phase before it. Addresses are generic device addresses, which are the same in
// every run; one in the window of shared memory carries the rank of the CTA in its cluster (address.hpp).
//
// The order of events is the order of effects: an event is emitted when its effect is visible, and effects of
// one instruction come before what follows from them (an arrival before the completion that it causes).
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>

#include "event/origins.hpp"

namespace sluice::event {

/// What happened. The comment names the fields of Event that the kind fills beside launch, cta, warp, lanes
/// and origin; a kind that says nothing of a field leaves it zero.
enum class Kind : uint8_t {
  LaunchBegin,  ///< details
  LaunchEnd,    ///< value = 1 if the launch has failed
  CtaBegin,     ///< value = rank in the cluster; operation = linear cluster; bytes = shared memory
  CtaEnd,       ///< after the last LanesExit
  WarpBegin,    ///< lanes = those that exist
  LanesExit,
  Read,   ///< addresses[lane], `bytes` each; semantics, scope
  Write,  ///< the same; detail = lanes that have put what was there already, one lane after another
  Atomic,
  HeapFree,        ///< free() of device code by one lane: addresses = the block; value = its bytes
  Fence,           ///< fence and membar: semantics, scope
  ProxyFence,      ///< proxy = the one made to agree with the generic proxy; semantics, scope
  InitFence,       ///< fence.mbarrier_init
  MbarrierInit,    ///< addresses; value = expected arrivals
  MbarrierInval,   ///< addresses; phase
  MbarrierArrive,  ///< addresses; value = count; detail = fewer arrivals from the next phase on; phase = the
                   ///< one it counts in; operation != 0: a deferred arrival of cp.async
  MbarrierExpectTx,    ///< addresses; value = bytes; phase
  MbarrierCompleteTx,  ///< addresses; value = bytes; phase; operation = the copy, 0 for the instruction
  MbarrierFlip,        ///< addresses; a phase completed, by the agent of the event; phase = its ordinal
  MbarrierWait,        ///< addresses; a wait was satisfied: phase = the one it stands for; value = its parity
  MbarrierPending,     ///< addresses; a wait found its phase not complete; phase = the current one; value =
                       ///< parity
  NamedArrive,         ///< bar.arrive; value = id; bytes = thread count, 0 = all; phase = generation
  NamedWait,           ///< bar.sync and bar.red: arrival, then wait until NamedComplete; fields likewise
  NamedComplete,       ///< value = id; phase = generation; no lanes
  ClusterArrive,       ///< phase; semantics
  ClusterWait,         ///< the wait for `phase` is over
  WarpSync,    ///< a rendezvous of the lanes: bar.warp.sync, collectives, `.sync.aligned` instructions
  WgmmaIssue,  ///< a warp has issued its share of the product `phase` of its warpgroup; bytes = those of B
  AsyncIssue,  ///< operation = its id from here on; value = OperationKind; bytes = all that it moves;
               ///< phase = group of the lane (stores, cp.async) or ordinal of the product (wgmma);
               ///< addresses = the mbarrier it signals, if any; detail = multicast mask, 0 = none
  AsyncRead,   ///< source bytes read by the operation: one address, `bytes` of it
  AsyncWrite,  ///< destination bytes written; semantics = Relaxed for a reduction
  AsyncComplete,
  GroupCommit,  ///< operation = GroupKind; phase = ordinal of the group that is closed
  GroupWait,    ///< the wait is over: operation = GroupKind; value = groups that may be in flight; bytes = 1
                ///< when only sources must have been read; detail = 1 for cp.async.wait_all
  WgmmaFence,   ///< wgmma.fence
  WgmmaRegisters,  ///< what the next WgmmaIssue of the warp names: addresses = its accumulators, then
                   ///< `detail` registers of A, by their number in the function; may be told several times
                   ///< before the issue
  RegisterRead,  ///< an ordinary instruction reads registers that some wgmma uses: addresses = their numbers
  RegisterWrite,
  RegisterMove,    ///< addresses = `detail` destinations, then the sources
  RegisterBudget,  ///< setmaxnreg has taken effect; value = registers per thread
  DependencyWait,  ///< griddepcontrol.wait
  BrokenRule,      ///< rule = what the instruction breaks, which only who executes it can judge
  TensorMapUse,    ///< a copy is about to use the tensor map at addresses[0], in global memory
  SwizzledTile,    ///< a copy into shared memory swizzles: addresses = where its box starts; bytes = of the
                   ///< box; detail = bytes after which the pattern of the swizzle begins anew
  Stuck,  ///< nobody can go on, and these lanes wait: value = Waiting; phase = what they wait for: parity
          ///< of the mbarrier at addresses[0], id of the named barrier, member mask, groups, registers
};

enum class Proxy : uint8_t { Generic, Async, Tensormap, Alias };
enum class Semantics : uint8_t {
  Weak,
  Volatile,
  Relaxed,
  Acquire,
  Release,
  AcquireRelease,
  SequentiallyConsistent
};
enum class Scope : uint8_t { Thread, Warp, Cta, Cluster, Gpu, System };
enum class Space : uint8_t { Generic, Global, Shared, Local, Param, Constant };

/// What an asynchronous operation is (Event::value of AsyncIssue).
enum class OperationKind : uint8_t {
  CpAsync,          ///< cp.async of one lane
  DeferredArrival,  ///< cp.async.mbarrier.arrive; the arrival adds to the count, so it is expected one more
                    ///< time
  DeferredArrivalNoinc,
  BulkToShared,  ///< copies into shared memory of the cluster, from global memory or shared memory
  BulkToGlobal,  ///< copies and reductions out of shared memory, in bulk groups
  StoreAsync,    ///< st.async, red.async
  Wgmma,
  Prefetch,
};

/// Which groups a GroupCommit or GroupWait is about (Event::operation).
enum class GroupKind : uint8_t { Bulk, CpAsync, Wgmma };

/// Why lanes are stuck (Event::value of Stuck).
enum class Waiting : uint8_t {
  Loop,  ///< they run, but in a loop that changes nothing
  Mbarrier,
  NamedBarrier,
  ClusterBarrier,
  Rendezvous,  ///< for the other lanes that an aligned or collective instruction names
  WarpSync,
  BulkGroup,
  CpAsyncGroup,
  Wgmma,
  Registers,
  Sleep,
  Dependency,
};

/// A set of event kinds that a sink wants.
using KindMask = uint64_t;
constexpr KindMask mask_of(Kind kind) {
  return KindMask{1} << static_cast<unsigned>(kind);
}
constexpr KindMask kAllKinds = ~KindMask{0};

/// What LaunchBegin says about its launch.
struct LaunchDetails {
  const char* kernel = "";  ///< mangled name
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};
  uint32_t cluster[3] = {1, 1, 1};
  uint32_t registers = 0;             ///< per thread; 0 = unknown
  const char* registers_source = "";  ///< where that number comes from
  bool narrow_scopes = false;         ///< it synchronises on global memory with CTA or cluster scope
  bool overlaps_previous = false;     ///< it may begin before the launch before it has ended
  const Origins* origins = nullptr;   ///< places and symbols of the kernel; lives until LaunchEnd
};

/// A rule that an instruction breaks although the launch can go on.
struct BrokenRule {
  const char* name = "";  ///< of the finding
  bool is_warning = false;
  std::string headline;       ///< one line: what is wrong
  std::string label;          ///< what happens at the instruction
  uint32_t cause = kNoIndex;  ///< origin of what led to it, if that is another place
  std::string cause_label;
  std::string why, help;
};

/// One observable fact. Fields that a kind does not use are zero.
struct Event {
  Kind kind{};
  Proxy proxy = Proxy::Generic;  ///< through which an access is made
  Semantics semantics = Semantics::Weak;
  Scope scope = Scope::Cta;
  Space space = Space::Generic;
  uint32_t launch = 0;     ///< ordinal of the launch in the process
  uint32_t cta = 0;        ///< linear CTA index in the grid; of the issuer for an asynchronous operation
  uint32_t warp = 0;       ///< warp index in the CTA
  uint32_t lanes = 0;      ///< lane mask
  uint32_t origin = 0;     ///< index into the table of origins
  uint32_t bytes = 0;      ///< bytes per lane, or of the whole asynchronous access
  uint32_t detail = 0;     ///< as the kind says
  uint64_t operation = 0;  ///< id of an asynchronous operation, 0 for none
  uint64_t phase = 0;      ///< unbounded phase ordinal
  int64_t value = 0;
  uint64_t steps = 0;  ///< instructions that the warp has executed up to and with this one; 0 where the event
                       ///< is not of a warp instruction
  std::span<const uint64_t> addresses;     ///< one per lane (32), or one for asynchronous steps
  const LaunchDetails* details = nullptr;  ///< of LaunchBegin
  const BrokenRule* rule = nullptr;        ///< of BrokenRule

  /// The address that the event is about: that of the first lane; 0 where it has none.
  uint64_t address() const {
    if (addresses.empty()) return 0;
    return addresses.size() == 1 ? addresses[0]
                                 : addresses[static_cast<size_t>(std::countr_zero(lanes)) % 32];
  }
};

/// Receives events. A sink is called synchronously from the machine, on one thread.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual KindMask wants() const = 0;
  virtual void receive(const Event& event) = 0;
};

}  // namespace sluice::event
