// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What lanes of a warp do together: shfl, vote, match, redux, elect, activemask, bar.warp.sync. Each waits
// until the lanes of its member mask have come to the same instruction. PTX ISA, "shfl.sync", "vote.sync",
// "match.sync", "redux.sync", "elect.sync", "activemask", "bar.warp.sync".
#include <bit>

#include "machine/bind.hpp"
#include "machine/ops/access.hpp"
#include "machine/ops/lanes.hpp"
#include "machine/state.hpp"

namespace sluice::machine {
namespace {

using Kind = ptx::Operand::Kind;
using ptx::Mod;
using ptx::Opcode;
using ptx::ScalarType;

/// Does its work for lanes that are together.
using Body = void (*)(Warp& w, const Op& op, uint32_t lanes);

/// A collective instruction whose member mask lies at `op.e`: waits until the lanes of every mask given here
/// are together, then does the work for each group of lanes with one mask (tiles of a warp execute it side by
/// side).
template <Body kBody>
Step collective(Warp& w, const Op& op, uint32_t lanes) {
  const uint32_t* masks = w.u32(op.e);
  uint32_t needed = 0;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    if ((masks[lane] >> lane & 1) == 0) {
      return w.fault(FaultKind::IllegalInstruction,
                     "a lane executes a collective instruction whose member mask leaves it out", lane, 0,
                     "divergent-collective");
    }
    needed |= masks[lane];
  }
  if (const Step s = w.rendezvous(needed); s != Step::Next) return s;
  for (uint32_t rest = lanes; rest != 0;) {
    const uint32_t mask = masks[std::countr_zero(rest)];
    uint32_t group = 0;
    for (uint32_t m = rest; m != 0; m &= m - 1) {
      const auto lane = static_cast<uint32_t>(std::countr_zero(m));
      if (masks[lane] == mask) group |= 1u << lane;
    }
    kBody(w, op, group);
    rest &= ~group;
  }
  return Step::Next;
}

/// The old forms without a mask: the lanes that are here.
template <Body kBody>
Step uncollected(Warp& w, const Op& op, uint32_t lanes) {
  kBody(w, op, lanes);
  return Step::Next;
}

template <Body kBody>
Handler pick(bool together) {
  return together ? collective<kBody> : uncollected<kBody>;
}

void emit_sync(Warp& w, uint32_t lanes) {
  if (w.worker().listener() == nullptr) return;
  uint64_t none[kLanes] = {};
  emit_access(w, event::Kind::WarpSync, Window::Global, lanes, none, 0, event::Semantics::Weak,
              event::Scope::Warp);
}

// --- shfl
// -----------------------------------------------------------------------------------------------------------------

enum class Shuffle : uint32_t { Up, Down, Butterfly, Index };

template <Shuffle kMode>
void shuffle(Warp& w, const Op& op, uint32_t lanes) {
  const uint32_t* a = w.u32(op.a);
  const uint32_t* b = w.u32(op.b);
  const uint32_t* c = w.u32(op.c);
  uint32_t value[kLanes];
  uint32_t in_range = 0;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const uint32_t step = b[lane] & 31;
    const uint32_t clamp = c[lane] & 31;
    const uint32_t segment = (c[lane] >> 8) & 31;
    const int last = static_cast<int>((static_cast<uint32_t>(lane) & segment) | (clamp & ~segment));
    const int first = static_cast<int>(static_cast<uint32_t>(lane) & segment);
    int from = lane;
    bool in = false;
    switch (kMode) {
      case Shuffle::Up:
        from = lane - static_cast<int>(step);
        in = from >= last;
        break;
      case Shuffle::Down:
        from = lane + static_cast<int>(step);
        in = from <= last;
        break;
      case Shuffle::Butterfly:
        from = lane ^ static_cast<int>(step);
        in = from <= last;
        break;
      case Shuffle::Index:
        from = first | static_cast<int>(step & ~segment & 31);
        in = from <= last;
        break;
    }
    if (!in) from = lane;
    if (in) in_range |= 1u << lane;
    value[lane] = a[from & 31];
  }
  uint32_t* d = w.u32(op.d);
  for (uint32_t m = lanes; m != 0; m &= m - 1) d[std::countr_zero(m)] = value[std::countr_zero(m)];
  uint32_t& p = w.predicate(op.small);
  p = (p & ~lanes) | in_range;
  emit_sync(w, lanes);
}

