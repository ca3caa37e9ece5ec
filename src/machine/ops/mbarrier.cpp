// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// mbarrier instructions. PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier".
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "machine/bind.hpp"
#include "machine/ops/access.hpp"
#include "machine/state.hpp"
#include "machine/units/emit.hpp"
#include "machine/units/mbarrier.hpp"

namespace sluice::machine {
namespace {

using Kind = ptx::Operand::Kind;
using ptx::Mod;
using ptx::Opcode;
using ptx::ScalarType;

/// MODEL: how long a try_wait without a time limit holds the thread. The ISA leaves it to the system; an H200
/// gives up after 3.9 us.
constexpr uint64_t kTryWaitLimitNs = 3'900;

struct MbarrierArgs {
  Address address;
  Location value = 0;   ///< count, bytes, parity or state token
  Location hint = 0;    ///< try_wait: time limit in ns
  Location result = 0;  ///< state token; its sink when nobody wants it
  uint32_t done = kSinkPredicate;
  bool wants_token = false;
  bool has_hint = false;
  bool by_state = false;  ///< waits: the operand is a token, not a parity
  bool expects = false;   ///< arrive.expect_tx: the value is a byte count
  bool drops = false;
  event::Semantics semantics = event::Semantics::Release;
  event::Scope scope = event::Scope::Cta;
};

const MbarrierArgs& args_of(const Op& op) {
  return *static_cast<const MbarrierArgs*>(op.extra);
}

uint32_t first_lane(uint32_t lanes) {
  return static_cast<uint32_t>(std::countr_zero(lanes));
}

/// The barrier that an address names; false after a fault.
bool find_place(Warp& w, const Address& a, uint32_t lane, uint64_t address, MbarrierPlace& place) {
  if ((address & 7) != 0) {
    w.fault(FaultKind::MisalignedAddress, "an mbarrier object that does not lie on a multiple of 8", lane,
            address, "barrier-misaligned");
    return false;
  }
  bool cluster = a.window == Window::SharedCluster;
  if (a.window == Window::Generic) {
    if (!is_shared_address(address)) {
      w.fault(FaultKind::InvalidAddressSpace, "an mbarrier object outside shared memory", lane, address);
      return false;
    }
    cluster = true;
  } else if (a.window != Window::Shared && !cluster) {
    w.fault(FaultKind::InvalidAddressSpace, "an mbarrier object outside shared memory", lane, address);
    return false;
  }
  const auto narrow = static_cast<uint32_t>(address);
  place.offset = narrow & kSharedOffsetMask;
  place.cta = w.cta;
  if (!cluster) return shared_pointer(w, lane, narrow, 8) != nullptr;
  if (w.worker().shared_owner(*w.cta, narrow) == nullptr) {
    w.fault(FaultKind::IllegalAddress,
            fmt::format("a signal to the mbarrier of rank {} of a cluster of {} CTAs",
                        narrow >> kSharedRankShift, w.cta->cluster->ctas.size()),
            lane, address, "multicast-mask-mismatch");
    return false;
  }
  return cluster_pointer(w, lane, narrow, 8, &place.cta) != nullptr;
}

/// Calls `f(lane, place)` for each lane, in lane order, until it returns false after a fault; equal
/// neighbouring addresses are looked up once.
template <class F>
bool for_places(Warp& w, const Address& a, uint32_t lanes, F&& f) {
  uint64_t addresses[kLanes];
  compute_addresses(w, a, lanes, addresses);
  MbarrierPlace place;
  uint64_t known = 1;  // no barrier has an odd address
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const uint32_t lane = first_lane(m);
    if (addresses[lane] != known) {
      if (!find_place(w, a, lane, addresses[lane], place)) return false;
      known = addresses[lane];
    }
    if (!f(lane, place)) return false;
  }
  return true;
}

/// Applies the change of one lane; false after a fault. `tells`: a listener is to hear of the completion.
bool apply(Warp& w, uint32_t lane, MbarrierPlace place, MbarrierChange change, bool tells,
           MbarrierResult& result) {
  event::Event agent;
  if (tells) agent = warp_event(w, event::Kind::MbarrierFlip, uint32_t{1} << lane);
  result = mbarrier_apply(w.worker(), place, change, agent);
  if (result.violation == MbarrierViolation::None) return true;
  w.fault(FaultKind::LaunchFailure, mbarrier_violation_text(result, change), lane,
          shared_event_address(*place.cta, place.offset));
  return false;
}

/// Phases completed, for lanes that look at one barrier after the other: looked up once for neighbours.
class Completed {
 public:
  uint64_t of(MbarrierPlace place) {
    if (place.cta != place_.cta || place.offset != place_.offset) {
      place_ = place;
      completed_ = mbarrier_completed(place);
    }
    return completed_;
  }
  /// A phase has completed since.
  void forget() { place_ = {}; }

