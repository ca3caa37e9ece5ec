// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What granules remember, against a list per byte of all accesses since the last weak write.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "check/shadow.hpp"

namespace {

using namespace sluice::check;

/// All accesses to one byte since the last weak write to it, that one included.
using Accesses = std::vector<Record>;

bool same_access(const Record& a, const Record& b) {
  return a.stamp.agent == b.stamp.agent && a.stamp.time == b.stamp.time && a.origin == b.origin &&
         a.flags == b.flags;
}

/// A few granules that are copied from one another, with their lists.
class Pairs {
 public:
  explicit Pairs(uint32_t seed) : random_(seed) {}

  void step() {
    const size_t to = random_() % kCount;
    if (random_() % 6 == 0) {
      const size_t from = random_() % kCount;
      granules_[to] = granules_[from];
      lists_[to] = lists_[from];
      return;
    }
    // Agents' times only go on.
    Record record;
    record.stamp.agent = 1 + random_() % 4;
    record.stamp.lanes = static_cast<uint32_t>(1 + random_() % 3) << random_() % 3;
    record.stamp.time = times_[record.stamp.agent] += random_() % 2;
    record.origin = random_() % 3;
    record.flags = random_() % 3 == 0 ? Record::kWrite : 0;
    if (random_() % 3 == 0) record.flags |= Record::kStrong;
    const uint32_t width = 1u << random_() % 5;
    const uint32_t first = random_() % (kGranule / width) * width;
    record.bytes = static_cast<uint16_t>(((uint32_t{1} << width) - 1) << first);
    const uint32_t log_piece = random_() % 4;
    if (random_() % 2 == 0 && width > 1u << log_piece) {
      const uint32_t lane = random_() % 3;
      record.ramp = Ramp(lane, first, log_piece);
      record.stamp.lanes = ((1u << (width >> log_piece)) - 1) << lane;
    }
    granules_[to].remember(record);
    for (uint32_t byte = first; byte < first + width; ++byte) {
      if (record.is_weak_write()) lists_[to][byte].clear();
      lists_[to][byte].push_back(record);
      Record& last = lists_[to][byte].back();
      if (!record.ramp.is_none()) last.stamp.lanes = 1u << record.ramp.lane(byte);
    }
  }

  void compare_all() const {
    for (size_t g = 0; g < kCount; ++g)
      for (uint32_t byte = 0; byte < kGranule; ++byte) {
        const Accesses& all = lists_[g][byte];
        Accesses kept;
        granules_[g].for_overlapping(static_cast<uint16_t>(1u << byte),
                                     [&](const Record& r) { kept.push_back(r); });
        for (const Record& r : kept) ASSERT_TRUE(happened(r, all));
        for (const Record& r : all) ASSERT_TRUE(is_covered(r, kept)) << "byte " << byte;
      }
  }

 private:
  static constexpr size_t kCount = 3;

  /// Nothing is remembered that has not happened since the last weak write.
  static bool happened(const Record& kept, const Accesses& all) {
    uint32_t lanes = 0;
    for (const Record& r : all) lanes |= same_access(r, kept) ? r.stamp.lanes : 0;
    return (kept.stamp.lanes & ~lanes) == 0;
  }
  /// Nothing is forgotten but what later accesses of the same lanes stand for: those that conflict with all
  /// that it conflicts with.
  static bool is_covered(const Record& r, const Accesses& kept) {
    uint32_t lanes = 0;
    for (const Record& k : kept) {
      bool stands_for = k.stamp.agent == r.stamp.agent && k.stamp.time >= r.stamp.time;
      for (const bool writes : {false, true})
        for (const bool strong : {false, true})
          stands_for &= !conflict(r, writes, strong) || conflict(k, writes, strong);
      lanes |= stands_for ? k.stamp.lanes : 0;
    }
    return (r.stamp.lanes & ~lanes) == 0;
  }

  static bool conflict(const Record& r, bool writes, bool strong) {
    return (r.writes() || writes) && !(r.is_strong() && strong);
  }