Result<Op> bind_shuffle(Binder& b) {
  Op op;
  const bool together = b.instruction().op == Opcode::shfl_sync;
  if (b.has(Mod::up))
    op = b.op(pick<shuffle<Shuffle::Up>>(together));
  else if (b.has(Mod::down))
    op = b.op(pick<shuffle<Shuffle::Down>>(together));
  else if (b.has(Mod::bfly))
    op = b.op(pick<shuffle<Shuffle::Butterfly>>(together));
  else
    op = b.op(pick<shuffle<Shuffle::Index>>(together));
  const ptx::Operand& d = b.operand(0);
  op.small = kSinkPredicate;
  if (d.kind == Kind::Pair) {
    op.d = b.destination(b.parts(d)[0]);
    op.small = b.predicate(b.parts(d)[1]);
  } else {
    op.d = b.destination(d);
  }
  Result<Location> from[4] = {
      b.source(1, ScalarType::b32), b.source(2, ScalarType::b32), b.source(3, ScalarType::b32),
      b.count() > 4 ? b.source(4, ScalarType::b32) : Result<Location>(b.constant32(kAllLanes))};
  for (const auto& f : from) {
    if (!f) return f.error();
  }
  op.a = *from[0];
  op.b = *from[1];
  op.c = *from[2];
  op.e = *from[3];
  return op;
}

// --- vote
// -----------------------------------------------------------------------------------------------------------------

enum class Vote : uint32_t { All, Any, Uniform, Ballot };

template <Vote kMode>
void vote(Warp& w, const Op& op, uint32_t lanes) {
  const uint32_t holds = ((op.b != 0 ? op.c : w.predicate(op.a)) ^ op.small) & lanes;
  if constexpr (kMode == Vote::Ballot) {
    uint32_t* d = w.u32(op.d);
    for_lanes(lanes, [&](int i) { d[i] = holds; });
  } else {
    const bool result = kMode == Vote::All   ? holds == lanes
                        : kMode == Vote::Any ? holds != 0
                                             : holds == lanes || holds == 0;
    uint32_t& d = w.predicate(op.d);
    d = (d & ~lanes) | (result ? lanes : 0);
  }
  emit_sync(w, lanes);
}

Result<Op> bind_vote(Binder& b) {
  const bool ballot = b.has(Mod::ballot);
  const bool together = b.instruction().op == Opcode::vote_sync;
  Op op = b.op(b.has(Mod::all)   ? pick<vote<Vote::All>>(together)
               : b.has(Mod::any) ? pick<vote<Vote::Any>>(together)
               : b.has(Mod::uni) ? pick<vote<Vote::Uniform>>(together)
                                 : pick<vote<Vote::Ballot>>(together));
  op.d = ballot ? b.destination(0) : b.predicate(0);
  const ptx::Operand& from = b.operand(1);
  if (b.is_immediate(from)) {
    op.b = 1;
    op.c = from.value != 0 ? kAllLanes : 0;
  } else {
    op.a = b.predicate(from);
  }
  op.small = from.negate ? kAllLanes : 0;
  if (together) {
    Result<Location> mask = b.source(2, ScalarType::b32);
    if (!mask) return mask.error();
    op.e = *mask;
  }
  return op;
}

// --- match, redux
// ---------------------------------------------------------------------------------------------------------