 private:
  MbarrierPlace place_;
  uint64_t completed_ = 0;
};

/// Tells the listener about operations on barriers: one event for neighbouring lanes that do the same to one
/// barrier in one phase. Nothing is kept when nobody listens.
class Told {
 public:
  Told(Warp& w, event::Kind kind, const MbarrierArgs& a)
      : w_(w), sink_(listener_for(w.worker(), kind)), kind_(kind), a_(a) {}
  ~Told() { flush(); }
  Told(const Told&) = delete;
  Told& operator=(const Told&) = delete;

  void add(uint32_t lane, MbarrierPlace place, int64_t value, uint64_t phase) {
    if (sink_ == nullptr) return;
    if (lanes_ != 0 &&
        (place.cta != place_.cta || place.offset != place_.offset || value != value_ || phase != phase_))
      flush();
    place_ = place;
    value_ = value;
    phase_ = phase;
    lanes_ |= uint32_t{1} << lane;
  }

  /// Event::detail of what is added from now on.
  void set_detail(uint32_t detail) {
    if (detail != detail_) flush();
    detail_ = detail;
  }

  /// What has been added is told now, before what follows from it.
  void flush() {
    if (lanes_ == 0) return;
    event::Event e = warp_event(w_, kind_, lanes_);
    uint64_t addresses[kLanes] = {};
    for (uint32_t m = lanes_; m != 0; m &= m - 1)
      addresses[std::countr_zero(m)] = shared_event_address(*place_.cta, place_.offset);
    e.space = event::Space::Shared;
    e.semantics = a_.semantics;
    e.scope = a_.scope;
    e.bytes = 8;
    e.value = value_;
    e.phase = phase_;
    e.detail = detail_;
    e.addresses = addresses;
    lanes_ = 0;
    sink_->receive(e);
  }

