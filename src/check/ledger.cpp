// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The life of barriers: from init to the end of the CTA, and whether their init is visible.
#include "check/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sluice::check {

using event::Event;
using event::Kind;

namespace {

constexpr int64_t kMostArrivals = (1 << 20) - 1;

}  // namespace

void add_contribution(std::vector<Contribution>& list, uint32_t origin, AgentId agent, uint32_t lanes,
                      uint64_t amount, Time time) {
  for (Contribution& known : list) {
    if (known.origin != origin || known.agent != agent) continue;
    known.lanes |= lanes;
    known.amount += amount;
    known.time = std::max(known.time, time);
    return;
  }
  list.push_back({origin, agent, lanes, amount, time});
}

uint32_t lanes_of(const std::vector<Contribution>& list, AgentId agent) {
  uint32_t lanes = 0;
  for (const Contribution& c : list) lanes |= c.agent == agent ? c.lanes : 0;
  return lanes;
}

std::string agent_text(const Event& e) {
  return fmt::format("cta {}, {}", e.cta, lanes_text(e.warp, e.lanes));
}

Barrier* Ledger::find(uint32_t cta, uint32_t offset) {
  const uint64_t wanted = key(cta, offset);
  Found& found = found_[(offset / 8 ^ cta * 37) % found_.size()];
  if (found.key == wanted) return found.barrier;
  const auto at = barriers_.find(wanted);
  if (at == barriers_.end()) return nullptr;
  found = {wanted, &at->second};
  return found.barrier;
}

Barrier* Ledger::overlapping(uint32_t cta, uint64_t offset, uint64_t bytes) {
  const auto range = ranges_.find(cta);
  if (range == ranges_.end() || offset >= range->second.second || offset + bytes <= range->second.first)
    return nullptr;
  auto at = barriers_.lower_bound(key(cta, static_cast<uint32_t>(offset >= 7 ? offset - 7 : 0)));
  if (at == barriers_.end() || at->second.cta != cta || at->second.offset >= offset + bytes) return nullptr;
  return &at->second;
}

Barrier* Ledger::required(const Event& e, const char* what) {
  const SharedPlace at = order_.place(e.cta, e.address());
  Barrier* const b = find(at.cta, at.offset);
  if (b != nullptr) return b;
  findings_.add(
      {.name = "barrier-uninitialised",
       .headline =
           fmt::format("{} on {}, which holds no live mbarrier", what, findings_.barrier_name(at.offset)),
       .agent = agent_text(e),
       .spots = {{e.origin, fmt::format("{} here", what)}},
       .why = "an mbarrier object exists from mbarrier.init to mbarrier.inval; anything else at its "
              "address is undefined",
       .help = "initialise the barrier before any thread can reach this place, for all stages that "
               "are used"});
  return nullptr;
}

void Ledger::apply(const Event& e) {
  switch (e.kind) {
    case Kind::MbarrierInit:
      return init(e);
    case Kind::MbarrierInval:
      return inval(e);
    case Kind::InitFence:
      return init_fence(e);
    case Kind::MbarrierArrive:
      return e.operation != 0 ? deferred_arrival(e) : arrive(e);
    case Kind::MbarrierExpectTx:
      return expect(e);
    case Kind::MbarrierCompleteTx:
      return complete(e);
    case Kind::MbarrierFlip:
      return flip(e);
    case Kind::MbarrierWait:
      return wait(e);
    case Kind::MbarrierPending: {
      Barrier* const b = required(e, "wait");
      if (b != nullptr) {
        check_visible(*b, e, "wait");
        add_contribution(b->waiters, e.origin, order_.warp(e).agent, e.lanes, 0);
      }
      return;
    }
    case Kind::AsyncIssue:
      return issue(e);
    case Kind::CtaEnd:
      return end_cta(e.cta);
    default:
      return;
  }
}

// --- life ---------------------------------------------------------------------------------------------

// Lanes that initialise one barrier in one instruction, for the same count, make one barrier (ThunderKittens
// does).
void Ledger::init(const Event& e) {
  const SharedPlace at = order_.place(e.cta, e.address());
  if (Barrier* const old = find(at.cta, at.offset)) {
    findings_.add({.name = "barrier-reinitialised",
                   .headline = fmt::format("init of {}, where a live mbarrier lies", name_of(*old)),
                   .agent = agent_text(e),
                   .spots = {{e.origin, "initialised again here"}, {old->init_origin, "initialised here"}},
                   .state = state_of(*old),
                   .why = "mbarrier.init of a live mbarrier is undefined: threads that wait on it, and bytes "
                          "under way to it, are lost",
                   .help = "invalidate the old barrier with mbarrier.inval first, and order both after its "
                           "last use"});
  }
  if (e.value <= 0 || e.value > kMostArrivals) {
    findings_.add({.name = "barrier-invalid-count",
                   .headline = fmt::format("{} is initialised for {} arrivals",
                                           findings_.barrier_name(at.offset), e.value),
                   .agent = agent_text(e),
                   .spots = {{e.origin, fmt::format("count {}", e.value)}},
                   .why = fmt::format("an mbarrier counts between 1 and {} arrivals", kMostArrivals),
                   .help = "initialise it with the number of arrivals that each phase gets"});
  }
  Barrier b;
  b.cta = at.cta;
  b.offset = at.offset;
  b.copies = order_.new_agent({AgentKind::Copies, at.cta, at.offset});
  b.init_origin = e.origin;
  b.count = static_cast<uint64_t>(e.value);
  b.pending = e.value;
  WarpOrder& w = order_.warp(e);
  order_.for_strands(w, e.lanes, [&](Strand& strand, uint32_t lanes) {
    strand.touched = true;
    b.init = {w.agent, lanes, strand.time};
  });
  auto [range, is_new] = ranges_.try_emplace(at.cta, at.offset, at.offset + 8);
  range->second.first = std::min(range->second.first, at.offset);
  range->second.second = std::max(range->second.second, at.offset + 8);
  barriers_[at.key()] = std::move(b);
}