template <class T, bool kAll>
void match(Warp& w, const Op& op, uint32_t lanes) {
  const T* a = w.at<T>(op.a);
  uint32_t result[kLanes] = {};
  bool all_equal = true;
  const T first = a[std::countr_zero(lanes)];
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    all_equal &= a[i] == first;
    for (uint32_t n = lanes; n != 0; n &= n - 1) {
      const int j = std::countr_zero(n);
      if (a[i] == a[j]) result[i] |= 1u << j;
    }
  }
  uint32_t* d = w.u32(op.d);
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    d[i] = kAll ? (all_equal ? lanes : 0) : result[i];
  }
  if constexpr (kAll) {
    uint32_t& p = w.predicate(op.small);
    p = (p & ~lanes) | (all_equal ? lanes : 0);
  }
  emit_sync(w, lanes);
}

Result<Op> bind_match(Binder& b) {
  const bool all = b.instruction().op == Opcode::match_all_sync;
  const ScalarType type = b.type();
  const bool wide = ptx::size_of(type) == 8;
  Op op = b.op(all ? (wide ? collective<match<uint64_t, true>> : collective<match<uint32_t, true>>)
                   : (wide ? collective<match<uint64_t, false>> : collective<match<uint32_t, false>>));
  const ptx::Operand& d = b.operand(0);
  op.small = kSinkPredicate;
  if (d.kind == Kind::Pair) {
    op.d = b.destination(b.parts(d)[0]);
    op.small = b.predicate(b.parts(d)[1]);
  } else {
    op.d = b.destination(d);
  }
  Result<Location> a = b.source(1, type);
  Result<Location> mask = b.source(2, ScalarType::b32);
  if (!a) return a.error();
  if (!mask) return mask.error();
  op.a = *a;
  op.e = *mask;
  return op;
}

enum class Reduce : uint32_t { Add, Min, Max, And, Or, Xor };

template <Reduce kMode, bool kSigned>
void reduce(Warp& w, const Op& op, uint32_t lanes) {
  const uint32_t* a = w.u32(op.a);
  uint32_t sum = a[std::countr_zero(lanes)];
  for (uint32_t m = lanes & (lanes - 1); m != 0; m &= m - 1) {
    const uint32_t x = a[std::countr_zero(m)];
    const bool less = kSigned ? static_cast<int32_t>(x) < static_cast<int32_t>(sum) : x < sum;
    switch (kMode) {
      case Reduce::Add:
        sum += x;
        break;
      case Reduce::Min:
        sum = less ? x : sum;
        break;
      case Reduce::Max:
        sum = less ? sum : x;
        break;
      case Reduce::And:
        sum &= x;
        break;
      case Reduce::Or:
        sum |= x;
        break;
      case Reduce::Xor:
        sum ^= x;
        break;
    }
  }
  uint32_t* d = w.u32(op.d);
  for_lanes(lanes, [&](int i) { d[i] = sum; });
  emit_sync(w, lanes);
}

Result<Op> bind_reduce(Binder& b) {
  const bool is_signed = b.type() == ScalarType::s32;
  if (b.type() == ScalarType::f32) return b.unsupported("redux on f32, which sm_90a does not have");
  Handler handler;
  if (b.has(Mod::add))
    handler = collective<reduce<Reduce::Add, false>>;
  else if (b.has(Mod::min))
    handler = is_signed ? collective<reduce<Reduce::Min, true>> : collective<reduce<Reduce::Min, false>>;
  else if (b.has(Mod::max))
    handler = is_signed ? collective<reduce<Reduce::Max, true>> : collective<reduce<Reduce::Max, false>>;
  else if (b.has(Mod::and_))
    handler = collective<reduce<Reduce::And, false>>;
  else if (b.has(Mod::or_))
    handler = collective<reduce<Reduce::Or, false>>;
  else
    handler = collective<reduce<Reduce::Xor, false>>;
  Result<Location> a = b.source(1, ScalarType::b32);
  Result<Location> mask = b.source(2, ScalarType::b32);
  if (!a) return a.error();
  if (!mask) return mask.error();
  Op op = b.op(handler);
  op.d = b.destination(0);
  op.a = *a;
  op.e = *mask;
  return op;
}

