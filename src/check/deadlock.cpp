// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The analysis, one kind of cause after the other.
#include "check/deadlock.hpp"
#include "base/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

namespace sluice::check {

using event::Event;
using event::Kind;
using event::Waiting;

namespace {

constexpr uint32_t kWarpsOfGroup = 4;

constexpr size_t kMostSpots = 6;

void add_spot(Finding& f, uint32_t origin, std::string label) {
  const bool known =
      std::any_of(f.spots.begin(), f.spots.end(), [&](const Spot& spot) { return spot.origin == origin; });
  if (!known && f.spots.size() < kMostSpots) f.spots.push_back({origin, std::move(label)});
}

}  // namespace

void Deadlock::begin_launch(const event::LaunchDetails& details) {
  registers_ = details.registers;
  registers_source_ = details.registers_source;
  threads_ = details.block[0] * details.block[1] * details.block[2];
  stuck_.clear();
  polls_.clear();
}

void Deadlock::apply(const Event& e) {
  if (e.kind != Kind::Stuck && e.kind != Kind::MbarrierPending && e.kind != Kind::MbarrierWait) return;
  const AgentId agent = order_.warp(e).agent;
  if (polls_.size() <= agent) polls_.resize(agent + 1);
  Waiter& poll = polls_[agent];
  if (e.kind == Kind::MbarrierWait) {
    poll.lanes = 0;
    return;
  }
  Waiter w{e.cta, e.warp, e.lanes, e.origin, Waiting::Loop, e.phase, 0};
  if (e.kind == Kind::MbarrierPending) {
    w.barrier = order_.place(e.cta, e.address()).key();
    // Who asks again in vain has waited since the first time.
    if (poll.lanes != 0 && poll.barrier == w.barrier && poll.origin == w.origin) w.detail = poll.detail;
    poll = w;
    return;
  }
  w.waiting = static_cast<Waiting>(e.value);
  if (w.waiting == Waiting::Mbarrier) w.barrier = order_.place(e.cta, e.addresses[0]).key();
  if ((w.waiting == Waiting::Loop || w.waiting == Waiting::Sleep) && poll.lanes != 0) {
    w.barrier = poll.barrier;
    w.origin = poll.origin;
    w.detail = poll.detail;
  }
  stuck_.push_back(w);
}

const Barrier* Deadlock::barrier_of(const Waiter& w) const {
  const auto found = ledger_.all().find(w.barrier);
  return w.barrier == 0 || found == ledger_.all().end() ? nullptr : &found->second;
}

std::vector<const Barrier*> Deadlock::awaited() const {
  std::vector<const Barrier*> all;
  for (const Waiter& w : stuck_) {
    const Barrier* const b = barrier_of(w);
    if (b != nullptr && std::find(all.begin(), all.end(), b) == all.end()) all.push_back(b);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Barrier* a, const Barrier* b) { return a->phase < b->phase; });
  return all;
}

void Deadlock::judge() {
  if (stuck_.empty() || judge_registers()) return;
  if (judge_lapped()) return;
  const std::vector<const Barrier*> all = awaited();
  for (const Barrier* b : all)
    if (judge_bytes(*b)) return;
  for (const Barrier* b : all)
    if (judge_expectation(*b) || judge_unarmed(*b)) return;
  for (const Barrier* b : all)
    if (judge_arrivals(*b)) return;
  if (judge_named() || judge_rendezvous()) return;
  judge_circle();
}

// --- words --------------------------------------------------------------------------------------------

void Deadlock::add_waits(Finding& f, const Barrier& b) const {
  for (const Waiter& w : stuck_) {
    if (barrier_of(w) != &b) continue;
    add_spot(f, w.origin, waits_text(w) + " here");
  }
}

void Deadlock::add_copies_and_waits(Finding& f, const Barrier& b) const {
  for (const Contribution& c : b.now.copies) add_spot(f, c.origin, fmt::format("brings {} bytes", c.amount));
  add_waits(f, b);
  add_spot(f, b.init_origin, "initialised for " + counted(b.count, "arrival"));
  f.state = ledger_.state_of(b);
}

std::string Deadlock::waits_text(const Waiter& w) {
  const bool several = (w.lanes & (w.lanes - 1)) != 0 && w.lanes != kAllLanes;
  return lanes_text(w.warp, w.lanes) + (several ? " wait" : " waits");
}

