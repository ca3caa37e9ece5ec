// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// From events to accesses, and the comparison with what came before.
#include "check/races.hpp"

#include <fmt/format.h>

#include <bit>

#include "event/address.hpp"

namespace sluice::check {

using event::Event;
using event::Kind;
using event::OperationKind;

namespace {

/// How many lanes from `first` on access neighbouring pieces of one granule, one behind the other.
uint32_t neighbours(const Event& e, uint32_t first, uint32_t lanes) {
  const uint64_t address = e.addresses[first];
  if (e.bytes >= kGranule || !std::has_single_bit(e.bytes) || address % e.bytes != 0) return 1;
  const auto room = static_cast<uint32_t>((kGranule - address % kGranule) / e.bytes);
  uint32_t count = 1;
  while (count < room && first + count < kLanes && (lanes >> (first + count) & 1) != 0 &&
         e.addresses[first + count] == address + uint64_t{count} * e.bytes)
    ++count;
  return count;
}

}  // namespace

void Races::begin_launch() {
  shared_.clear();
  global_.clear();
  remote_.clear();
  forgotten_ = 0;
  copied_from_.clear();
}

void Races::apply(const Event& e) {
  switch (e.kind) {
    case Kind::Read:
    case Kind::Write:
    case Kind::Atomic:
      return thread_access(e);
    case Kind::AsyncRead:
    case Kind::AsyncWrite:
      return operation_access(e);
    case Kind::HeapFree:
      return free_block(e);
    case Kind::MbarrierArrive:
      return note_signal(e);
    case Kind::CtaEnd:
      return end_cta(e);
    default:
      return;
  }
}

// --- accesses -----------------------------------------------------------------------------------------

void Races::thread_access(const Event& e) {
  if (e.space == event::Space::Local || e.space == event::Space::Param || e.bytes == 0) return;
  Access access;
  access.event = &e;
  access.warp = &order_.warp(e);
  access.record.origin = e.origin;
  if (e.kind != Kind::Read) access.record.flags |= Record::kWrite;
  if (e.kind == Kind::Atomic || e.semantics != event::Semantics::Weak) {
    access.record.flags |= Record::kStrong;
    if (!order_.reaches_ctas(e.scope)) access.record.flags |= Record::kNarrow;
  }
  order_.for_strands(*access.warp, e.lanes, [&](Strand& strand, uint32_t lanes) {
    strand.touched = true;
    access.strand = &strand;
    for (uint32_t rest = lanes; rest != 0;) {
      const auto first = static_cast<uint32_t>(std::countr_zero(rest));
      const uint64_t address = e.addresses[first];
      const uint32_t pieces = neighbours(e, first, rest);
      if (pieces > 1) {
        const uint32_t together = ((uint32_t{1} << pieces) - 1) << first;
        rest &= ~together;
        if (event::is_local_address(address)) continue;
        access.lanes = together;
        access.record.stamp = {access.warp->agent, together, strand.time};
        access.record.ramp = Ramp(first, static_cast<uint32_t>(address % kGranule),
                                  static_cast<uint32_t>(std::countr_zero(e.bytes)));
        touch(access, address, uint64_t{pieces} * e.bytes);
        access.record.ramp = {};
        continue;
      }
      uint32_t same = 0;
      for (uint32_t m = rest; m != 0; m &= m - 1) {
        const auto lane = static_cast<uint32_t>(std::countr_zero(m));
        if (e.addresses[lane] != address) {
          if (same == (uint32_t{1} << first)) break;  // mostly all lanes differ, or none
          continue;
        }
        same |= uint32_t{1} << lane;
      }
      rest &= ~same;
      if (event::is_local_address(address)) continue;
      access.lanes = same;
      access.record.stamp = {access.warp->agent, same, strand.time};
      const bool differ = e.kind == Kind::Write && (same & ~(uint32_t{1} << first) & ~e.detail) != 0;
      if (differ && !access.record.is_strong()) report_lanes(access, address);
      touch(access, address, e.bytes);
    }
  });
}

void Races::operation_access(const Event& e) {
  const Order::Operation* const op = order_.find_operation(e.operation);
  if (op == nullptr) return;
  Access access;
  access.event = &e;
  access.start = &op->start;
  access.lanes = op->lanes;
  access.record.origin = e.origin;
  const bool writes = e.kind == Kind::AsyncWrite;
  if (writes) access.record.flags |= Record::kWrite;
  if (e.proxy == event::Proxy::Async) access.record.flags |= Record::kAsync;
  if (writes && e.semantics != event::Semantics::Weak) access.record.flags |= Record::kStrong;
  const uint64_t address = e.addresses[0];
  const CtaOrder* const cta = order_.find_cta(op->cta);
  const WarpOrder* const warp =
      cta != nullptr && op->warp < cta->warps.size() ? &cta->warps[op->warp] : nullptr;
  const auto group = static_cast<Time>(op->group + 1);
  switch (op->kind) {
    case OperationKind::CpAsync:
      access.repeats_copy = repeats_copy(e, address);
      access.record.stamp = {warp != nullptr ? warp->cp_async : 0, op->lanes, group};
      break;
    case OperationKind::BulkToGlobal:
      access.record.stamp = {warp == nullptr ? 0
                             : writes        ? warp->bulk_writes
                                             : warp->bulk_reads,
                             op->lanes, group};
      break;
    case OperationKind::Wgmma:
      if (cta == nullptr || cta->warpgroups.size() <= op->warp / 4) return;
      access.record.stamp = {cta->warpgroups[op->warp / 4].agent, kAllLanes, group};
      break;
    default:
      access.record.stamp =
          ledger_.copy_stamp(*op, event::is_shared_address(address) && writes ? address : 0);
      break;
  }
  if (access.record.stamp.agent == 0) return;
  touch(access, address, e.bytes);
}

/// Whether this step of a cp.async writes what the one before it has written to the same place.
bool Races::repeats_copy(const Event& e, uint64_t address) {
  if (e.kind == Kind::AsyncRead) {
    last_reader_ = e.operation;
    last_read_ = {address, e.bytes};
    return false;
  }
  const SharedPlace to = order_.place(e.cta, address);
  const Source from = last_reader_ == e.operation ? last_read_ : Source{};
  const auto [last, is_first] = copied_from_[to.cta].try_emplace(to.offset, from);
  if (is_first) return false;
  const bool same = last->second == from;
  last->second = from;
  return same;
}

/// What has been done to the block must be ordered before.
void Races::free_block(const Event& e) {
  Access access;
  access.event = &e;
  access.warp = &order_.warp(e);
  access.lanes = e.lanes;
  access.record.origin = e.origin;
  access.record.flags = Record::kWrite;
  const auto bytes = static_cast<uint64_t>(e.value);
  order_.for_strands(*access.warp, e.lanes, [&](Strand& strand, uint32_t) {
    access.strand = &strand;
    access.record.stamp = {access.warp->agent, e.lanes, strand.time};
    global_.for_touched(e.address(), bytes, [&](const Granule& granule, uint16_t mask, uint64_t at) {
      compare(access, granule, mask, at);
    });
  });
  global_.for_touched(e.address(), bytes, [](Granule& granule, uint16_t, uint64_t) { granule = Granule(); });
}

void Races::touch(Access& access, uint64_t address, uint64_t bytes) {
  const Event& e = *access.event;
  uint64_t key = address;
  access.shared = event::is_shared_address(address);
  if (access.shared) {
    const SharedPlace place = order_.place(e.cta, address);
    if (place.cta == event::kNoIndex) return;
    if (const Barrier* const b = ledger_.overlapping(place.cta, place.offset, bytes)) {
      if (!access.record.ramp.is_none())
        return for_pieces(access, address, bytes,
                          [&](Access& piece, uint64_t at, uint64_t width) { touch(piece, at, width); });
      if (access.record.writes()) overwritten_barrier(e, *b);
      if (access.start == nullptr) return;
    }
    if (place.cta != e.cta) note_remote(access, place.cta);
    key = place.key();
  }
  Shadow& shadow = access.shared ? shared_ : global_;
  // What many granules share is compared once, and goes on being shared.
  Granule before, after;
  uint16_t mask_before = 0;
  shadow.for_granules(key, bytes, [&](Granule& granule, uint16_t mask, uint64_t at) {
    if (mask == mask_before && granule == before) {
      granule = after;
      return;
    }
    compare(access, granule, mask, address + (at - key));
    const bool others_follow = key + bytes - at > kGranule;
    if (others_follow) before = granule;
    Record record = access.record;
    record.bytes = mask;
    const uint32_t most = access.shared ? Granule::kMostRecords : global_.most_records();
    const uint32_t forgotten = granule.remember(record, most);
    if (most == Granule::kFewRecords) forgotten_ += forgotten;
    if (!others_follow) return;
    after = granule;
    mask_before = mask;
  });
}

/// Calls `f(access, address, bytes)` for the piece of each lane of a ramp.
template <class F>
void Races::for_pieces(Access& access, uint64_t address, uint64_t bytes, F&& f) {
  Access piece = access;
  piece.record.ramp = {};
  const uint32_t width = access.record.ramp.piece_bytes();
  for (uint64_t at = address; at < address + bytes; at += width) {
    piece.lanes = uint32_t{1} << access.record.ramp.lane(static_cast<uint32_t>(at % kGranule));
    piece.record.stamp.lanes = piece.lanes;
    f(piece, at, width);
  }
  access.reported = piece.reported;
}

/// Compares with what the granule remembers of these bytes, the first of which has the address.
void Races::compare(Access& access, const Granule& granule, uint16_t bytes, uint64_t address) {
  access.granule = &granule;
  granule.for_overlapping(bytes, [&](const Record& older) {
    if (access.reported || !(access.record.writes() || older.writes())) return;
    const Ramp ramp = access.record.ramp;
    if (ramp.is_none()) return compare(access, older, address);
    const bool by_same_lanes = older.stamp.agent == access.warp->agent && older.ramp == ramp;
    if (by_same_lanes) return;
    // Lanes of other warps stand for themselves, whichever lane comes now.
    if (!access.warp->has_issued(older.stamp.agent) && judge(access, older) == Verdict::Right) return;
    const auto first = static_cast<uint32_t>(std::countr_zero(bytes));
    for_pieces(access, address, std::popcount(bytes), [&](Access& piece, uint64_t at, uint64_t width) {
      const auto mask = ((uint32_t{1} << width) - 1) << (first + (at - address));
      const auto common = static_cast<uint16_t>(older.bytes & mask);
      if (common == 0 || piece.reported) return;
      Record part = older;
      part.stamp.lanes = older.lanes_at(common);
      compare(piece, part, at);
    });
  });
}

bool Races::ordered(const Access& access, const Record& older) const {
  const Stamp& s = older.stamp;
  if (access.start != nullptr) return access.start->covers(order_.agents(), s.agent, s.lanes, s.time);
  return order_.covers(*access.warp, *access.strand, access.lanes, s.agent, s.lanes, s.time);
}

/// What a thread's own atomic has come after stays before it, since one location has one order of its
/// atomics. And two writes of the same, whichever comes last: lanes of one instruction that issue the same
/// bulk store, copies of the same, or stores of threads that change nothing.
bool Races::is_harmless(const Access& access, const Record& older) const {
  if (older.is_strong() && access.start == nullptr &&
      access.granule->comes_before(older, access.record.stamp.agent, access.lanes))
    return true;
  if (!access.record.writes() || !older.writes()) return false;
  switch (order_.agent(access.record.stamp.agent).kind) {
    case AgentKind::BulkWrites:
      return older.stamp.agent == access.record.stamp.agent && older.stamp.time == access.record.stamp.time &&
             older.origin == access.record.origin;
    case AgentKind::CpAsync:
      return access.repeats_copy && order_.agent(older.stamp.agent).kind == AgentKind::CpAsync &&
             older.origin == access.record.origin;
    case AgentKind::Warp:
      return access.event->kind == Kind::Write && !older.is_async() &&
             (access.lanes & ~access.event->detail) == 0;
    default:
      return false;
  }
}

Races::Verdict Races::judge(const Access& access, const Record& older) const {
  if (access.record.is_strong() && older.is_strong()) {
    const bool narrow = (access.record.is_narrow() || older.is_narrow()) &&
                        order_.agent(older.stamp.agent).cta != access.event->cta;
    return narrow && !ordered(access, older) ? Verdict::AtomicWithinCta : Verdict::Right;
  }
  const AgentKind kind = order_.agent(older.stamp.agent).kind;
  if (!ordered(access, older)) {
    return is_harmless(access, older) ? Verdict::Right : Verdict::NotOrdered;
  }
  const bool generic = older.writes() && !older.is_async();
  if (!generic) return Verdict::Right;
  const auto known_in = [&](const Clock& clock) {
    return clock.covers(order_.agents(), older.stamp.agent, older.stamp.lanes, older.stamp.time);
  };
  if (access.record.is_async())
    return known_in(access.start->base->fenced) ? Verdict::Right : Verdict::NotFenced;
  if (!order_.follows_scopes() || kind != AgentKind::Warp || access.start != nullptr ||
      access.record.writes() || order_.agent(older.stamp.agent).cta == access.event->cta)
    return Verdict::Right;
  return known_in(access.strand->known.wide) ? Verdict::Right : Verdict::ScopeTooNarrow;
}

void Races::compare(Access& access, const Record& older, uint64_t address) {
  switch (judge(access, older)) {
    case Verdict::Right:
      return;
    case Verdict::NotOrdered:
      return report_race(access, older, address);
    case Verdict::NotFenced:
      return report_fence(access, older, address);
    case Verdict::ScopeTooNarrow:
      return report_scope(access, older, address);
    case Verdict::AtomicWithinCta:
      return report_narrow_atomics(access, older, address);
  }
}

// --- the end of a CTA ---------------------------------------------------------------------------------

void Races::note_remote(const Access& access, uint32_t cta) {
  if (access.start != nullptr) return;  // copies are waited for at the barrier that they signal
  if (remember_remote(access, cta)) check_started(access, cta);
}

/// True for the first one of the warp.
bool Races::remember_remote(const Access& access, uint32_t cta) {
  const auto [known, is_first] = remote_[cta].try_emplace(access.record.stamp.agent);
  Record& last = known->second;
  if (last.stamp.time != access.record.stamp.time) last.stamp.lanes = 0;
  const uint32_t lanes = last.stamp.lanes | access.record.stamp.lanes;
  last = access.record;
  last.stamp.lanes = lanes;
  return is_first;
}

/// An arrival at a barrier of another CTA, which must not end before. One that hands nothing over cannot be
/// known there by its order.
void Races::note_signal(const Event& e) {
  const uint32_t cta = order_.place(e.cta, e.address()).cta;
  if (cta == e.cta || cta == event::kNoIndex || e.operation != 0 || e.semantics == event::Semantics::Relaxed)
    return;
  Access access;
  access.event = &e;
  access.warp = &order_.warp(e);
  access.record.origin = e.origin;
  access.record.flags = Record::kWrite;
  order_.for_strands(*access.warp, e.lanes, [&](Strand& strand, uint32_t lanes) {
    access.strand = &strand;
    access.record.stamp = {access.warp->agent, lanes, strand.time};
    remember_remote(access, cta);
  });
}

/// Threads of a CTA know that another one of the cluster has started once one of its threads is known.
void Races::check_started(const Access& access, uint32_t cta) {
  const CtaOrder* const other = order_.find_cta(cta);
  if (other == nullptr || other->ended) return;
  const Clock& known = access.strand->known.control;
  for (const WarpOrder& warp : other->warps)
    if (known.covers_any(order_.agents(), warp.agent, kAllLanes, 1)) return;
  findings_.add(
      {.name = "cluster-exit-early",
       .headline = fmt::format("cta {} accesses shared memory of cta {}, which may not have started yet",
                               access.event->cta, cta),
       .agent = fmt::format("cta {}", access.event->cta),
       .spots = {{access.record.origin, "(1) " + who(access.record)}},
       .why = "a CTA's shared memory is there only once the CTA runs, and the CTAs of a cluster start at "
              "different times",
       .help = "let all threads of the cluster meet at barrier.cluster before the first access to another "
               "CTA's shared memory"});
}

void Races::end_cta(const Event& e) {
  const auto found = remote_.find(e.cta);
  const CtaOrder* const cta = order_.find_cta(e.cta);
  if (cta == nullptr) return;
  shared_.forget(SharedPlace{e.cta, 0}.key(), cta->shared_bytes);
  copied_from_.erase(e.cta);
  if (found == remote_.end()) return;
  for (const auto& [agent, record] : found->second) {
    if (cta->at_exit.covers(order_.agents(), agent, record.stamp.lanes, record.stamp.time)) continue;
    const Agent& other = order_.agent(agent);
    findings_.add(
        {.name = "cluster-exit-early",
         .headline =
             fmt::format("cta {} may end while cta {} still accesses its shared memory", e.cta, other.cta),
         .agent = fmt::format("cta {}", e.cta),
         .spots = {{record.origin, fmt::format("access by cta {} {}", other.cta,
                                               lanes_text(other.index, record.stamp.lanes))},
                   {e.origin, "the CTA ends here"}},
         .why = "the shared memory of a CTA exists until its last thread ends, and nothing orders this "
                "end after the access",
         .help = "let all threads of the cluster meet at barrier.cluster after the last access to "
                 "another CTA's shared memory"});
  }
  remote_.erase(found);
}

}  // namespace sluice::check