  std::mt19937 random_;
  std::array<Granule, kCount> granules_;
  std::array<std::array<Accesses, kGranule>, kCount> lists_;
  std::array<Time, 5> times_{1, 1, 1, 1, 1};
};

TEST(shadow, granules_remember_what_later_accesses_do_not_stand_for) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    Pairs pairs(seed);
    for (int step = 0; step < 100; ++step) {
      pairs.step();
      pairs.compare_all();
      ASSERT_FALSE(testing::Test::HasFatalFailure()) << "seed " << seed << ", step " << step;
    }
  }
}

TEST(shadow, each_lane_of_a_ramp_stands_for_its_piece) {
  const Ramp ramp(30, 8, 2);  // bytes 8 to 11 are lane 30's, 12 to 15 lane 31's
  EXPECT_EQ(ramp.piece_bytes(), 4u);
  EXPECT_EQ(ramp.lane(11), 30u);
  EXPECT_EQ(ramp.lane(12), 31u);
  Granule granule;
  granule.remember({.stamp = {1, 3u << 30, 1}, .bytes = 0xff00, .flags = Record::kWrite, .ramp = ramp});
  granule.remember({.stamp = {2, 1, 1}, .bytes = 0x0800, .flags = Record::kWrite});
  uint32_t lanes = 0;
  uint16_t bytes = 0;
  granule.for_overlapping(0x1c00, [&](const Record& r) {
    if (r.stamp.agent != 1) return;
    lanes |= r.stamp.lanes;
    bytes |= r.bytes;
  });
  EXPECT_EQ(bytes, 0x1400);
  EXPECT_EQ(lanes, 3u << 30);
  granule.for_overlapping(0x0300, [&](const Record& r) { EXPECT_EQ(r.stamp.lanes, 1u << 30); });
}

TEST(shadow, more_readers_than_are_kept_leave_the_write_and_the_latest) {
  Granule granule;
  Record record{.stamp = {1, 1, 1}, .bytes = 0xffff, .flags = Record::kWrite};
  granule.remember(record);
  record.flags = 0;
  for (AgentId agent = 2; agent < 202; ++agent) {
    record.stamp.agent = agent;
    granule.remember(record);
  }
  std::vector<AgentId> agents;
  granule.for_overlapping(1, [&](const Record& r) { agents.push_back(r.stamp.agent); });
  EXPECT_LT(agents.size(), 100u);
  EXPECT_EQ(agents.front(), 1u);
  EXPECT_EQ(agents.back(), 201u);
}

TEST(shadow, memory_is_bounded_where_many_read) {
  // 48 agents read each word, one after the other.
  Shadow shadow;
  constexpr uint64_t kBytes = 2 << 20;
  uint64_t forgotten = 0, held = 0;
  for (AgentId agent = 1; agent <= 48; ++agent) {
    shadow.for_granules(0, kBytes, [&](Granule& granule, uint16_t mask, uint64_t) {
      forgotten += granule.remember({.stamp = {agent, 1, 1}, .bytes = mask}, shadow.most_records());
    });
    held = std::max(held, Granule::bytes_held());
  }
  EXPECT_GT(forgotten, 0u);
  EXPECT_LE(held, 7 * kBytes + (64 << 20) + 4096);
  shadow.clear();
  EXPECT_EQ(Granule::bytes_held(), 0u);
}

TEST(shadow, pages_forget_and_copies_do_not) {
  Shadow shadow;
  Granule kept;
  const Record record{.stamp = {1, 1, 1}, .bytes = 0xffff, .flags = Record::kWrite};
  shadow.for_granules(4096, 64, [&](Granule& granule, uint16_t, uint64_t) {
    granule.remember(record);
    kept = granule;
  });
  shadow.forget(4096, 64);
  int count = 0;
  shadow.for_granules(4096, 64, [&](Granule& granule, uint16_t mask, uint64_t) {
    granule.for_overlapping(mask, [&](const Record&) { ++count; });
  });
  EXPECT_EQ(count, 0);
  kept.for_overlapping(1, [&](const Record&) { ++count; });
  EXPECT_EQ(count, 1);
}

}  // namespace