std::string Deadlock::waits_text() const {
  std::string text;
  std::set<const Barrier*> told;
  for (const Waiter& w : stuck_) {
    const Barrier* const b = barrier_of(w);
    if (b == nullptr || !told.insert(b).second) continue;
    if (told.size() > 4) break;
    if (!text.empty()) text += '\n';
    text += ledger_.state_of(*b);
  }
  return text;
}

void Deadlock::add(Finding f) {
  if (f.agent.empty()) f.agent = fmt::format("cta {}", stuck_.front().cta);
  if (f.state.empty()) f.state = waits_text();
  const auto is_told = [&](const Waiter& w) {
    return std::ranges::any_of(f.spots, [&](const Spot& spot) { return spot.origin == w.origin; });
  };
  const auto told = std::ranges::find_if(stuck_, is_told);
  const Waiter& waiter = told != stuck_.end() ? *told : stuck_.front();
  f.who = {waiter.cta, waiter.warp, waiter.lanes};
  findings_.add(std::move(f));
}

// Lanes that arrived in an earlier phase, or at a barrier of the same role, and not in this phase.
std::string Deadlock::missing_text(const Barrier& b) const {
  std::string text;
  const CtaOrder* const owner = order_.find_cta(b.cta);
  for (const Waiter& w : stuck_) {
    const CtaOrder* const cta = order_.find_cta(w.cta);
    const bool can_arrive = cta != nullptr && owner != nullptr && cta->cluster == owner->cluster;
    if (!can_arrive || w.warp >= cta->warps.size()) continue;
    const AgentId agent = cta->warps[w.warp].agent;
    uint32_t missing = 0;
    for (const auto& [key, other] : ledger_.all()) {
      if (other.receives_bytes == b.receives_bytes && other.cta == b.cta)
        missing |= ledger_.arrivers(other, agent);
    }
    missing &= w.lanes & ~lanes_of(b.now.arrivals, agent);
    if (missing != 0) text += (text.empty() ? "" : ", ") + lanes_text(w.warp, missing);
  }
  return text;
}

// --- causes -------------------------------------------------------------------------------------------

// The phase that a warp has missed, as those beside it in its warpgroup show: they have waited for each
// phase, for no longer, and for more.
std::optional<int64_t> Deadlock::missed_beside(const WaitRecord& record, uint32_t warp, const CtaOrder& cta,
                                               const Barrier& b) {
  const size_t first = warp / kWarpsOfGroup * kWarpsOfGroup;
  for (size_t beside = first; beside < std::min(first + kWarpsOfGroup, cta.warps.size()); ++beside) {
    if (cta.warps[beside].column >= b.wait_records.size()) continue;
    for (const WaitRecord& other : b.wait_records[cta.warps[beside].column]) {
      if (!other.waits_each || other.last > record.last) continue;
      if (record.missed && other.first == record.first) return record.missed;
      const int64_t more = record.first - other.first;
      if (record.waits_each && more >= 2 && more % 2 == 0) return other.first;
    }
  }
  return {};
}

// The phase that the waiter has missed, if others have completed it and the next one: it polls, and did not
// ask in between; or it has waited for each phase before, and did not for this one or asks for it only now.
std::optional<int64_t> Deadlock::missed_phase(const Waiter& w, const Barrier& b) const {
  const bool polls = w.waiting == Waiting::Loop || w.waiting == Waiting::Sleep;
  if (polls && b.phase >= w.detail + 2) return static_cast<int64_t>(w.detail);
  const CtaOrder* const cta = order_.find_cta(w.cta);
  if (cta == nullptr || w.warp >= cta->warps.size()) return {};
  const uint32_t column = cta->warps[w.warp].column;
  const auto is_missed = [&](int64_t phase) {
    const int64_t since = static_cast<int64_t>(b.phase) - phase;
    return since >= 2 && since % 2 == 0;
  };
  if (column >= b.wait_records.size() || b.wait_records[column].empty())
    return is_missed(0) ? std::optional<int64_t>(0) : std::nullopt;
  const std::vector<WaitRecord>& records = b.wait_records[column];
  uint32_t first_time = w.lanes;
  for (const WaitRecord& record : records) {
    first_time &= ~record.lanes;
    if ((record.lanes & w.lanes) == 0) continue;
    if (record.waits_each && is_missed(record.last + 1)) return record.last + 1;
    if (record.had_rhythm) return record.missed;
    if (const auto missed = missed_beside(record, w.warp, *cta, b)) return missed;
  }
  // Lanes that wait for the first time begin where their neighbours began.
  if (first_time != 0 && is_missed(records.front().first)) return records.front().first;
  return {};
}