 private:
  Warp& w_;
  event::Sink* sink_;
  event::Kind kind_;
  const MbarrierArgs& a_;
  MbarrierPlace place_;
  int64_t value_ = 0;
  uint64_t phase_ = 0;
  uint32_t lanes_ = 0;
  uint32_t detail_ = 0;
};

// --- init and inval -----------------------------------------------------------------------------------

Step init(Warp& w, const Op& op, uint32_t lanes) {
  const MbarrierArgs& a = args_of(op);
  const uint32_t* count = w.u32(a.value);
  Told told(w, event::Kind::MbarrierInit, a);
  const bool good = for_places(w, a.address, lanes, [&](uint32_t lane, MbarrierPlace place) {
    told.add(lane, place, count[lane], 0);
    mbarrier_init(place, count[lane]);
    // MODEL: who waits on the old barrier looks again.
    w.worker().wake(*place.cta, Wait::Mbarrier, place.offset);
    return true;
  });
  w.acted = true;
  return good ? Step::Next : Step::Fault;
}

Step inval(Warp& w, const Op& op, uint32_t lanes) {
  const MbarrierArgs& a = args_of(op);
  Told told(w, event::Kind::MbarrierInval, a);
  const bool good = for_places(w, a.address, lanes, [&](uint32_t lane, MbarrierPlace place) {
    told.add(lane, place, 0, mbarrier_completed(place));
    mbarrier_invalidate(place);
    return true;
  });
  w.acted = true;
  return good ? Step::Next : Step::Fault;
}

// --- arrivals and bytes -------------------------------------------------------------------------------

Step arrive(Warp& w, const Op& op, uint32_t lanes) {
  const MbarrierArgs& a = args_of(op);
  const uint32_t* value = w.u32(a.value);
  uint64_t* token = w.u64(a.result);
  Worker& worker = w.worker();
  Told expected(w, event::Kind::MbarrierExpectTx, a);
  Told arrived(w, event::Kind::MbarrierArrive, a);
  Completed completed;
  const bool good = for_places(w, a.address, lanes, [&](uint32_t lane, MbarrierPlace place) {
    MbarrierChange change;
    change.arrivals = a.expects ? 1 : value[lane];
    change.drop = a.drops ? change.arrivals : 0;
    change.expect = a.expects ? int64_t{value[lane]} : 0;
    arrived.set_detail(change.drop);
    bool tells = false;
    if (worker.listener() != nullptr) {
      const uint64_t phase = completed.of(place);
      if (a.expects) expected.add(lane, place, value[lane], phase);
      arrived.add(lane, place, change.arrivals, phase);
      tells = mbarrier_completes(place, change);
      if (tells) {
        expected.flush();
        arrived.flush();
        completed.forget();
      }
    }
    MbarrierResult result;
    if (!apply(w, lane, place, change, tells, result)) return false;
    if (a.wants_token) token[lane] = result.before;
    return true;
  });
  w.acted = true;
  return good ? Step::Next : Step::Fault;
}

/// expect_tx (small = 0) and complete_tx (small = 1) without an arrival.
Step change_tx(Warp& w, const Op& op, uint32_t lanes) {
  const MbarrierArgs& a = args_of(op);
  const bool completes = op.small != 0;
  const uint32_t* value = w.u32(a.value);
  Worker& worker = w.worker();
  Told told(w, completes ? event::Kind::MbarrierCompleteTx : event::Kind::MbarrierExpectTx, a);
  Completed completed;
  const bool good = for_places(w, a.address, lanes, [&](uint32_t lane, MbarrierPlace place) {
    const int64_t bytes = value[lane];
    const MbarrierChange change{.expect = completes ? -bytes : bytes};
    bool tells = false;
    if (worker.listener() != nullptr) {
      told.add(lane, place, bytes, completed.of(place));
      tells = mbarrier_completes(place, change);
      if (tells) {
        told.flush();
        completed.forget();
      }
    }
    MbarrierResult result;
    return apply(w, lane, place, change, tells, result);
  });
  w.acted = true;
  return good ? Step::Next : Step::Fault;
}

Step pending_count(Warp& w, const Op& op, uint32_t lanes) {
  const MbarrierArgs& a = args_of(op);
  const uint64_t* token = w.u64(a.value);
  uint32_t* result = w.u32(a.result);
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const uint32_t lane = first_lane(m);
    result[lane] = MbarrierWord::unpack(token[lane]).pending;
  }
  return Step::Next;
}

// --- waits --------------------------------------------------------------------------------------------

/// What the lanes of a wait found.
struct Looked {
  uint32_t done = 0;    ///< lanes whose phase has completed
  bool uniform = true;  ///< all lanes look at one barrier and parity
  MbarrierPlace place;  ///< of the first lane
  uint32_t parity = 0;
};

