// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Phases: arrivals, bytes, completions and waits, and the rules that hold at each of these events.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/words.hpp"
#include "check/ledger.hpp"
#include "event/address.hpp"

namespace sluice::check {

using event::Event;
using event::OperationKind;

namespace {

constexpr int64_t kMostTx = (1 << 20) - 1;

bool reaches_cluster(const Event& e) {
  return e.scope >= event::Scope::Cluster;
}

}  // namespace

// --- arrivals -----------------------------------------------------------------------------------------

void Ledger::check_order(Barrier& b, const Event& e, WarpOrder& w, Strand& strand, uint32_t lanes) {
  if (b.arrivers.size() <= w.column) b.arrivers.resize(w.column + 1);
  b.arrivers[w.column] |= lanes;
  const uint64_t phase = b.phase;
  if (phase == 0) return;
  const auto known = [&](const Stamp& s) {
    return (s.agent == w.agent && (s.lanes & lanes) != 0) ||
           strand.known.order.covers_any(order_.agents(), s.agent, s.lanes, s.time);
  };
  const bool knows_all =
      b.last.copies.empty() && !b.last.arrivals.empty() &&
      std::all_of(b.last.arrivals.begin(), b.last.arrivals.end(), [&](const Contribution& c) {
        return order_.covers(w, strand, lanes, c.agent, c.lanes, c.time);
      });
  if (knows_all || std::any_of(b.waits.begin(), b.waits.end(), known)) return;
  const bool own = (lanes_of(b.last.arrivals, w.agent) & lanes) != 0;
  Finding f;
  f.name = own ? "missing-wait" : "over-arrival";
  f.headline =
      own ? fmt::format(
                "{} arrives on {} again, and nothing orders this after the end of the phase it arrived in",
                lanes_text(e.warp, lanes), name_of(b))
          : fmt::format(
                "an arrival on {} spills into the next phase: the {} arrivals of the phase before came "
                "from others",
                name_of(b), b.count);
  f.agent = agent_text(e);
  f.spots = {{e.origin, fmt::format("arrives in phase {}", phase)}};
  for (const Contribution& c : b.last.arrivals) {
    if (c.origin != e.origin && f.spots.size() < 3)
      f.spots.push_back({c.origin, "arrivals of the phase before"});
  }
  f.spots.push_back({b.init_origin, "initialised for " + counted(b.count, "arrival")});
  f.state = state_of(b);
  f.why = fmt::format(
      "nobody who is ordered before this arrival has waited for phase {}, so the arrival may as "
      "well count in that phase",
      phase - 1);
  f.help =
      own ? "wait for the phase before arriving again: check index and parity of the wait, and the place "
            "where the pipeline state advances or starts anew"
          : "make the count of the barrier the number of arrivals that one phase gets";
  findings_.add(std::move(f));
}

void Ledger::arrive(const Event& e) {
  Barrier* const b = required(e, "arrival");
  if (b == nullptr) return;
  check_visible(*b, e, "arrival");
  WarpOrder& w = order_.warp(e);
  const auto lanes_count = static_cast<int64_t>(std::popcount(e.lanes));
  const int64_t arrivals = e.value * lanes_count;
  b->now.arrived += static_cast<uint64_t>(arrivals);
  order_.for_strands(w, e.lanes, [&](Strand& strand, uint32_t lanes) {
    check_order(*b, e, w, strand, lanes);
    strand.touched = true;
    add_contribution(b->now.arrivals, e.origin, w.agent, lanes,
                     static_cast<uint64_t>(e.value * std::popcount(lanes)), strand.time);
    if (e.semantics == event::Semantics::Relaxed) return;
    order_.release(b->collecting, w, strand, lanes, b->cta, reaches_cluster(e));
  });
  if (b->pending < arrivals) {
    Finding f;
    f.name = "over-arrival";
    f.headline = fmt::format("{} arrives on {}, which expects no more arrivals in this phase",
                             lanes_text(e.warp, e.lanes), name_of(*b));
    f.agent = agent_text(e);
    f.spots = {{e.origin, fmt::format("arrival {} of {}", b->now.arrived, b->count)}};
    for (const Contribution& c : b->now.arrivals) {
      if (c.origin != e.origin) f.spots.push_back({c.origin, counted(c.amount, "arrival")});
    }
    f.spots.push_back({b->init_origin, "initialised for " + counted(b->count, "arrival")});
    f.state = state_of(*b);
    f.why =
        "all expected arrivals of the phase have been made; only bytes are still due, and the count runs "
        "below zero";
    f.help = "let only as many threads arrive as the barrier counts, or count them all";
    findings_.add(std::move(f));
  }
  b->pending -= arrivals;
  b->count -= uint64_t{e.detail} * static_cast<uint64_t>(lanes_count);
}

void Ledger::deferred_arrival(const Event& e) {
  Barrier* const b = required(e, "arrival of cp.async");
  const Order::Operation* const op = order_.find_operation(e.operation);
  if (b == nullptr || op == nullptr) return;
  add_contribution(b->now.arrivals, e.origin, 0, e.lanes, 1);
  ++b->now.arrived;
  order_.release(b->collecting, op->start, b->cta);
  const CtaOrder* const cta = order_.find_cta(op->cta);
  const AgentId copies = cta != nullptr && op->warp < cta->warps.size() ? cta->warps[op->warp].cp_async : 0;
  if (copies != 0) order_.raise(b->collecting.own.order, copies, op->lanes, static_cast<Time>(op->group + 1));
  b->pending -= 1;
}

void Ledger::expect(const Event& e) {
  Barrier* const b = required(e, "expect_tx");
  if (b == nullptr) return;
  check_visible(*b, e, "expect_tx");
  const int64_t bytes = e.value * std::popcount(e.lanes);
  add_contribution(b->now.expectations, e.origin, order_.warp(e).agent, e.lanes,
                   static_cast<uint64_t>(bytes));
  b->now.expected_bytes += static_cast<uint64_t>(bytes);
  b->tx += bytes;
  check_range(*b, e);
}

void Ledger::complete(const Event& e) {
  Barrier* const b = required(e, e.operation != 0 ? "completion of a copy" : "complete_tx");
  if (b == nullptr) return;
  const int64_t bytes = e.operation != 0 ? e.value : e.value * std::popcount(e.lanes);
  b->receives_bytes = true;
  b->now.brought_bytes += static_cast<uint64_t>(bytes);
  b->tx -= bytes;
  add_contribution(b->now.copies, e.origin, e.operation != 0 ? b->copies : order_.warp(e).agent, e.lanes,
                   static_cast<uint64_t>(bytes));
  if (const Order::Operation* const op = order_.find_operation(e.operation)) {
    b->now.peers_bring |= op->cta != b->cta;
    b->now.spilled |= e.operation == b->flipped_by;
    order_.release(b->collecting, op->start, b->cta);
    order_.raise(b->collecting.own, b->copies, kAllLanes, static_cast<Time>(b->phase + 1));
  } else if (e.operation == 0) {
    // MODEL: mbarrier.complete_tx stands for a copy, so whoever waits for it runs after the thread; the ISA
    // calls it relaxed.
    WarpOrder& w = order_.warp(e);
    order_.for_strands(w, e.lanes, [&](Strand& strand, uint32_t lanes) {
      strand.touched = true;
      order_.release(b->collecting, w, strand, lanes, b->cta, false);
    });
  }
  check_range(*b, e);
}

void Ledger::check_range(Barrier& b, const Event& e) {
  if (b.tx >= -kMostTx && b.tx <= kMostTx) return;
  findings_.add(
      {.name = "tx-bytes-exceed",
       .headline = fmt::format("the byte count of {} leaves its range: {} bytes due", name_of(b), b.tx),
       .agent = agent_text(e),
       .spots = {{e.origin, "here"}, {b.init_origin, "initialised here"}},
       .state = state_of(b),
       .why = fmt::format("the tx-count of an mbarrier lies between -{0} and {0}", kMostTx),
       .help = "let one phase expect less, for instance with one barrier per operand"});
}

void Ledger::flip(const Event& e) {
  Barrier* const b = required(e, "completion");
  if (b == nullptr) return;
  b->phase = e.phase + 1;
  b->flipped_by = e.operation;
  b->pending = static_cast<int64_t>(b->count);
  b->tx = 0;
  std::swap(b->last, b->now);
  b->now.clear();
  b->waits.clear();
  b->completed = b->collecting;
}

void Barrier::note_wait(uint32_t column, uint32_t lanes, int64_t stands_for) {
  if (wait_records.size() <= column) wait_records.resize(column + 1);
  std::vector<WaitRecord>& records = wait_records[column];
  const auto go_on = [&](WaitRecord& record) {
    if (stands_for > record.last + 1) {
      if (record.waits_each && (stands_for - record.last) % 2 != 0) {
        record.missed = record.last + 1;
        record.had_rhythm = record.last > record.first;
      }
      record.waits_each = false;
    }
    record.last = stands_for;
  };
  if (records.size() == 1 && records.front().lanes == lanes) return go_on(records.front());  // mostly
  uint32_t rest = lanes;
  const size_t count = records.size();
  for (size_t i = 0; i < count; ++i) {
    const uint32_t common = records[i].lanes & lanes;
    rest &= ~common;
    if (common == 0) continue;
    WaitRecord part = records[i];
    records[i].lanes &= ~common;
    part.lanes = common;
    go_on(part);
    records.push_back(part);
  }
  if (rest != 0) records.push_back({.lanes = rest, .first = stands_for, .last = stands_for, .missed = {}});
  std::erase_if(records, [](const WaitRecord& record) { return record.lanes == 0; });
}

void Ledger::wait(const Event& e) {
  Barrier* const b = required(e, "wait");
  if (b == nullptr) return;
  check_visible(*b, e, "wait");
  WarpOrder& w = order_.warp(e);
  add_contribution(b->waiters, e.origin, w.agent, e.lanes, 1);
  b->note_wait(w.column, e.lanes, static_cast<int64_t>(e.phase));
  if (e.value != 0 && e.value != 1) {
    findings_.add({.name = "phase-operand-invalid",
                   .level = report::Level::Warning,
                   .headline = fmt::format("a wait on {} with parity {}", name_of(*b), e.value),
                   .agent = agent_text(e),
                   .spots = {{e.origin, "parity is neither 0 nor 1"}},
                   .why = "the ISA defines parities 0 and 1 only; today's hardware looks at the lowest bit",
                   .help = "reduce the phase counter modulo 2"});
  }
  if (e.phase == ~uint64_t{0}) return;
  const bool late = e.phase + 1 < b->phase;
  if (late) {
    findings_.add(
        {.name = "phase-lapped",
         .headline = fmt::format("{} waits for phase {} of {}, and phase {} has completed meanwhile",
                                 lanes_text(e.warp, e.lanes), e.phase, name_of(*b), e.phase + 1),
         .agent = agent_text(e),
         .spots = {{e.origin, "this wait was lapped"},
                   {b->last.arrivals.empty() ? b->init_origin : b->last.arrivals.front().origin,
                    "an arrival of the phase that came too soon"},
                   {b->init_origin, "initialised here"}},
         .state = state_of(*b),
         .why = "a wait by parity tells a phase only from its neighbours: when the next phase completes "
                "before a thread has seen this one, the thread may wait for ever",
         .help = "let every thread that waits take part in what allows the next phase, or let one "
                 "thread wait and synchronise the others with it"});
  }
  order_.for_split(w, e.lanes, [&](Strand& strand) {
    order_.acquire(b->completed, strand, reaches_cluster(e));
    strand.touched = true;
    const Stamp stamp{w.agent, strand.lanes, strand.time};
    const auto same = std::find_if(b->waits.begin(), b->waits.end(), [&](const Stamp& s) {
      return s.agent == stamp.agent && s.time == stamp.time;
    });
    if (late) return;
    if (same != b->waits.end())
      same->lanes |= stamp.lanes;
    else
      b->waits.push_back(stamp);
  });
}

// --- operations ---------------------------------------------------------------------------------------

void Ledger::issue(const Event& e) {
  if (e.addresses.empty()) return;
  const auto kind = static_cast<OperationKind>(e.value);
  Barrier* const b = required(e, "asynchronous operation");
  if (kind == OperationKind::BulkToShared) {
    const AgentId agent = order_.warp(e).agent;
    if (std::find(copiers_.begin(), copiers_.end(), agent) == copiers_.end()) copiers_.push_back(agent);
  }
  if (b == nullptr) return;
  check_visible(*b, e, "asynchronous operation");
  for (uint32_t ranks = e.detail; ranks != 0; ranks &= ranks - 1) {
    const auto rank = static_cast<uint32_t>(std::countr_zero(ranks));
    Barrier* const target = find(order_.cta_of_rank(e.cta, rank), b->offset);
    if (target != nullptr && target != b) check_visible(*target, e, "multicast copy");
  }
  if (kind != OperationKind::DeferredArrival) return;
  b->pending += 1;
  ++b->now.raised;
}

Stamp Ledger::copy_stamp(const Order::Operation& op, uint64_t address) {
  const uint32_t rank = event::shared_rank(op.ranks != 0 && address != 0 ? address : op.signals);
  const Barrier* const b = find(order_.cta_of_rank(op.cta, rank), event::shared_offset(op.signals));
  if (b == nullptr) return {};
  return {b->copies, kAllLanes, static_cast<Time>(b->phase + 1)};
}

}  // namespace sluice::check
