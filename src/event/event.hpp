// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The event vocabulary: every observable fact of a run. The machine emits events, checkers and recorders
// receive them through a Sink; neither knows the other. One event is one warp instruction (lane mask and
// address vector), or one step of an asynchronous operation (issue, source read, write, complete). Phases are
// named by their unbounded ordinal, never by parity. Addresses are device addresses, which are the same in
// every run.
#pragma once

#include <cstdint>
#include <span>

namespace sluice::event {

enum class Kind : uint8_t {
  LaunchBegin,
  LaunchEnd,
  CtaBegin,
  CtaEnd,
  WarpBegin,
  LanesExit,  ///< the lanes of the mask have ended
  Read,       ///< addresses[lane], `bytes` each
  Write,
  Atomic,
  Fence,         ///< fence / membar with semantics and scope
  ProxyFence,    ///< fence.proxy.*; `proxy` is the proxy made to agree with the generic one
  MbarrierInit,  ///< value = expected arrivals
  MbarrierInval,
  MbarrierArrive,      ///< value = count; phase = the ordinal it counted in
  MbarrierExpectTx,    ///< value = bytes
  MbarrierCompleteTx,  ///< value = bytes
  MbarrierFlip,        ///< a phase completed; phase = its ordinal
  MbarrierWait,        ///< a wait was satisfied by phase `phase`
  NamedArrive,         ///< bar.arrive; value = id, bytes = thread count
  NamedWait,           ///< bar.sync: arrival and wait
  NamedComplete,
  ClusterArrive,
  ClusterWait,
  WarpSync,    ///< bar.warp.sync and every other rendezvous of lanes
  AsyncIssue,  ///< operation = its id from here on
  AsyncRead,   ///< source bytes read by the operation
  AsyncWrite,  ///< destination bytes written
  AsyncComplete,
  GroupCommit,
  GroupWait,
  WgmmaFence,
  RegisterBudget,  ///< setmaxnreg; value = registers
  DependencyWait,  ///< griddepcontrol.wait
};

enum class Proxy : uint8_t { Generic, Async, Tensormap, Constant };
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

/// A set of event kinds that a sink wants.
using KindMask = uint64_t;
constexpr KindMask mask_of(Kind kind) {
  return KindMask{1} << static_cast<unsigned>(kind);
}

/// One observable fact. Fields that a kind does not use are zero.
struct Event {
  Kind kind{};
  Proxy proxy = Proxy::Generic;
  Semantics semantics = Semantics::Weak;
  Scope scope = Scope::Cta;
  Space space = Space::Generic;
  uint32_t launch = 0;     ///< ordinal of the launch in the process
  uint32_t cta = 0;        ///< linear CTA index in the grid
  uint32_t warp = 0;       ///< warp index in the CTA
  uint32_t lanes = 0;      ///< lane mask
  uint32_t origin = 0;     ///< index into the table of origins
  uint32_t bytes = 0;      ///< bytes per lane, or of the whole asynchronous access
  uint64_t operation = 0;  ///< id of an asynchronous operation, 0 for none
  uint64_t phase = 0;      ///< unbounded phase ordinal
  int64_t value = 0;
  std::span<const uint64_t> addresses;  ///< one per lane (32), or one for asynchronous steps
};

/// Receives events. A sink is called synchronously from the machine, on one thread.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual KindMask wants() const = 0;
  virtual void receive(const Event& event) = 0;
};

}  // namespace sluice::event