bool look(Warp& w, const MbarrierArgs& a, uint32_t lanes, Looked& found) {
  const uint32_t* parity = w.u32(a.value);
  const uint64_t* token = w.u64(a.value);
  bool first = true;
  Told told(w, event::Kind::MbarrierWait, a);
  Told pending(w, event::Kind::MbarrierPending, a);
  Completed completed;
  const bool listening = w.worker().listener() != nullptr;
  return for_places(w, a.address, lanes, [&](uint32_t lane, MbarrierPlace place) {
    const uint32_t p = a.by_state ? MbarrierWord::unpack(token[lane]).phase : parity[lane] & 1;
    if (first) {
      found.place = place;
      found.parity = p;
      first = false;
    } else if (place.offset != found.place.offset || place.cta != found.place.cta || p != found.parity) {
      found.uniform = false;
    }
    const int64_t told_parity = a.by_state ? p : parity[lane];
    if (!mbarrier_parity_done(mbarrier_load(place), p)) {
      if (listening) pending.add(lane, place, told_parity, completed.of(place));
      return true;
    }
    found.done |= uint32_t{1} << lane;
    // The phase that satisfied the wait; on a barrier that has completed none it is the one "before the
    // first", ~0.
    if (listening) told.add(lane, place, told_parity, completed.of(place) - 1);
    return true;
  });
}

void answer(Warp& w, const MbarrierArgs& a, uint32_t lanes, const Looked& found) {
  uint32_t& predicate = w.predicate(a.done);
  predicate = (predicate & ~lanes) | found.done;
  (found.done != lanes ? w.polled : w.passed) = true;
  w.splits[w.current].looked =
      found.done == lanes || !found.uniform ? kNoLook : found.place.offset | (found.parity & 1);
}

Step test_wait(Warp& w, const Op& op, uint32_t lanes) {
  const MbarrierArgs& a = args_of(op);
  Looked found;
  if (!look(w, a, lanes, found)) return Step::Fault;
  answer(w, a, lanes, found);
  return Step::Next;
}

/// Lanes whose phase completed while they were held, and another one after it: they were satisfied by the
/// former.
void tell_granted(Warp& w, const MbarrierArgs& a, uint32_t granted, const Looked& found) {
  Told told(w, event::Kind::MbarrierWait, a);
  for (uint32_t m = granted; m != 0; m &= m - 1) {
    told.add(first_lane(m), found.place, found.parity, mbarrier_completed(found.place) - 2);
  }
}

/// Holds the split until the phase completes or the time limit is over; then it looks again and answers. A
/// hasty one is not held.
Step try_wait(Warp& w, const Op& op, uint32_t lanes) {
  const MbarrierArgs& a = args_of(op);
  Looked found;
  Split& split = w.splits[w.current];
  if (!look(w, a, w.worker().attentive(w, lanes) | (split.granted & lanes), found)) return Step::Fault;
  const uint32_t granted = std::exchange(split.granted, 0) & lanes & ~found.done;
  if (granted != 0) tell_granted(w, a, granted, found);
  found.done |= granted;
  // A deadline that this very wait has set, in a round before, is still in the split.
  const bool again = split.deadline != 0 && split.key == found.place.offset && split.value == found.parity;
  const bool over = again && w.worker().clock_ns() >= split.deadline;
  // Lanes that wait for different things answer at once, as a GPU may.
  const bool waits = found.done == 0 && found.uniform && !over && found.place.cta == w.cta;
  // One that says how long it may be held is.
  if (waits && (again || a.has_hint || !w.worker().answers_at_once(op))) {
    uint64_t deadline = split.deadline;
    if (!again)
      deadline = w.worker().clock_ns() + (a.has_hint ? w.u32(a.hint)[first_lane(lanes)] : kTryWaitLimitNs);
    return w.block_until(Wait::Mbarrier, found.place.offset, found.parity, deadline);
  }
  split.deadline = 0;
  answer(w, a, lanes, found);
  return Step::Next;
}

// --- binding ------------------------------------------------------------------------------------------

Result<Address> bind_barrier_address(Binder& b, uint32_t operand) {
  return bind_memory_address(b, b.operand(operand), b.mods().space());
}

void note_order(Binder& b, MbarrierArgs& a, event::Semantics standard) {
  a.semantics = b.has(Mod::relaxed) ? event::Semantics::Relaxed : standard;
  a.scope = b.has(Mod::cluster) ? event::Scope::Cluster : event::Scope::Cta;
}

Result<Op> finish(Binder& b, Handler handler, MbarrierArgs a) {
  Op op = b.op(handler);
  op.extra = b.extra(std::move(a));
  return op;
}

