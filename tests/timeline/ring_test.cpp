// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Rings are recognised from what a kernel's threads do with its barriers.
#include "timeline/recording.hpp"

namespace {

using namespace sluice;
using namespace sluice::test;
using timeline::Model;
using timeline::Part;
using timeline::Ring;

std::string ring_kernel(int tiles, const std::string& producer = "", const std::string& consumer = "") {
  return only(0, init_ring(0)) + kSync + only(0, produce(0, tiles, producer)) +
         warp(1, consume(0, tiles, consumer));
}

/// Addresses of the ring's barriers, counted in barriers from the first of the kernel.
std::vector<uint32_t> places(const Model& m, const Ring& ring, Part part) {
  uint32_t base = UINT32_MAX;
  for (const timeline::Barrier& b : m.barriers) base = std::min(base, b.address);
  std::vector<uint32_t> result;
  for (const timeline::Stage& s : ring.stages) {
    const uint32_t barrier = part == Part::Full ? s.full : s.empty;
    if (barrier != timeline::kNone) result.push_back((m.barriers[barrier].address - base) / 8);
  }
  return result;
}

using Places = std::vector<uint32_t>;

TEST(ring, two_stages_with_their_roles_and_tiles) {
  const Model m = model_of(ring_kernel(5), {.block = 64});
  ASSERT_EQ(m.rings.size(), 1u);
  const Ring& ring = m.rings[0];
  EXPECT_EQ(places(m, ring, Part::Full), (Places{0, 1}));
  EXPECT_EQ(places(m, ring, Part::Empty), (Places{2, 3}));
  ASSERT_EQ(ring.producers.size(), 1u);
  EXPECT_EQ(m.agents[ring.producers[0]].warp, 0u);
  EXPECT_EQ(m.agents[ring.producers[0]].lanes, 1u);
  ASSERT_EQ(ring.consumers.size(), 1u);
  EXPECT_EQ(m.agents[ring.consumers[0]].warp, 1u);
  ASSERT_EQ(ring.uses.size(), 5u);
  for (uint32_t t = 0; t < 5; ++t) {
    EXPECT_EQ(ring.uses[t].stage, t % 2) << t;
    EXPECT_EQ(ring.uses[t].ordinal, t / 2) << t;
    EXPECT_EQ(ring.uses[t].producer_parity, 1 - t / 2 % 2) << t;
    EXPECT_EQ(ring.uses[t].consumer_parity, t / 2 % 2) << t;
    EXPECT_EQ(ring.uses[t].bytes, 256) << t;
    ASSERT_TRUE(ring.uses[t].full && ring.uses[t].released) << t;
  }
}

TEST(ring, two_rings_of_the_same_threads_are_two) {
  const std::string both = only(0, init_ring(0) + init_ring(4)) + kSync +
                           only(0, produce(0, 4) + produce(4, 4)) + warp(1, consume(0, 4) + consume(4, 4));
  const Model m = model_of(both, {.block = 64});
  ASSERT_EQ(m.rings.size(), 2u);
  EXPECT_EQ(places(m, m.rings[0], Part::Full), (Places{0, 1}));
  EXPECT_EQ(places(m, m.rings[1], Part::Full), (Places{4, 5}));
  EXPECT_EQ(places(m, m.rings[1], Part::Empty), (Places{6, 7}));
}

TEST(ring, threads_that_store_fill_without_bytes) {
  std::string producer, consumer;
  for (int t = 0; t < 4; ++t) {
    producer += wait(2 + t % 2, 1 - t / 2 % 2) + arrive(t % 2);
    consumer += wait(t % 2, t / 2 % 2) + arrive(2 + t % 2);
  }
  const std::string inits = init(0, 32) + init(1, 32) + init(2, 32) + init(3, 32);
  const Model m = model_of(only(0, inits) + kSync + warp(0, producer) + warp(1, consumer), {.block = 64});
  ASSERT_EQ(m.rings.size(), 1u);
  EXPECT_EQ(places(m, m.rings[0], Part::Full), (Places{0, 1}));
  EXPECT_EQ(m.rings[0].uses.size(), 4u);
}

// Each of four warps reads a tile and releases the one before it, so most that is seen after a wait for a
// full barrier is the arrival on another stage's empty one.
TEST(ring, consumers_that_hold_a_stage_do_not_mix_the_stages) {
  const auto consumer = [] {
    std::string text = wait(0, 0);
    for (int t = 1; t < 6; ++t) text += wait(t % 2, t / 2 % 2) + arrive(2 + (t - 1) % 2);
    return text + arrive(3);
  };
  std::string body =
      only(0, init(0, 1) + init(1, 1) + init(2, 128) + init(3, 128)) + kSync + only(0, produce(0, 6));
  for (int w = 1; w <= 4; ++w) body += warp(w, consumer());
  const Model m = model_of(body, {.block = 160});
  ASSERT_EQ(m.rings.size(), 1u);
  EXPECT_EQ(places(m, m.rings[0], Part::Full), (Places{0, 1}));
  EXPECT_EQ(places(m, m.rings[0], Part::Empty), (Places{2, 3}));
  EXPECT_EQ(m.rings[0].uses.size(), 6u);
}

// Two rings of two stages; in both, one warp reads the first stage alone. What belongs together are the
// stages of a ring, not those that the same threads read.
TEST(ring, a_consumer_that_leaves_a_stage_out_does_not_tear_the_ring) {
  const auto read = [](int stage) { return wait(stage, 0) + arrive(stage + 2); };
  std::string inits;
  for (int ring : {0, 4})
    inits += init(ring, 1) + init(ring + 1, 1) + init(ring + 2, 64) + init(ring + 3, 64);
  const Model m = model_of(only(0, inits) + kSync + only(0, produce(0, 2) + produce(4, 2)) +
                               warp(1, read(0) + read(1) + read(4) + read(5)) + warp(2, read(0) + read(4)),
                           {.block = 96});
  ASSERT_EQ(m.rings.size(), 2u);
  EXPECT_EQ(places(m, m.rings[0], Part::Full), (Places{0, 1}));
  EXPECT_EQ(places(m, m.rings[1], Part::Full), (Places{4, 5}));
}

TEST(ring, consumers_that_give_the_stages_away_first_are_one_phase_later) {
  std::string producer, consumer = arrive(1);
  for (int t = 0; t < 3; ++t) {
    producer += wait(1, t % 2) + expect(0, 256) + copy(0, 256);
    consumer += wait(0, t % 2) + arrive(1);
  }
  const Model m = model_of(only(0, init(0, 1) + init(1, 32)) + kSync + only(0, producer) + warp(1, consumer),
                           {.block = 64});
  ASSERT_EQ(m.rings.size(), 1u);
  EXPECT_EQ(m.rings[0].empty_offset, 1);
  ASSERT_EQ(m.rings[0].uses.size(), 3u);
  for (const timeline::Use& u : m.rings[0].uses) {
    EXPECT_EQ(u.acquires.size(), 1u);
    ASSERT_EQ(u.releases.size(), 1u);
    EXPECT_GE(m.arrivals[u.releases[0]].t, *u.seen);
  }
}

TEST(ring, a_barrier_of_copies_without_partner_has_no_empty) {
  const Model m = model_of(only(0, init(0, 1) + expect(0, 256) + copy(0, 256) + wait(0, 0) + expect(0, 256) +
                                       copy(0, 256) + wait(0, 1)));
  ASSERT_EQ(m.rings.size(), 1u);
  EXPECT_EQ(places(m, m.rings[0], Part::Empty), Places{});
  EXPECT_EQ(m.rings[0].uses.size(), 2u);
}

TEST(ring, barriers_that_order_nothing_in_turn_are_none) {
  const Model m = model_of(only(0, init(0, 1) + arrive(0) + wait(0, 0)));
  EXPECT_TRUE(m.rings.empty());
  EXPECT_EQ(m.barriers.size(), 1u);
}

TEST(ring, a_slow_consumer_is_back_pressure_and_a_slow_producer_starvation) {
  const Model slow_consumer = model_of(ring_kernel(12, "", work(3000)), {.block = 64});
  ASSERT_EQ(slow_consumer.rings.size(), 1u);
  EXPECT_EQ(slow_consumer.rings[0].limit, timeline::Limit::Consumers) << slow_consumer.rings[0].verdict;
  const Model slow_producer = model_of(ring_kernel(12, work(3000)), {.block = 64});
  ASSERT_EQ(slow_producer.rings.size(), 1u);
  EXPECT_EQ(slow_producer.rings[0].limit, timeline::Limit::Producer) << slow_producer.rings[0].verdict;
}

// A copy takes 608 steps and a tile 100: two stages cannot cover the way of a copy, more would.
TEST(ring, more_stages_help_where_copies_take_longer_than_tiles) {
  const Model m = model_of(ring_kernel(24, "", work(100)), {.block = 64});
  ASSERT_EQ(m.rings.size(), 1u);
  const auto& what_if = m.rings[0].what_if;
  ASSERT_EQ(what_if.size(), 3u);
  EXPECT_EQ(what_if[0].time, m.rings[0].end - m.rings[0].begin);
  EXPECT_LT(static_cast<double>(what_if[1].time), 0.75 * static_cast<double>(what_if[0].time));
  EXPECT_NE(m.rings[0].verdict.find("with 3 stages the same work would take"), std::string::npos)
      << m.rings[0].verdict;
}

TEST(ring, states_follow_the_barriers) {
  const Model m = model_of(ring_kernel(3), {.block = 64});
  ASSERT_EQ(m.rings.size(), 1u);
  int64_t most_due = 0;
  for (const timeline::StateChange& s : m.states) {
    EXPECT_GE(s.pending, 0);
    EXPECT_GE(s.due, 0);
    most_due = std::max(most_due, s.due);
    if (s.what == timeline::RecordKind::Flip) {
      EXPECT_EQ(s.due, 0);
      EXPECT_EQ(s.pending, m.barriers[s.barrier].expected);
    }
  }
  EXPECT_EQ(most_due, 256);
}

TEST(ring, a_wait_that_never_ends_is_told) {
  const Model m = model_of(only(0, init(0, 1) + wait(0, 0)));
  ASSERT_EQ(m.waits.size(), 1u);
  EXPECT_FALSE(m.waits[0].end);
  EXPECT_EQ(m.waits[0].phase, 0);
  EXPECT_TRUE(m.failed);
}

}  // namespace