void Ledger::inval(const Event& e) {
  if (required(e, "mbarrier.inval") == nullptr) return;
  const SharedPlace at = order_.place(e.cta, e.address());
  barriers_.erase(at.key());
  forget_found();
}

void Ledger::init_fence(const Event& e) {
  const AgentId agent = order_.warp(e).agent;
  for (auto at = barriers_.lower_bound(key(e.cta, 0)); at != barriers_.end() && at->second.cta == e.cta;
       ++at) {
    Barrier& b = at->second;
    if (b.init.agent == agent && (b.init.lanes & ~e.lanes) == 0) b.init_fenced = true;
  }
}

void Ledger::check_visible(Barrier& b, const Event& e, const char* what) {
  WarpOrder& w = order_.warp(e);
  const uint32_t column = w.column;
  if (column < b.sees_init.size() && (e.lanes & ~b.sees_init[column]) == 0) return;
  bool visible = true, ran = true;
  order_.for_strands(w, e.lanes, [&](Strand& strand, uint32_t lanes) {
    const bool ordered = order_.covers(w, strand, lanes, b.init.agent, b.init.lanes, b.init.time);
    // After the cluster barrier with a relaxed arrival, the init fence carries the init.
    const bool met = strand.known.control.covers(order_.agents(), b.init.agent, b.init.lanes, b.init.time);
    ran &= ordered || met;
    visible &= ordered || (b.init_fenced && met);
  });
  if (visible) {
    if (b.sees_init.size() <= column) b.sees_init.resize(column + 1);
    b.sees_init[column] |= e.lanes;
    return;
  }
  findings_.add(
      {.name = "barrier-init-not-visible",
       .headline = fmt::format("{} on {} is not ordered after its init", what, name_of(b)),
       .agent = agent_text(e),
       .spots = {{e.origin, fmt::format("{} by {}", what, lanes_text(e.warp, e.lanes))},
                 {b.init_origin, "initialised here"}},
       .why =
           b.cta == e.cta ? "another thread may use a barrier only after a barrier of the CTA (or another "
                            "synchronisation) has ordered it after the init"
           : ran ? "the threads have met at the cluster barrier, but the initialising thread has executed no "
                   "fence.mbarrier_init before its relaxed arrival"
                 : "a thread of another CTA may use a barrier only after the cluster barrier",
       .help = b.cta == e.cta ? "put __syncthreads() between the initialisation and the first use"
                              : "execute fence.mbarrier_init.release.cluster after the init, then "
                                "barrier.cluster.arrive and wait in all threads",
       .notes = b.init_fenced
                    ? std::vector<std::string>{}
                    : std::vector<std::string>{"no fence.mbarrier_init has been executed for it either"}});
}

void Ledger::end_cta(uint32_t cta) {
  auto at = barriers_.lower_bound(key(cta, 0));
  while (at != barriers_.end() && at->second.cta == cta) {
    const Barrier& b = at->second;
    const bool open = b.now.brought_bytes != 0;
    const bool unseen = open || (b.phase != 0 && b.last.brought_bytes != 0 && b.waits.empty());
    const PhaseEntry& entry = open ? b.now : b.last;
    if (unseen && b.tx < 0 && !entry.copies.empty()) {
      const bool expected = entry.expected_bytes != 0;
      findings_.add({.name = uncovered_bytes(entry),
                     .headline = fmt::format("copies bring {} bytes to {}, which expects {}",
                                             entry.brought_bytes, name_of(b), entry.expected_bytes),
                     .agent = fmt::format("cta {}", cta),
                     .spots = {{entry.copies.front().origin, "a copy that signals it"},
                               {expected ? entry.expectations.front().origin : b.init_origin,
                                expected ? "expects bytes here" : "initialised here"}},
                     .state = state_of(b),
                     .why = "bytes that no expect_tx of the phase covers keep the phase from completing",
                     .help =
                         "expect in each CTA what all copies bring to its barrier, multicast ones of other "
                         "CTAs included"});
    } else if (unseen && !entry.copies.empty()) {
      findings_.add(
          {.name = "missing-wait",
           .headline = fmt::format("the CTA ends, and nobody has waited for {} bytes that copies bring "
                                   "to {} in its phase {}",
                                   entry.brought_bytes, name_of(b), open ? b.phase : b.phase - 1),
           .agent = fmt::format("cta {}", cta),
           .spots = {{entry.copies.front().origin, "the copy"}, {b.init_origin, "initialised here"}},
           .state = state_of(b),
           .why = "a copy may land after the CTA has ended, in memory that belongs to another CTA then",
           .help = "wait for every copy that is issued, or do not issue it"});
    }
    at = barriers_.erase(at);
  }
  ranges_.erase(cta);
  forget_found();
}

}  // namespace sluice::check