// By parity a phase looks like the next but one.
bool Deadlock::judge_lapped() {
  for (const Waiter& w : stuck_) {
    const Barrier* const b = barrier_of(w);
    const std::optional<int64_t> missed = b != nullptr ? missed_phase(w, *b) : std::nullopt;
    if (!missed) continue;
    Finding f;
    f.name = "phase-lapped";
    f.headline =
        fmt::format("{} did not wait for {} of {} before phase {} completed", lanes_text(w.warp, w.lanes),
                    *missed < 0 ? "the phase before the first" : fmt::format("phase {}", *missed),
                    ledger_.name_of(*b), *missed + 1);
    add_spot(f, w.origin, "this wait was lapped, or one before it");
    for (const Contribution& c : b->last.arrivals)
      add_spot(f, c.origin, "an arrival of the phase that came too soon");
    add_spot(f, b->init_origin, "initialised for " + counted(b->count, "arrival"));
    f.state = ledger_.state_of(*b);
    f.why =
        "a wait by parity tells a phase only from its neighbours: when the next phase completes before a "
        "thread has seen this one, the thread may wait for ever";
    f.help =
        "let every thread that waits take part in what allows the next phase, or let one thread wait and "
        "synchronise the others with it";
    f.agent = fmt::format("cta {}, warp {}", w.cta, w.warp);
    add(std::move(f));
    return true;
  }
  return false;
}

bool Deadlock::judge_bytes(const Barrier& b) {
  if (b.pending > 0 || b.tx == 0) return false;
  const std::string name = ledger_.name_of(b);
  Finding f;
  const bool expected = b.now.expected_bytes != 0;
  f.name = b.tx > 0 ? "tx-bytes-never-arrive" : Ledger::uncovered_bytes(b.now);
  f.headline = expected ? fmt::format("{} expects {} bytes and its copies bring {}", name,
                                      b.now.expected_bytes, b.now.brought_bytes)
                        : fmt::format("copies bring {} bytes to {}, and nobody expects them",
                                      b.now.brought_bytes, name);
  for (const Contribution& c : b.now.expectations)
    add_spot(f, c.origin, fmt::format("expects {} bytes", c.amount));
  for (const Contribution& c : b.now.copies) add_spot(f, c.origin, fmt::format("brings {} bytes", c.amount));
  for (const Contribution& c : b.now.arrivals) add_spot(f, c.origin, "arrives");
  add_waits(f, b);
  f.state = ledger_.state_of(b);
  f.why =
      "a phase completes when pending arrivals and bytes due are both zero, and no copy that signals this "
      "barrier is in flight";
  f.help = expected ? fmt::format(
                          "expect {} bytes in this phase, the sum of what its copies bring, or correct the "
                          "copies",
                          b.now.brought_bytes)
                    : "arrive with mbarrier.arrive.expect_tx and the number of bytes that the copies bring";
  add(std::move(f));
  return true;
}

bool Deadlock::judge_expectation(const Barrier& b) {
  if (b.pending <= 0 || b.now.arrived != 0 || b.now.expectations.empty()) return false;
  Finding f;
  f.name = "expect-tx-missing";
  f.headline =
      fmt::format("bytes are announced on {} without the arrival that the phase needs", ledger_.name_of(b));
  for (const Contribution& c : b.now.expectations)
    add_spot(f, c.origin, fmt::format("announces {} bytes and does not arrive", c.amount));
  add_copies_and_waits(f, b);
  f.why = "mbarrier.expect_tx raises the bytes due and is no arrival; the phase still waits for one";
  f.help = "use mbarrier.arrive.expect_tx, or arrive after expect_tx";
  add(std::move(f));
  return true;
}

// Copies of another CTA may come before a producer that is stuck itself can arm the phase; its own may not.
bool Deadlock::judge_unarmed(const Barrier& b) {
  if (b.pending <= 0 || b.now.arrived != 0 || b.now.brought_bytes == 0 || b.now.peers_bring) return false;
  Finding f;
  f.name = "expect-tx-missing";
  f.headline = fmt::format("copies bring {} bytes to {}, and nobody arrives to expect them",
                           b.now.brought_bytes, ledger_.name_of(b));
  add_copies_and_waits(f, b);
  f.why = "a copy completes bytes and is no arrival; the phase still waits for one";
  f.help = "let the thread that issues the copies execute mbarrier.arrive.expect_tx with their bytes";
  add(std::move(f));
  return true;
}

