// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Programs that are right and look suspicious: the checker must have nothing to say.
#include "check/kernels.hpp"

namespace {

using namespace sluice;
using namespace sluice::test;

TEST(silence, producer_starts_at_parity_1_on_fresh_barriers) {
  EXPECT_EQ(found(only(0, init(0, 1) + wait(0, 1))), "");
}

TEST(silence, copy_is_issued_before_its_expectation) {
  EXPECT_EQ(found(only(0, init(0, 1) + copy(0, 256) + expect(0, 256) + wait(0, 0))), "");
}

TEST(silence, named_barrier_generations_with_different_counts) {
  EXPECT_EQ(found(warp(0, "bar.sync 1, 64;\n bar.arrive 2, 96;\n bar.sync 1, 96;\n") +
                      warp(1, "bar.arrive 1, 64;\n") + warp(2, "bar.sync 2, 96;\n bar.arrive 1, 96;\n") +
                      warp(3, "bar.sync 2, 96;\n bar.arrive 1, 96;\n"),
                  {.block = 128}),
            "");
}

TEST(silence, proxy_fence_only_in_the_issuing_thread_after_the_barrier) {
  EXPECT_EQ(found(write_own() + kSync + only(0, kProxyFence + store_tile(256)), {.block = 64}), "");
}

TEST(silence, proxy_fence_far_from_the_barrier) {
  EXPECT_EQ(
      found(write_own() + kProxyFence + "add.u32 %r12, %r1, 1;\n" + kSync + kSync + only(0, store_tile(256)),
            {.block = 64}),
      "");
}

TEST(silence, init_by_every_lane_at_once) {
  EXPECT_EQ(found(init(0, 32) + "bar.warp.sync -1;\n"), "");
}

TEST(silence, init_inval_init) {
  EXPECT_EQ(found(only(0, init(0, 1) + "mbarrier.inval.shared::cta.b64 " + bar(0) + ";\n" + init(0, 3))), "");
}

TEST(silence, wait_that_fails_and_is_not_tried_again) {
  EXPECT_EQ(
      found(only(0, init(0, 1) + "mbarrier.test_wait.parity.shared::cta.b64 %p7, " + bar(0) + ", 0;\n")), "");
}

TEST(silence, kernel_ends_on_a_committed_store) {
  EXPECT_EQ(found(only(0, store_tile(256))), "");
}

TEST(silence, all_lanes_read_and_lane_0_arrives_after_an_aligned_instruction) {
  const std::string read = "ld.shared.u32 %r10, [%r3];\n shfl.sync.bfly.b32 %r11, %r10, 1, 31, -1;\n";
  EXPECT_EQ(found(only(0, init(0, 1) + init(1, 1)) + kSync + warp(1, read + only(32, arrive(1))) +
                      only(0, wait(1, 0) + expect(0, 256) + copy(0, 256) + wait(0, 0)),
                  {.block = 64}),
            "");
}

TEST(silence, a_group_without_a_product) {
  EXPECT_EQ(found("wgmma.commit_group.sync.aligned;\n wgmma.wait_group.sync.aligned 0;\n" + write_own()), "");
}

TEST(silence, one_lane_waits_for_the_store_and_the_warp_meets_it) {
  EXPECT_EQ(found(only(0, store_tile(256) + "cp.async.bulk.wait_group.read 0;\n") + "bar.warp.sync -1;\n" +
                  write_own()),
            "");
}

TEST(silence, init_fence_and_a_relaxed_arrival_at_the_cluster_barrier) {
  EXPECT_EQ(found(only(0, init(0, 33) + "fence.mbarrier_init.release.cluster;\n") +
                      "barrier.cluster.arrive.relaxed.aligned;\n barrier.cluster.wait.aligned;\n" +
                      only(32, arrive(0)) +
                      "mov.u32 %r20, %cluster_ctarank;\n xor.b32 %r21, %r20, 1;\n"
                      "mapa.shared::cluster.u32 %r23, %r2, %r21;\n" +
                      warp(0, "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r23];\n") +
                      "barrier.cluster.arrive.aligned;\n barrier.cluster.wait.aligned;\n",
                  {.grid = 2, .block = 64, .cluster = 2}),
            "");
}

TEST(silence, lanes_store_the_same_value_to_one_place) {
  EXPECT_EQ(found("st.shared.u32 [%r3], 7;\n"), "");
}

TEST(silence, all_lanes_issue_the_same_store) {
  EXPECT_EQ(found(store_tile(256)), "");
}

TEST(silence, bytes_that_a_thread_completes_order_as_those_of_a_copy) {
  const std::string complete =
      "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 " + bar(0) + ", 16;\n";
  std::string producer, consumer;
  for (int use = 0; use < 3; ++use) {
    producer += wait(1, (use & 1) ^ 1) + expect(0, 16) + complete;
    consumer += wait(0, use & 1) + arrive(1);
  }
  EXPECT_EQ(
      found(only(0, init(0, 1) + init(1, 32)) + kSync + only(0, producer) + warp(1, consumer), {.block = 64}),
      "");
}

TEST(silence, every_thread_counts_in_one_word) {
  EXPECT_EQ(found("red.shared.add.u32 [%r3], 1;\n red.global.add.u32 [%rd1], 1;\n", {.grid = 2, .block = 64}),
            "");
}

TEST(silence, two_barriers_in_one_granule) {
  EXPECT_EQ(found(only(0, init(0, 1) + init(1, 1) + arrive(0) + wait(0, 0) + arrive(1) + wait(1, 0))), "");
}

TEST(silence, no_init_fence_where_a_cta_barrier_follows) {
  const std::string fill = only(32, expect(0, 256) + copy(0, 256)) + wait(0, 0) + read_own();
  EXPECT_EQ(found(only(0, init(0, 1)) + kSync + fill, {.block = 64}), "");
  EXPECT_EQ(found(only(0, init(0, 1) + "fence.proxy.async;\n") + kSync + fill, {.block = 64}), "");
}

TEST(silence, bulk_copies_in_a_loop_whose_length_is_data) {
  EXPECT_EQ(
      found(only(
          0, init(0, 1) +
                 "ld.global.u32 %r11, [%rd2];\n and.b32 %r11, %r11, 3;\n add.u32 %r11, %r11, 1;\n"
                 "shl.b32 %r12, %r11, 8;\n"
                 "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], %r12;\n mov.u32 %r13, %r3;\n"
                 "LOOP: cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r13], [%rd2], "
                 "256, [%r2];\n"
                 "add.u32 %r13, %r13, 256;\n sub.u32 %r11, %r11, 1;\n setp.ne.u32 %p3, %r11, 0;\n"
                 "@%p3 bra LOOP;\n" +
                 wait(0, 0))),
      "");
}

TEST(silence, reductions_to_one_address) {
  const std::string reduce =
      "st.shared.u32 [%r3], 1;\n st.shared.u32 [%r3+4], 1;\n st.shared.u32 [%r3+8], 1;\n st.shared.u32 "
      "[%r3+12], 1;\n" +
      kProxyFence +
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r3], 16;\n"
      "cp.async.bulk.commit_group;\n";
  EXPECT_EQ(found(only(0, reduce) + only(32, "red.global.add.u32 [%rd1], 1;\n"), {.grid = 2, .block = 64}),
            "");
}