Result<Op> bind_init(Binder& b) {
  MbarrierArgs a;
  Result<Address> address = bind_barrier_address(b, 0);
  if (!address) return address.error();
  a.address = *address;
  Result<Location> count = b.source(1, ScalarType::u32);
  if (!count) return count.error();
  a.value = *count;
  a.semantics = event::Semantics::Weak;
  return finish(b, init, a);
}

Result<Op> bind_inval(Binder& b) {
  MbarrierArgs a;
  Result<Address> address = bind_barrier_address(b, 0);
  if (!address) return address.error();
  a.address = *address;
  a.semantics = event::Semantics::Weak;
  return finish(b, inval, a);
}

Result<Op> bind_tx(Binder& b) {
  MbarrierArgs a;
  Result<Address> address = bind_barrier_address(b, 0);
  if (!address) return address.error();
  a.address = *address;
  Result<Location> bytes = b.source(1, ScalarType::u32);
  if (!bytes) return bytes.error();
  a.value = *bytes;
  note_order(b, a, event::Semantics::Relaxed);
  Result<Op> op = finish(b, change_tx, a);
  op->small = b.instruction().op == Opcode::mbarrier_complete_tx ? 1 : 0;
  return op;
}

/// arrive and arrive_drop. A form without a state operand has the address first.
Result<Op> bind_arrive(Binder& b) {
  MbarrierArgs a;
  const uint32_t at = b.operand(0).kind == Kind::Address ? 0 : 1;
  Result<Address> address = bind_barrier_address(b, at);
  if (!address) return address.error();
  a.address = *address;
  a.result = b.sink();
  if (at == 1 && b.is_register(b.operand(0))) {
    a.wants_token = true;
    a.result = b.destination(0);
  }
  a.expects = b.has(Mod::expect_tx);
  a.drops = b.instruction().op == Opcode::mbarrier_arrive_drop;
  if (b.count() > at + 1) {
    Result<Location> value = b.source(at + 1, ScalarType::u32);
    if (!value) return value.error();
    a.value = *value;
  } else {
    a.value = b.constant32(1);
  }
  note_order(b, a, event::Semantics::Release);
  return finish(b, arrive, a);
}

Result<Op> bind_pending_count(Binder& b) {
  MbarrierArgs a;
  a.result = b.destination(0);
  Result<Location> token = b.source(1, ScalarType::b64);
  if (!token) return token.error();
  a.value = *token;
  return finish(b, pending_count, a);
}

Result<Op> bind_wait(Binder& b) {
  MbarrierArgs a;
  a.done = b.predicate(0);
  Result<Address> address = bind_barrier_address(b, 1);
  if (!address) return address.error();
  a.address = *address;
  a.by_state = !b.has(Mod::parity);
  Result<Location> value = b.source(2, a.by_state ? ScalarType::b64 : ScalarType::u32);
  if (!value) return value.error();
  a.value = *value;
  if (b.count() > 3) {
    Result<Location> hint = b.source(3, ScalarType::u32);
    if (!hint) return hint.error();
    a.hint = *hint;
    a.has_hint = true;
  }
  note_order(b, a, event::Semantics::Acquire);
  return finish(b, b.instruction().op == Opcode::mbarrier_try_wait ? try_wait : test_wait, a);
}

constexpr BindRow kRows[] = {
    {Opcode::mbarrier_init, bind_init},
    {Opcode::mbarrier_inval, bind_inval},
    {Opcode::mbarrier_expect_tx, bind_tx},
    {Opcode::mbarrier_complete_tx, bind_tx},
    {Opcode::mbarrier_arrive, bind_arrive},
    {Opcode::mbarrier_arrive_drop, bind_arrive},
    {Opcode::mbarrier_test_wait, bind_wait},
    {Opcode::mbarrier_try_wait, bind_wait},
    {Opcode::mbarrier_pending_count, bind_pending_count},
};

}  // namespace

std::span<const BindRow> mbarrier_rows() {
  return kRows;
}

}  // namespace sluice::machine
