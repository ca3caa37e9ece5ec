// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Virtual time follows from causes, whatever the order in which the engine does things.
#include "timeline/recording.hpp"

namespace {

using namespace sluice;
using namespace sluice::test;
using timeline::Model;
using timeline::Record;
using timeline::RecordKind;

std::vector<Record> records(const timeline::Trace& trace, RecordKind kind) {
  std::vector<Record> found;
  for (const Record& r : trace.launches.at(0).records) {
    if (r.kind == kind) found.push_back(r);
  }
  return found;
}

TEST(clock, a_wait_ends_when_the_arrival_happens) {
  const Model m = model_of(
      only(0, init(0, 1)) + kSync + warp(0, wait(0, 0)) + only(32, work(500) + arrive(0)), {.block = 64});
  ASSERT_EQ(m.waits.size(), 1u);
  ASSERT_EQ(m.arrivals.size(), 1u);
  EXPECT_TRUE(m.waits[0].waited);
  EXPECT_EQ(m.waits[0].end, m.arrivals[0].t);
  EXPECT_NEAR(static_cast<double>(m.waits[0].waited_for()), 500, 20);
  EXPECT_EQ(m.waits[0].ended_by, timeline::CauseKind::Arrival);
}

TEST(clock, a_wait_for_what_has_happened_passes_at_once) {
  const Model m = model_of(
      only(0, init(0, 1)) + kSync + warp(0, work(500) + wait(0, 0)) + only(32, arrive(0)), {.block = 64});
  ASSERT_EQ(m.waits.size(), 1u);
  EXPECT_FALSE(m.waits[0].waited);
  EXPECT_EQ(m.waits[0].end, m.waits[0].asked);
}

TEST(clock, copies_follow_each_other_and_land_after_their_latency) {
  const Model m =
      model_of(only(0, init(0, 1) + expect(0, 2048) + copy(0, 1024) + copy(0, 1024, 1024) + wait(0, 0)));
  ASSERT_EQ(m.copies.size(), 2u);
  const uint64_t per_copy = 1024 / timeline::kCopyBytesPerStep;
  EXPECT_EQ(*m.copies[0].landed, m.copies[0].issued + per_copy + timeline::kCopyLatency);
  EXPECT_EQ(*m.copies[1].landed, *m.copies[0].landed + per_copy);
  EXPECT_EQ(m.waits[0].end, m.copies[1].landed);
  EXPECT_EQ(m.waits[0].ended_by, timeline::CauseKind::Copy);
}

// The schedule is the engine's choice; who waits for whom is the program's.
TEST(clock, late_copies_give_the_same_times) {
  const std::string body =
      only(0, init_ring(0)) + kSync + only(0, produce(0, 6)) + warp(1, consume(0, 6, work(50)));
  Launch late{.block = 64};
  late.options.timing = machine::CopyTiming::Late;
  const Model early = model_of(body, {.block = 64}), again = model_of(body, late);
  ASSERT_EQ(early.rings.size(), 1u);
  ASSERT_EQ(again.rings.size(), 1u);
  for (size_t t = 0; t < 6; ++t) {
    EXPECT_NEAR(static_cast<double>(*early.rings[0].uses[t].full),
                static_cast<double>(*again.rings[0].uses[t].full), 8);
    EXPECT_NEAR(static_cast<double>(*early.rings[0].uses[t].released),
                static_cast<double>(*again.rings[0].uses[t].released), 8);
  }
}

TEST(clock, a_named_barrier_lets_all_go_at_the_latest) {
  const timeline::Trace trace = record(warp(0, work(400)) + kSync, {.block = 64});
  const auto syncs = records(trace, RecordKind::Sync);
  ASSERT_EQ(syncs.size(), 2u);
  EXPECT_EQ(syncs[0].end, syncs[1].end);
  EXPECT_NEAR(static_cast<double>(syncs[1].t - syncs[0].t), 400, 20);
}

TEST(clock, a_cluster_barrier_lets_all_go_at_the_latest) {
  const std::string meet = "barrier.cluster.arrive.aligned;\n barrier.cluster.wait.aligned;\n";
  const std::string late =
      "mov.u32 %r8, %cluster_ctarank;\n setp.eq.u32 %p3, %r8, 0;\n @%p3 bra NOT_LATE;\n" + work(400) +
      "NOT_LATE:\n";
  const timeline::Trace trace = record(late + meet, {.grid = 2, .cluster = 2});
  const auto syncs = records(trace, RecordKind::Sync);
  ASSERT_EQ(syncs.size(), 2u);
  // The instruction of the one that waits is executed again.
  EXPECT_NEAR(static_cast<double>(*syncs[0].end), static_cast<double>(*syncs[1].end), 1);
  EXPECT_GE(*syncs[0].end, 400u);
  EXPECT_GE(*syncs[1].end, 400u);
  EXPECT_EQ(trace.launches[0].ctas, (std::vector<uint32_t>{0, 1}));
}

// An arrival for cp.async happens when the copies of the thread have landed.
TEST(clock, arrivals_of_cp_async_come_with_the_copies) {
  const std::string fetch =
      "cp.async.ca.shared.global [%r3], [%rd2], 16;\n"
      "cp.async.mbarrier.arrive.noinc.shared::cta.b64 " +
      bar(0) + ";\n";
  const Model m = model_of(only(0, init(0, 1) + fetch + wait(0, 0)));
  ASSERT_EQ(m.waits.size(), 1u);
  EXPECT_GE(m.waits[0].waited_for(), timeline::kCopyLatency - 10);
  ASSERT_EQ(m.arrivals.size(), 1u);
  EXPECT_TRUE(m.arrivals[0].is_async);
}

TEST(recorder, only_the_ctas_asked_for_are_recorded_and_the_others_counted) {
  const std::string body = only(0, init(0, 1) + arrive(0));
  const timeline::Trace trace = record(body, {.grid = 4}, {.file = "", .ctas = {2}});
  ASSERT_EQ(trace.launches.size(), 1u);
  EXPECT_EQ(trace.launches[0].ctas, (std::vector<uint32_t>{2}));
  EXPECT_EQ(trace.launches[0].ctas_left_out, 3u);
  EXPECT_FALSE(trace.launches[0].records.empty());
  for (const Record& r : trace.launches[0].records) EXPECT_EQ(r.cta, 2u);
}

TEST(recorder, what_does_not_fit_is_counted) {
  const timeline::Trace all = record(only(0, init(0, 1) + arrive(0)));
  const timeline::Trace cut =
      record(only(0, init(0, 1) + arrive(0)), {}, {.file = "", .ctas = {0}, .most_records = 2});
  ASSERT_EQ(cut.launches.size(), 1u);
  EXPECT_EQ(cut.launches[0].records.size(), 2u);
  EXPECT_EQ(cut.launches[0].left_out, all.launches[0].records.size() - 2);
}

}  // namespace
