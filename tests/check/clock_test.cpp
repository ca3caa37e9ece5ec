// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Clocks against a plain table of numbers: one for each lane of each agent.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <vector>

#include "check/clock.hpp"

namespace {

using namespace sluice::check;

struct Table {
  std::map<AgentId, std::array<Time, kLanes>> times;

  Time of(AgentId agent, uint32_t lane) const {
    const auto found = times.find(agent);
    return found == times.end() ? 0 : found->second[lane];
  }
  void raise(AgentId agent, uint32_t lanes, Time time) {
    for (uint32_t i = 0; i < kLanes; ++i)
      if (lanes >> i & 1) times[agent][i] = std::max(times[agent][i], time);
  }
  void join(const Table& other) {
    for (const auto& [agent, lanes] : other.times)
      for (uint32_t i = 0; i < kLanes; ++i) times[agent][i] = std::max(times[agent][i], lanes[i]);
  }
};

/// A few clocks with their tables, over agents of several domains that come while the clocks are in use.
class Pairs {
 public:
  explicit Pairs(uint32_t seed) : random_(seed), clocks_(6), tables_(6) {}

  void step() {
    const size_t to = random_() % clocks_.size(), from = random_() % clocks_.size();
    switch (random_() % 8) {
      case 0:
        agents_.add({AgentKind::Warp, 0, 0}, random_() % 3);
        ++agent_count_;
        break;
      case 1:
        clocks_[to] = clocks_[from];
        tables_[to] = tables_[from];
        break;
      case 2:
      case 3:
        clocks_[to].join(clocks_[from], agents_);
        tables_[to].join(tables_[from]);
        break;
      default: {
        const AgentId agent = any_agent();
        const uint32_t mask = lanes();
        const Time time = random_() % 9;
        clocks_[to].raise(agents_, agent, mask, time);
        tables_[to].raise(agent, mask, time);
      }
    }
  }

  void compare_all() const {
    for (size_t c = 0; c < clocks_.size(); ++c)
      for (AgentId agent = 1; agent <= agent_count_; ++agent)
        for (uint32_t lane = 0; lane < kLanes; ++lane) {
          const Time time = tables_[c].of(agent, lane);
          const uint32_t mask = uint32_t{1} << lane;
          if (time != 0) ASSERT_TRUE(clocks_[c].covers(agents_, agent, mask, time));
          ASSERT_FALSE(clocks_[c].covers(agents_, agent, mask, time + 1));
        }
  }

  void ask() {
    const size_t c = random_() % clocks_.size();
    const AgentId agent = any_agent();
    const uint32_t mask = lanes();
    const Time time = 1 + random_() % 9;
    bool all = true, any = false;
    for (uint32_t i = 0; i < kLanes; ++i) {
      if ((mask >> i & 1) == 0) continue;
      all &= tables_[c].of(agent, i) >= time;
      any |= tables_[c].of(agent, i) >= time;
    }
    if (mask == 0 || agent == 0) return;
    ASSERT_EQ(clocks_[c].covers(agents_, agent, mask, time), all);
    ASSERT_EQ(clocks_[c].covers_any(agents_, agent, mask, time), any);
  }

 private:
  AgentId any_agent() { return agent_count_ == 0 ? 0 : 1 + random_() % agent_count_; }
  uint32_t lanes() {
    const uint32_t choices[] = {kAllLanes, 1, 0xffff0000u, uint32_t(random_()), uint32_t{1} << random_() % 32,
                                0};
    return choices[random_() % 6];
  }

  std::mt19937 random_;
  Agents agents_;
  AgentId agent_count_ = 0;
  std::vector<Clock> clocks_;
  std::vector<Table> tables_;
};

TEST(clock, raises_joins_and_copies_agree_with_a_table) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    Pairs pairs(seed);
    for (int step = 0; step < 120; ++step) {
      pairs.step();
      pairs.ask();
      if (step % 20 == 0) pairs.compare_all();
      ASSERT_FALSE(HasFatalFailure()) << "seed " << seed << ", step " << step;
    }
    pairs.compare_all();
    ASSERT_FALSE(HasFatalFailure()) << "seed " << seed;
  }
}

TEST(clock, nobody_is_never_known) {
  Agents agents;
  const AgentId warp = agents.add({AgentKind::Warp, 0, 0}, 0);
  Clock clock;
  EXPECT_FALSE(clock.covers(agents, warp, kAllLanes, 1));
  clock.raise(agents, warp, kAllLanes, 3);
  clock.raise(agents, 0, kAllLanes, 3);
  EXPECT_FALSE(clock.covers(agents, 0, kAllLanes, 0));
  EXPECT_FALSE(clock.covers_any(agents, 0, kAllLanes, 0));
}

TEST(clock, clocks_that_have_learnt_the_same_are_the_same) {
  Agents agents;
  const AgentId warp = agents.add({AgentKind::Warp, 0, 0}, 4), other = agents.add({AgentKind::Warp, 0, 1}, 4);
  Clock a, b;
  a.raise(agents, warp, kAllLanes, 3);
  b.join(a, agents);
  EXPECT_TRUE(a.is_same(b));
  b.raise(agents, other, 1, 2);
  EXPECT_FALSE(a.is_same(b));
  EXPECT_FALSE(a.covers(agents, other, 1, 2));
  a.join(b, agents);
  EXPECT_TRUE(a.is_same(b));
}

}  // namespace
