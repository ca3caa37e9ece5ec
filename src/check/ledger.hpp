// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The ledger of mbarriers: for each barrier and phase who arrived from where, which bytes were expected and
// which copies brought them, who has waited. It finds what breaks the protocol at the event that breaks it;
// what only shows when nobody can go on is found from the ledger by deadlock.cpp.
//
// Why an arrival in phase n must be ordered after a wait for phase n - 1 (check_order): otherwise another
// timing lets it count in phase n - 1. It is enough that somebody waited and the arriving thread knows of it,
// or that it knows all arrivals of that phase.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "check/findings.hpp"
#include "check/order.hpp"
#include "check/shadow.hpp"

namespace sluice::check {

/// Arrivals, announcements or copies of one phase from one place of the program.
struct Contribution {
  uint32_t origin = 0;
  AgentId agent = 0;
  uint32_t lanes = 0;
  uint64_t amount = 0;  ///< arrivals or bytes
  Time time = 0;        ///< of the last of them
};

struct PhaseEntry {
  std::vector<Contribution> arrivals, expectations, copies;
  uint64_t arrived = 0;
  uint64_t raised =
      0;  ///< arrivals that cp.async.mbarrier.arrive without .noinc has added to the expected ones
  uint64_t expected_bytes = 0, brought_bytes = 0;
  bool peers_bring = false;  ///< some of these bytes came with copies of other CTAs
  bool spilled = false;  ///< some of these bytes are the rest of a copy that has completed the phase before

  /// Empty, with the memory for as much again.
  void clear() {
    for (std::vector<Contribution>* const list : {&arrivals, &expectations, &copies}) list->clear();
    arrived = raised = expected_bytes = brought_bytes = 0;
    peers_bring = spilled = false;
  }
};

/// The successful waits of some lanes, by the completions that they stand for; -1 is the phase before the
/// first. By parity a completion looks like the next but one: who is lapped goes on, and stands for that one.
struct WaitRecord {
  uint32_t lanes = 0;
  int64_t first = -1, last = -1;
  bool waits_each = true;         ///< for each completion from the first to the last
  std::optional<int64_t> missed;  ///< the first for which it did not wait
  bool had_rhythm = false;        ///< it had waited for several before
};

struct Barrier {
  uint32_t cta = 0, offset = 0;
  AgentId copies = 0;  ///< the agent of copies that signal it
  uint32_t init_origin = 0;
  Stamp init;
  bool init_fenced = false;  ///< the initialising thread has executed fence.mbarrier_init since
  uint64_t count = 0;
  int64_t pending = 0, tx = 0;
  uint64_t phase = 0;       ///< phases completed
  uint64_t flipped_by = 0;  ///< the operation that completed the last one, 0 = none
  PhaseEntry now, last;
  std::vector<Stamp> waits;  ///< for the phase completed last
  std::vector<Contribution> waiters;
  SyncPoint collecting, completed;  ///< of all phases up to the open one; of those that have completed
  /// By the first column of an agent: its lanes that have ever arrived, and whether the init is visible to
  /// it.
  std::vector<uint32_t> arrivers;
  std::vector<uint32_t> sees_init;  ///< by column of a warp: lanes that are ordered after the init
  std::vector<std::vector<WaitRecord>> wait_records;  ///< by column of a warp, for disjoint lanes
  bool receives_bytes = false;

  void note_wait(uint32_t column, uint32_t lanes, int64_t stands_for);
};

class Ledger {
 public:
  Ledger(Order& order, Findings& findings) : order_(order), findings_(findings) {}

  void begin_launch() {
    barriers_.clear();
    forget_found();
    ranges_.clear();
    copiers_.clear();
  }
  void apply(const event::Event& e);

  /// Stamp of an asynchronous copy's access: to `address`, or to its source if that is 0.
  Stamp copy_stamp(const Order::Operation& op, uint64_t address);
  /// The live barrier that has bytes in [offset, offset + bytes) of the CTA, or null.
  Barrier* overlapping(uint32_t cta, uint64_t offset, uint64_t bytes);
  Barrier* find(uint32_t cta, uint32_t offset);
  const std::map<uint64_t, Barrier>& all() const { return barriers_; }

  /// The finding for bytes that no expect_tx of their phase covers.
  static const char* uncovered_bytes(const PhaseEntry& entry) {
    if (entry.expected_bytes != 0 || entry.spilled) return "tx-bytes-exceed";
    return entry.peers_bring ? "multicast-mask-mismatch" : "expect-tx-missing";
  }

  /// Lanes of the agent that have ever arrived at the barrier.
  uint32_t arrivers(const Barrier& b, AgentId agent) const {
    const uint32_t column = order_.agents().columns(agent).front().index;
    return column < b.arrivers.size() ? b.arrivers[column] : 0;
  }

  /// "full[1]": by symbol, else by role and position, else by address.
  std::string name_of(const Barrier& b) const;
  /// One row of a state table.
  std::string state_of(const Barrier& b) const;

 private:
  static uint64_t key(uint32_t cta, uint32_t offset) { return SharedPlace{cta, offset}.key(); }
  Barrier* required(const event::Event& e, const char* what);

  void forget_found() { found_.fill({}); }

  void init(const event::Event& e);
  void inval(const event::Event& e);
  void init_fence(const event::Event& e);
  void arrive(const event::Event& e);
  void deferred_arrival(const event::Event& e);
  void expect(const event::Event& e);
  void complete(const event::Event& e);
  void flip(const event::Event& e);
  void wait(const event::Event& e);
  void issue(const event::Event& e);
  void end_cta(uint32_t cta);
  void check_visible(Barrier& b, const event::Event& e, const char* what);
  void check_order(Barrier& b, const event::Event& e, WarpOrder& w, Strand& strand, uint32_t lanes);
  void check_range(Barrier& b, const event::Event& e);
  std::vector<const Barrier*> siblings(const Barrier& b) const;

  Order& order_;
  Findings& findings_;
  std::map<uint64_t, Barrier> barriers_;
  /// Barriers found lately, so that most events need no search.
  struct Found {
    uint64_t key = ~uint64_t{0};
    Barrier* barrier = nullptr;
  };
  std::array<Found, 256> found_;
  std::unordered_map<uint32_t, std::pair<uint32_t, uint32_t>> ranges_;  ///< CTA -> offsets of its barriers
  std::vector<AgentId> copiers_;                                        ///< warps that have issued copies
};

/// Lanes of the agent in these contributions.
uint32_t lanes_of(const std::vector<Contribution>& list, AgentId agent);

/// Adds to the entry of the same place and agent.
void add_contribution(std::vector<Contribution>& list, uint32_t origin, AgentId agent, uint32_t lanes,
                      uint64_t amount, Time time = 0);

/// Who an event is about, in words.
std::string agent_text(const event::Event& e);

}  // namespace sluice::check