bool Deadlock::judge_arrivals(const Barrier& b) {
  if (b.pending <= 0 || b.now.arrived == 0) return false;
  const std::string missing = missing_text(b);
  Finding f;
  f.name = "arrivals-never-complete";
  std::string who;
  for (const Contribution& c : b.now.arrivals) {
    const Agent& agent = order_.agent(c.agent);
    if (who.size() < 60) who += (who.empty() ? "" : ", ") + lanes_text(agent.index, c.lanes);
  }
  const std::string more = b.now.raised == 0 ? "" : fmt::format(" and {} more", b.now.raised);
  f.headline =
      fmt::format("{} expects {}{}, and only {} {}: {}", ledger_.name_of(b), counted(b.count, "arrival"),
                  more, b.now.arrived, b.now.arrived == 1 ? "comes" : "come", who);
  add_spot(f, b.init_origin, "initialised for " + counted(b.count, "arrival"));
  for (const Contribution& c : b.now.arrivals)
    add_spot(f, c.origin, counted(c.amount, "arrival") + " in this phase");
  add_waits(f, b);
  f.state = ledger_.state_of(b);
  if (!missing.empty())
    f.state += fmt::format("\nmissing in this phase, though they arrive elsewhere: {}", missing);
  f.why = "every thread that could still arrive waits itself, so the phase cannot complete";
  f.help = missing.empty() ? fmt::format("initialise it for {}, or let all {} threads arrive",
                                         counted(b.now.arrived, "arrival"), b.count)
                           : "let the missing threads arrive in every phase";
  if (b.now.raised != 0) {
    f.why = "cp.async.mbarrier.arrive without .noinc raises the expected arrivals by the one that it makes";
    f.help = "use .noinc, which counts as one of the arrivals that the barrier was initialised for";
  }
  add(std::move(f));
  return true;
}

bool Deadlock::judge_registers() {
  for (const Waiter& w : stuck_) {
    if (w.waiting != Waiting::Registers) continue;
    Finding f;
    f.name = "register-budget";
    f.headline =
        fmt::format("setmaxnreg asks for {} registers per thread, which the pool can never give", w.detail);
    add_spot(f, w.origin, fmt::format("warp {} waits for {} registers per thread", w.warp, w.detail));
    f.state = fmt::format("{} threads start with {} registers each ({}), {} in all", threads_, registers_,
                          registers_source_, uint64_t{threads_} * registers_);
    f.why =
        "setmaxnreg.inc waits until other warps of the CTA have given back enough with setmaxnreg.dec; all "
        "that still could wait themselves";
    f.help = "choose the counts so that their sum over all warps does not exceed what the CTA starts with";
    f.agent = fmt::format("cta {}, warp {}", w.cta, w.warp);
    add(std::move(f));
    return true;
  }
  return false;
}

bool Deadlock::judge_named() {
  for (const Waiter& w : stuck_) {
    if (w.waiting != Waiting::NamedBarrier) continue;
    const NamedGeneration& g = named_.open(w.cta, w.detail);
    uint32_t elsewhere = 0;  // threads of the CTA that wait at something else
    bool at_other_barrier = true;
    for (const Waiter& other : stuck_) {
      if (other.cta != w.cta) continue;
      if (other.waiting == Waiting::NamedBarrier && other.detail == w.detail) continue;
      elsewhere += static_cast<uint32_t>(std::popcount(other.lanes));
      at_other_barrier &= other.waiting == Waiting::NamedBarrier;
    }
    // Whoever could still come waits for something that these threads may bring.
    const bool fillable =
        g.threads == 0 ? elsewhere != 0 : elsewhere >= g.threads - std::min(g.threads, g.arrived);
    if (fillable && !at_other_barrier) continue;
    Finding f;
    f.name = "named-barrier-mismatch";
    f.headline = g.threads == 0
                     ? fmt::format("barrier {} waits for all threads, and {} of them wait elsewhere",
                                   w.detail, elsewhere)
                     : fmt::format("named barrier {} waits for {} threads, and only {} come", w.detail,
                                   g.threads, g.arrived);
    for (const Waiter& other : stuck_) {
      if (other.cta == w.cta && other.waiting == Waiting::NamedBarrier)
        add_spot(f, other.origin, fmt::format("{} here at barrier {}", waits_text(other), other.detail));
    }
    for (const uint32_t origin : g.origins) add_spot(f, origin, "comes to this generation");
    f.state = fmt::format("barrier {} of cta {}: {} of {} threads have come", w.detail, w.cta, g.arrived,
                          g.threads == 0 ? threads_ : g.threads);
    f.why = "the threads that are missing have ended or wait at another barrier";
    f.help = "make the thread count the number of threads that really come, in every generation";
    f.agent = fmt::format("cta {}", w.cta);
    add(std::move(f));
    return true;
  }
  return false;
}