// Cluster of two: registers of the other CTA's tile (%r22) and barriers (%r23), and a barrier of both.
const std::string kCluster = "barrier.cluster.arrive.aligned;\n barrier.cluster.wait.aligned;\n";
std::string cluster_start(int count) {
  return "mov.u32 %r20, %cluster_ctarank;\n xor.b32 %r21, %r20, 1;\n mapa.shared::cluster.u32 %r22, %r3, "
         "%r21;\n"
         "mapa.shared::cluster.u32 %r23, %r2, %r21;\n setp.eq.u32 %p6, %r20, 0;\n" +
         only(0, init(0, 1) + init(1, count) + "fence.mbarrier_init.release.cluster;\n") + kCluster;
}
const std::string kMulticast =
    "mov.b16 %rs1, 3;\n "
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r3], "
    "[%rd2], 256, [%r2], %rs1;\n";
const std::string kRemoteArrive = "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r23+8];\n";

TEST(silence, remote_release_with_the_forms_that_cutlass_uses) {
  // Both CTAs read their tile; each tells the other that it may be overwritten; then the other one's copy
  // comes.
  const std::string plain = "mbarrier.arrive.shared::cluster.b64 _, [%r23+8];\n";
  const std::string push =
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r22], [%rd2], 256, [%r23];\n";
  EXPECT_EQ(found(cluster_start(32) + warp(1, read_own() + plain) +
                      only(0, expect(0, 256) + wait(1, 0) + push + wait(0, 0)) + kCluster,
                  {.grid = 2, .block = 64, .cluster = 2}),
            "");
}

