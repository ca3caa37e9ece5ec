// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Findings about mbarriers, each with the mistake and with a twin that looks like it and is right.
#include "check/pairs.hpp"

namespace {

using namespace sluice::test;

class Protocol : public testing::TestWithParam<Pair> {};

TEST_P(Protocol, FindsTheMistakeAndNotItsTwin) {
  expect_told_apart(GetParam());
}

const std::string kClusterBarrier = "barrier.cluster.arrive.aligned;\n barrier.cluster.wait.aligned;\n";

// The second CTA of two fills a tile of both; `after_init` stands between the init and the copy.
std::string multicast_pair(const std::string& after_init) {
  return only(0, init(0, 1) + "fence.mbarrier_init.release.cluster;\n") + after_init +
         only(0, expect(0, 256)) +
         "mov.u32 %r20, %cluster_ctarank;\n xor.b32 %r20, %r20, 1;\n or.b32 %r20, %r20, %r1;\n"
         "setp.ne.u32 %p3, %r20, 0;\n"
         "mov.b16 %rs1, 3;\n"
         "@!%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
         "[%r3], [%rd2], 256, [%r2], %rs1;\n" +
         wait(0, 0) + kClusterBarrier;
}

// The first CTA of two arrives on the barrier of `rank`.
std::string remote_arrival(int rank) {
  return only(0, init(0, 1) + "fence.mbarrier_init.release.cluster;\n") + kClusterBarrier +
         "mov.u32 %r20, %cluster_ctarank;\n or.b32 %r20, %r20, %r1;\n setp.ne.u32 %p3, %r20, 0;\n" +
         "mapa.shared::cluster.u32 %r21, %r2, " + std::to_string(rank) +
         ";\n @!%p3 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r21];\n" + kClusterBarrier;
}

// Asks with long pauses.
std::string poll(int index, int parity) {
  static int label = 0;
  const std::string l = "POLL" + std::to_string(++label);
  return l + ": mbarrier.test_wait.parity.shared::cta.b64 %p7, " + bar(index) + ", " +
         std::to_string(parity) + ";\n @%p7 bra " + l + "_END;\n nanosleep.u32 1000000;\n bra " + l + ";\n" +
         l + "_END:\n";
}

std::vector<Pair> pairs() {
  const std::string start = only(0, init(0, 1));
  // Long enough for others to come to their wait.
  const std::string linger =
      "mov.u32 %r12, 9000;\n LINGER: sub.u32 %r12, %r12, 1;\n setp.ne.u32 %p3, %r12, 0;\n @%p3 bra LINGER;\n";
  const std::string ring_start = only(0, init(0, 1) + init(1, 32)) + kSync;
  // Warp 0 fills, warp 1 empties, twice; `parity` starts the producer.
  const auto ring = [&](int parity, const std::string& release) {
    std::string producer, consumer;
    for (int use = 0; use < 2; ++use) {
      producer += wait(1, use == 0 ? parity : parity ^ 1) + expect(0, 256) + copy(0, 256);
      consumer += wait(0, use & 1) + "ld.shared.u32 %r10, [%r3];\n" + (use == 0 ? release : arrive(1));
    }
    return ring_start + only(0, producer) + warp(1, consumer);
  };
  return {
      {"arrival_without_init", "barrier-uninitialised", only(0, arrive(0)), start + only(0, arrive(0))},
      {"wait_without_init", "barrier-uninitialised", only(0, wait(0, 1)), start + only(0, wait(0, 1))},
      {"copy_without_init", "barrier-uninitialised", only(0, copy(0, 256) + "st.global.u32 [%rd1], %r1;"),
       start + only(0, expect(0, 256) + copy(0, 256) + wait(0, 0))},
      {"init_of_a_live_barrier", "barrier-reinitialised", only(0, init(0, 1) + init(0, 2)),
       only(0, init(0, 1) + "mbarrier.inval.shared::cta.b64 " + bar(0) + ";\n" + init(0, 2))},
      {"count_above_the_limit", "barrier-invalid-count", only(0, init(0, 1 << 20)),
       only(0, init(0, (1 << 20) - 1))},
      {"barrier_off_8_bytes", "barrier-misaligned", only(0, "mbarrier.init.shared::cta.b64 [%r2+4], 1;\n"),
       only(0, "mbarrier.init.shared::cta.b64 [%r2+8], 1;\n")},
      {"use_after_inval", "barrier-uninitialised",
       start + only(0, "mbarrier.inval.shared::cta.b64 " + bar(0) + ";\n" + arrive(0)),
       start + only(0, arrive(0) + "mbarrier.inval.shared::cta.b64 " + bar(0) + ";\n")},
      {"cta_ends_with_a_copy_in_flight", "missing-wait", start + only(0, expect(0, 256) + copy(0, 256)),
       start + only(0, expect(0, 256) + copy(0, 256) + wait(0, 0))},
      {"byte_count_leaves_its_range", "tx-bytes-exceed",
       only(0, init(0, 2)) + only(0, expect(0, 1 << 19) + expect(0, 1 << 19)),
       only(0, init(0, 2)) + only(0, expect(0, 1 << 19))},
      {"phase_that_passes_a_waiter",
       "phase-lapped",
       only(0, init(0, 1)) + kSync + warp(1, wait(0, 0)) +
           only(0, linger + arrive(0) + wait(0, 0) + arrive(0)),
       only(0, init(0, 1) + init(1, 32)) + kSync + warp(1, wait(0, 0) + arrive(1)) +
           only(0, linger + arrive(0) + wait(1, 0) + arrive(0)),
       {.block = 64}},
      {"goes_on_when_the_phase_is_not_complete", "livelock",
       start + only(0, "AGAIN: mbarrier.try_wait.parity.shared::cta.b64 %p7, [%r2], 1;\n @%p7 bra AGAIN;\n"),
       start +
           only(0, "AGAIN: mbarrier.try_wait.parity.shared::cta.b64 %p7, [%r2], 1;\n @!%p7 bra AGAIN;\n")},
      {"phase_that_passes_a_poller",
       "phase-lapped",
       only(0, init(0, 1)) + kSync + warp(1, poll(0, 0)) +
           only(0, linger + arrive(0) + wait(0, 0) + arrive(0)),
       only(0, init(0, 1) + init(1, 32)) + kSync + warp(1, poll(0, 0) + arrive(1)) +
           only(0, linger + arrive(0) + wait(1, 0) + arrive(0)),
       {.block = 64}},
      {"lanes_that_init_one_barrier_for_different_counts", "barrier-reinitialised",
       "add.u32 %r9, %r1, 1;\n mbarrier.init.shared::cta.b64 [%r2], %r9;\n", init(0, 32)},
      {"signal_to_a_rank_that_the_cluster_has_not",
       "multicast-mask-mismatch",
       remote_arrival(2),
       remote_arrival(1),
       {.grid = 2, .block = 32, .cluster = 2}},
      {"lanes_that_a_collective_names_and_that_do_not_come", "divergent-collective",
       "setp.lt.u32 %p3, %r1, 16;\n @%p3 bra A;\n bar.warp.sync 0xffffffff;\n bra B;\n"
       "A: mov.u32 %r10, 1;\n L: setp.eq.u32 %p4, %r10, 1;\n vote.sync.any.pred %p5, %p4, 0xffffffff;\n B:\n",
       "bar.warp.sync 0xffffffff;\n vote.sync.any.pred %p5, %p4, 0xffffffff;\n"},
      {"count_of_zero", "barrier-invalid-count", only(0, init(0, 0)), only(0, init(0, 1))},
      {"store_into_a_barrier", "barrier-overwritten", start + only(0, "st.shared.u32 [%r2+4], %r1;"),
       start + only(0, "st.shared.u32 [%r2+8], %r1;")},
      {"copy_into_a_barrier", "barrier-overwritten",
       only(0, init(0, 1) + init(2, 1) + expect(0, 16) +
                   "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2+16], [%rd2], 16, "
                   "[%r2];\n" +
                   wait(0, 0)),
       only(0, init(0, 1) + init(1, 1) + expect(0, 16) +
                   "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2+16], [%rd2], 16, "
                   "[%r2];\n" +
                   wait(0, 0))},
      {"use_before_the_cta_barrier",
       "barrier-init-not-visible",
       start + only(32, arrive(0)),
       start + kSync + only(32, arrive(0)),
       {.block = 64}},
      {"multicast_before_the_cluster_barrier",
       "barrier-init-not-visible",
       multicast_pair(kSync),
       multicast_pair(kClusterBarrier),
       {.grid = 2, .block = 32, .cluster = 2}},
      {"two_lanes_arm_for_one", "over-arrival",
       only(0, init(0, 1)) + "bar.warp.sync -1;\n setp.gt.u32 %p3, %r1, 1;\n @%p3 bra END;\n" +
           expect(0, 256) + "END:",
       only(0, init(0, 2)) + "bar.warp.sync -1;\n setp.gt.u32 %p3, %r1, 1;\n @%p3 bra END;\n" + arrive(0) +
           "END:"},
      {"more_arrivals_than_counted",
       "over-arrival",
       only(0, init(0, 32)) + kSync + arrive(0) + warp(0, wait(0, 0)),
       only(0, init(0, 64)) + kSync + arrive(0) + warp(0, wait(0, 0)),
       {.block = 64}},
      {"arrives_again_without_waiting",
       "missing-wait",
       only(0, init(0, 2)) + kSync + only(0, arrive(0)) + only(32, arrive(0)) +
           only(0, "nanosleep.u32 100;" + arrive(0)),
       only(0, init(0, 2)) + kSync + only(0, arrive(0)) + only(32, arrive(0)) +
           only(0, wait(0, 0) + arrive(0)),
       {.block = 64}},
      {"expects_more_than_comes", "tx-bytes-never-arrive",
       start + only(0, expect(0, 512) + copy(0, 256) + wait(0, 0)),
       start + only(0, expect(0, 512) + copy(0, 256) + copy(0, 256, 256) + wait(0, 0))},
      {"expects_less_than_comes", "tx-bytes-exceed",
       start + only(0, expect(0, 128) + copy(0, 256) + wait(0, 0)),
       start + only(0, expect(0, 256) + copy(0, 256) + wait(0, 0))},
      {"plain_arrival_after_a_copy", "expect-tx-missing",
       start + only(0, copy(0, 256) + arrive(0) + wait(0, 0)),
       start + only(0, copy(0, 256) + expect(0, 256) + wait(0, 0))},
      {"expectation_without_arrival", "expect-tx-missing",
       start + only(0, "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 " + bar(0) + ", 256;\n" +
                           copy(0, 256) + wait(0, 0)),
       start + only(0, "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 " + bar(0) + ", 256;\n" +
                           copy(0, 256) + arrive(0) + wait(0, 0))},
      {"copy_that_nobody_arms", "expect-tx-missing", start + only(0, copy(0, 256) + wait(0, 0)),
       start + only(0, copy(0, 256) + expect(0, 256) + wait(0, 0))},
      {"count_too_high", "arrivals-never-complete", only(0, init(0, 2) + arrive(0) + wait(0, 0)),
       only(0, init(0, 2) + arrive(0) + arrive(0) + wait(0, 0))},
      {"producer_starts_on_phase_0", "deadlock", ring(0, arrive(1)), ring(1, arrive(1)), {.block = 64}},
      {"release_left_out_by_some",
       "arrivals-never-complete",
       ring(1, "setp.eq.u32 %p3, %r1, 40;\n @%p3 bra SKIP;\n" + arrive(1) + "SKIP:\n"),
       ring(1, arrive(1)),
       {.block = 64}},
      {"parity_of_two", "phase-operand-invalid", start + only(0, arrive(0) + wait(0, 2)),
       start + only(0, arrive(0) + wait(0, 0))},
      {"counts_of_a_named_barrier",
       "named-barrier-mismatch",
       warp(0, "bar.sync 1, 64;\n") + warp(1, "bar.arrive 1, 96;\n") + warp(2, "bar.arrive 1, 96;\n"),
       warp(0, "bar.sync 1, 96;\n") + warp(1, "bar.arrive 1, 96;\n") + warp(2, "bar.arrive 1, 96;\n"),
       {.block = 96}},
      {"more_threads_than_a_named_barrier_counts",
       "named-barrier-mismatch",
       "bar.sync 1, 64;\n bar.sync 1, 64;\n",
       "bar.sync 1, 96;\n bar.sync 1, 96;\n",
       {.block = 96}},
      {"named_barrier_that_is_never_full",
       "named-barrier-mismatch",
       warp(0, "bar.sync 1, 64;\n"),
       warp(0, "bar.sync 1, 64;\n") + warp(1, "bar.arrive 1, 64;\n"),
       {.block = 64}},
  };
}

INSTANTIATE_TEST_SUITE_P(Pairs, Protocol, testing::ValuesIn(pairs()), name_of);

// The same barrier of another CTA gets the same arrivals; nobody is missing for that.
TEST(deadlock, threads_of_other_ctas_are_not_missing) {
  const std::string body = only(0, init(0, 64)) + kSync + arrive(0) + wait(0, 0);
  for (const uint32_t grid : {1u, 3u}) {
    Launch launch{.grid = grid, .block = 32};
    launch.options.side_by_side = 3;
    const auto told = check(body, launch);
    ASSERT_EQ(told.size(), 1u);
    EXPECT_EQ(told[0].name, "arrivals-never-complete");
    EXPECT_EQ(told[0].help, "initialise it for 32 arrivals, or let all 64 threads arrive");
    EXPECT_EQ(told[0].state.find("missing"), std::string::npos) << told[0].state;
  }
}

// Work that CTAs take from a counter is spread over those that run side by side.
TEST(schedule, ctas_run_side_by_side) {
  const std::string body =
      "TAKE: atom.global.add.u32 %r20, [%rd2], 1;\n setp.ge.u32 %p3, %r20, 8000;\n @%p3 bra DONE;\n"
      "mov.u32 %r21, %ctaid.x;\n mul.wide.u32 %rd3, %r21, 4;\n add.u64 %rd3, %rd3, %rd1;\n"
      "ld.global.u32 %r22, [%rd3];\n add.u32 %r22, %r22, 1;\n st.global.u32 [%rd3], %r22;\n bra TAKE;\n "
      "DONE:\n";
  uint32_t* taken = nullptr;
  Launch launch{.grid = 4, .block = 1};
  launch.options.side_by_side = 4;
  EXPECT_EQ(found(body, launch,
                  [&](uint32_t* out, uint32_t* in) {
                    taken = out;
                    std::fill_n(out, 4, 0u);
                    in[0] = 0;
                  }),
            "");
  for (int cta = 0; cta < 4; ++cta) EXPECT_GT(taken[cta], 200u) << cta;
}

}  // namespace