bool Deadlock::judge_rendezvous() {
  for (const Waiter& w : stuck_) {
    if (w.waiting != Waiting::Rendezvous && w.waiting != Waiting::WarpSync) continue;
    // Lanes of the warp that wait for an mbarrier may come later: the circle is the cause then.
    const bool others_wait = std::any_of(stuck_.begin(), stuck_.end(), [&](const Waiter& other) {
      return other.cta == w.cta && other.warp == w.warp && other.waiting != Waiting::Rendezvous &&
             other.waiting != Waiting::WarpSync;
    });
    if (others_wait) continue;
    Finding f;
    f.name = "divergent-collective";
    f.headline = fmt::format("{} waits for lanes of its warp that do not come", lanes_text(w.warp, w.lanes));
    for (const Waiter& other : stuck_) {
      if (other.cta == w.cta && other.warp == w.warp)
        add_spot(f, other.origin, fmt::format("{} is here", lanes_text(other.warp, other.lanes)));
    }
    f.why = "an aligned or collective instruction is executed by all lanes that it names together";
    f.help = "move the instruction where all its lanes come, or name only those that do";
    f.agent = fmt::format("cta {}, warp {}", w.cta, w.warp);
    add(std::move(f));
    return true;
  }
  return false;
}

void Deadlock::judge_circle() {
  Finding f;
  const auto is_loop = [this](const Waiter& w) {
    return w.waiting == Waiting::Loop && barrier_of(w) == nullptr;
  };
  const bool livelock = std::all_of(stuck_.begin(), stuck_.end(), is_loop);
  f.name = livelock ? "livelock" : "deadlock";
  f.headline = livelock ? "every live thread runs in a loop that nothing can end"
                        : "every live thread waits, and no operation in flight can wake one";
  bool at_start = true;
  for (const Waiter& w : stuck_) {
    const Barrier* const b = barrier_of(w);
    add_spot(f, w.origin,
             b != nullptr ? waits_text(w) + " here for " + ledger_.name_of(*b) : waits_text(w) + " here");
    at_start &= b == nullptr || b->phase == 0;
  }
  // Where the barriers that are waited for get their arrivals from, at other times or at their neighbours.
  for (const Barrier* b : awaited()) {
    for (const auto& [key, other] : ledger_.all()) {
      if (other.cta != b->cta || other.receives_bytes != b->receives_bytes) continue;
      for (const Contribution& c : other.last.arrivals)
        add_spot(f, c.origin,
                 &other == b ? fmt::format("arrivals at {} came from here before", ledger_.name_of(other))
                             : fmt::format("arrivals at {} come from here; {} waits for the like",
                                           ledger_.name_of(other), ledger_.name_of(*b)));
    }
  }
  f.why = "each of them waits for what another one would do next";
  const std::vector<const Barrier*> all = awaited();
  const bool one_place = !all.empty() && std::all_of(all.begin(), all.end(), [&](const Barrier* b) {
    return b->offset == all.front()->offset && b->phase == 0 && b->now.arrived == 0;
  });
  f.help = one_place
               ? fmt::format(
                     "no thread ever arrives on {}: look for the one that should, and for what keeps it "
                     "away (a condition, or a barrier of the CTA that it waits at)",
                     ledger_.name_of(*all.front()))
           : at_start
               ? "all stages start free: a producer's first wait is for the phase before the first (parity 1)"
               : "look for an arrival that is left out in this phase, or for index and parity of the waits";
  add(std::move(f));
}

}  // namespace sluice::check
