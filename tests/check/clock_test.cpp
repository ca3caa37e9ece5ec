// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Clocks against a plain table of numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "check/clock.hpp"

namespace {

using namespace sluice::check;

using Table = std::array<Time, kLanes>;

void expect_equal(const LaneTimes& times, const Table& table) {
  for (uint32_t lane = 0; lane < kLanes; ++lane) ASSERT_EQ(times.of(lane), table[lane]) << "lane " << lane;
}

TEST(clock, raises_and_joins_agree_with_a_table) {
  std::mt19937 random(7);
  const auto lanes = [&] {
    const uint32_t choices[] = {kAllLanes, 1, 0xffff0000u, uint32_t(random()), uint32_t{1} << random() % 32};
    return choices[random() % 5];
  };
  for (int round = 0; round < 2000; ++round) {
    LaneTimes times[2];
    Table tables[2] = {};
    for (int step = 0; step < 8; ++step) {
      const int which = random() % 2;
      if (random() % 3 == 0) {
        times[which].join(times[1 - which]);
        for (uint32_t i = 0; i < kLanes; ++i) tables[which][i] = std::max(tables[0][i], tables[1][i]);
      } else {
        const uint32_t mask = lanes();
        const Time time = random() % 6 + step / 2;
        times[which].raise(mask, time);
        for (uint32_t i = 0; i < kLanes; ++i)
          if (mask >> i & 1) tables[which][i] = std::max(tables[which][i], time);
      }
      expect_equal(times[which], tables[which]);
      const uint32_t mask = lanes();
      const Time time = random() % 8;
      bool all = true, any = false;
      for (uint32_t i = 0; i < kLanes; ++i) {
        if ((mask >> i & 1) == 0) continue;
        all &= tables[which][i] >= time;
        any |= tables[which][i] >= time;
      }
      if (mask == 0) continue;
      ASSERT_EQ(times[which].covers(mask, time), all);
      ASSERT_EQ(times[which].covers_any(mask, time), any);
    }
  }
}

TEST(clock, join_keeps_agents_of_both_sides) {
  Clock a, b;
  a.raise(3, kAllLanes, 5);
  a.raise(9, 1, 2);
  b.raise(1, kAllLanes, 4);
  b.raise(9, 2, 7);
  a.join(b);
  EXPECT_TRUE(a.covers(1, kAllLanes, 4));
  EXPECT_TRUE(a.covers(3, kAllLanes, 5));
  EXPECT_TRUE(a.covers(9, 1, 2));
  EXPECT_TRUE(a.covers(9, 2, 7));
  EXPECT_FALSE(a.covers(9, 1, 3));
  EXPECT_FALSE(a.covers(9, 4, 1));
  EXPECT_FALSE(a.knows(2));
}

}  // namespace
