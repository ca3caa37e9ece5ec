// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// When nobody can go on: from the threads that wait, through what they wait for, to the cause.
//
// Registers that the pool cannot give are a cause at once. A barrier whose arrivals have all been made, or
// some of them, is nearer to the cause than one that nobody has arrived at yet, since the latter only waits
// for threads that wait themselves. So the barriers that somebody waits for are looked at in this order:
// bytes that do not add up; an expectation without its arrival; a count that the arrivals do not reach; then
// named barriers and rendezvous that cannot be filled; and when none of these is there, the circle of waits
// itself.
#pragma once

#include <optional>
#include <vector>

#include "check/findings.hpp"
#include "check/ledger.hpp"
#include "check/named_barriers.hpp"
#include "check/order.hpp"

namespace sluice::check {

class Deadlock {
 public:
  Deadlock(Order& order, Ledger& ledger, NamedBarriers& named, Findings& findings)
      : order_(order), ledger_(ledger), named_(named), findings_(findings) {}

  void begin_launch(const event::LaunchDetails& details);
  /// Listens to waits, and to lanes that are stuck.
  void apply(const event::Event& e);
  /// Finds the cause, if lanes are stuck and no earlier error explains it.
  void judge();

 private:
  struct Waiter {
    uint32_t cta = 0, warp = 0, lanes = 0, origin = 0;
    event::Waiting waiting{};
    uint64_t detail = 0;   ///< as Stuck says; of a poll, the phase that it began with
    uint64_t barrier = 0;  ///< key of the mbarrier, 0 = none
  };

  std::optional<int64_t> missed_phase(const Waiter& w, const Barrier& b) const;
  static std::optional<int64_t> missed_beside(const WaitRecord& record, uint32_t warp, const CtaOrder& cta,
                                              const Barrier& b);
  bool judge_lapped();
  bool judge_bytes(const Barrier& b);
  bool judge_expectation(const Barrier& b);
  bool judge_unarmed(const Barrier& b);
  bool judge_arrivals(const Barrier& b);
  bool judge_registers();
  bool judge_named();
  bool judge_rendezvous();
  void judge_circle();
  std::vector<const Barrier*> awaited() const;
  const Barrier* barrier_of(const Waiter& w) const;
  void add_waits(Finding& f, const Barrier& b) const;
  void add_copies_and_waits(Finding& f, const Barrier& b) const;
  void add(Finding f);
  std::string missing_text(const Barrier& b) const;
  std::string waits_text() const;
  static std::string waits_text(const Waiter& w);  ///< "warp 2 lanes 1-31 wait"

  Order& order_;
  Ledger& ledger_;
  NamedBarriers& named_;
  Findings& findings_;
  uint32_t registers_ = 0, threads_ = 0;
  std::string registers_source_;
  std::vector<Waiter> stuck_;
  std::vector<Waiter> polls_;  ///< by warp (its agent): the last wait that found nothing; lanes = 0 if none
};

}  // namespace sluice::check