TEST(silence, written_fenced_released_to_another_cta_and_overwritten_by_a_copy) {
  EXPECT_EQ(found(cluster_start(1) +
                      only(0, expect(0, 256) + "st.shared.u32 [%r3], %r1;\n" + kProxyFence + kRemoteArrive) +
                      only(0, "@!%p6 bra LEAVE;\n" + wait(1, 0) + "st.shared.u32 [%r3+512], %r1;\n" +
                                  kMulticast + "LEAVE:\n" + wait(0, 0)) +
                      kCluster,
                  {.grid = 2, .cluster = 2}),
            "");
}

TEST(silence, bytes_of_a_neighbour_land_before_the_own_arm) {
  EXPECT_EQ(found(cluster_start(1) +
                      only(0, "@%p6 bra FIRST;\n nanosleep.u32 5000;\n bra ARM;\n FIRST:" + kMulticast +
                                  "ARM:" + expect(0, 256) + wait(0, 0) + "ld.shared.u32 %r10, [%r3];\n") +
                      kCluster,
                  {.grid = 2, .cluster = 2}),
            "");
}

TEST(silence, wait_for_the_phase_before_the_first_passes_and_for_the_first_blocks) {
  EXPECT_EQ(found(only(0, init(0, 1) + wait(0, 1))), "");
  EXPECT_EQ(found(only(0, init(0, 1) + wait(0, 0))), "deadlock");
}

TEST(silence, many_laps_of_a_ring) {
  // Two stages, ten uses: index and parity in registers.
  const std::string begin = only(0, init(0, 1) + init(1, 1) + init(2, 32) + init(3, 32)) + kSync;
  const std::string address =
      "and.b32 %r13, %r12, 1;\n shl.b32 %r14, %r13, 3;\n add.u32 %r14, %r14, %r2;\n"
      "shl.b32 %r15, %r13, 8;\n add.u32 %r15, %r15, %r3;\n"
      "shr.u32 %r16, %r12, 1;\n and.b32 %r16, %r16, 1;\n";
  const std::string producer =
      "mov.u32 %r12, 0;\n P:" + address +
      "xor.b32 %r17, %r16, 1;\n"
      "PW: mbarrier.try_wait.parity.shared::cta.b64 %p7, [%r14+16], %r17;\n @!%p7 bra PW;\n"
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r14], 256;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r15], [%rd2], 256, [%r14];\n"
      "add.u32 %r12, %r12, 1;\n setp.lt.u32 %p5, %r12, 10;\n @%p5 bra P;\n";
  const std::string consumer =
      "mov.u32 %r12, 0;\n C:" + address +
      "CW: mbarrier.try_wait.parity.shared::cta.b64 %p7, [%r14], %r16;\n @!%p7 bra CW;\n"
      "ld.shared.u32 %r18, [%r15];\n mbarrier.arrive.shared::cta.b64 _, [%r14+16];\n"
      "add.u32 %r12, %r12, 1;\n setp.lt.u32 %p5, %r12, 10;\n @%p5 bra C;\n";
  for (const auto timing :
       {machine::CopyTiming::Early, machine::CopyTiming::Late, machine::CopyTiming::Shuffled}) {
    EXPECT_EQ(
        found(begin + only(0, producer) + warp(1, consumer), {.block = 64, .options = {.timing = timing}}),
        "");
  }
}

}  // namespace