// --- elect, activemask, bar.warp.sync
// ---------------------------------------------------------------------------------------

/// MODEL: the leader is the lowest lane of the mask, as on an H200; the ISA leaves the choice open.
void elect(Warp& w, const Op& op, uint32_t lanes) {
  const auto leader = static_cast<uint32_t>(std::countr_zero(lanes));
  uint32_t* d = w.u32(op.d);
  for_lanes(lanes, [&](int i) { d[i] = leader; });
  uint32_t& p = w.predicate(op.small);
  p = (p & ~lanes) | (1u << leader);
  emit_sync(w, lanes);
}

Result<Op> bind_elect(Binder& b) {
  const ptx::Operand& d = b.operand(0);
  if (d.kind != Kind::Pair) return b.unsupported("elect without its predicate");
  Result<Location> mask = b.source(1, ScalarType::b32);
  if (!mask) return mask.error();
  Op op = b.op(collective<elect>);
  op.d = b.destination(b.parts(d)[0]);
  op.small = b.predicate(b.parts(d)[1]);
  op.e = *mask;
  return op;
}

Step active_mask(Warp& w, const Op& op, uint32_t lanes) {
  uint32_t* d = w.u32(op.d);
  for_lanes(lanes, [&](int i) { d[i] = lanes; });
  return Step::Next;
}

Result<Op> bind_active_mask(Binder& b) {
  Op op = b.op(active_mask);
  op.d = b.destination(0);
  return op;
}

/// Lanes may come from different places: those that have come are remembered by their parked splits, and the
/// last one lets them all go on.
Step warp_sync(Warp& w, const Op& op, uint32_t lanes) {
  const uint32_t* masks = w.u32(op.a);
  const auto first = static_cast<uint32_t>(std::countr_zero(lanes));
  const uint32_t mask = masks[first];
  if ((mask >> first & 1) == 0) {
    return w.fault(FaultKind::IllegalInstruction,
                   "a lane executes bar.warp.sync with a member mask that leaves it out", first, 0,
                   "divergent-collective");
  }
  uint32_t same = 0;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    if (masks[std::countr_zero(m)] == mask) same |= 1u << std::countr_zero(m);
  }
  // Lanes with another mask (another tile of the warp) come to this instruction again.
  if (same != lanes) return w.worker().separate(w, same);
  const uint32_t needed = mask & w.live;
  uint32_t here = w.active;
  for (const Split& split : w.splits) {
    if (split.wait == Wait::WarpSync && split.value == mask) here |= split.lanes;
  }
  if ((here & needed) != needed) return w.park(Wait::WarpSync, w.index, mask);
  for (Split& split : w.splits) {
    if (split.wait == Wait::WarpSync && split.value == mask) {
      split.wait = Wait::None;
      split.advance = false;
      ++split.pc;
    }
  }
  emit_sync(w, here & mask);
  if (w.splits.size() == 1) return Step::Next;
  ++w.pc;
  return Step::Jumped;
}

Result<Op> bind_warp_sync(Binder& b) {
  Result<Location> mask = b.source(0, ScalarType::b32);
  if (!mask) return mask.error();
  Op op = b.op(warp_sync);
  op.a = *mask;
  return op;
}

constexpr BindRow kRows[] = {
    {Opcode::shfl, bind_shuffle},
    {Opcode::shfl_sync, bind_shuffle},
    {Opcode::vote, bind_vote},
    {Opcode::vote_sync, bind_vote},
    {Opcode::match_any_sync, bind_match},
    {Opcode::match_all_sync, bind_match},
    {Opcode::redux_sync, bind_reduce},
    {Opcode::elect_sync, bind_elect},
    {Opcode::activemask, bind_active_mask},
    {Opcode::bar_warp_sync, bind_warp_sync},
};

}  // namespace

std::span<const BindRow> warp_rows() {
  return kRows;
}

}  // namespace sluice::machine
