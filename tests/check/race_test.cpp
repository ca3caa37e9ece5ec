// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Findings about memory, each with the mistake and with a twin that looks like it and is right.
#include <fmt/format.h>

#include "check/pairs.hpp"

namespace {

using namespace sluice::test;

class Race : public testing::TestWithParam<Pair> {};

TEST_P(Race, FindsTheMistakeAndNotItsTwin) {
  expect_told_apart(GetParam());
}

// The tile is read 32 words further on.
std::string read_neighbour() {
  return "add.u32 %r11, %r1, 32;\n and.b32 %r11, %r11, 63;\n shl.b32 %r11, %r11, 2;\n add.u32 %r11, %r11, "
         "%r3;\n"
         "ld.shared.u32 %r12, [%r11];\n";
}

std::vector<Pair> pairs() {
  const std::string start = only(0, init(0, 1) + init(1, 32)) + kSync;
  const std::string fill = expect(0, 256) + copy(0, 256);
  const std::string cluster = "barrier.cluster.arrive.aligned;\n barrier.cluster.wait.aligned;\n";
  const std::string rank = "mov.u32 %r20, %cluster_ctarank;\n";
  const std::string peer = rank +
                           "xor.b32 %r21, %r20, 1;\n mapa.shared::cluster.u32 %r22, %r3, %r21;\n"
                           "mapa.shared::cluster.u32 %r23, %r2, %r21;\n";
  const std::string multicast =
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r3], [%rd2], "
      "256, "
      "[%r2], %rs1;\n";
  // CTA 1 writes into CTA 0 and signals; CTA 0 waits and reads.
  const auto push = [&](const std::string& arrive_scope, const std::string& wait_scope) {
    return peer + only(0, init(0, 1) + "fence.mbarrier_init.release.cluster;\n") + cluster +
           only(0,
                "setp.eq.u32 %p3, %r20, 0;\n @%p3 bra CONSUME;\n st.shared::cluster.u32 [%r22], %r20;\n"
                "mbarrier.arrive.release." +
                    arrive_scope +
                    ".shared::cluster.b64 _, [%r23];\n bra DONE;\n"
                    "CONSUME: mbarrier.try_wait.parity.acquire." +
                    wait_scope +
                    ".shared::cta.b64 %p7, [%r2], 0;\n"
                    "@!%p7 bra CONSUME;\n ld.shared.u32 %r10, [%r3];\n DONE:\n") +
           cluster;
  };
  // 256 bytes of the own tile to that of another CTA, for its barrier.
  const auto copy_to = [](const char* rank_in_r21) {
    return fmt::format(
        "{};\n mapa.shared::cluster.u32 %r22, %r3, %r21;\n"
        "mapa.shared::cluster.u32 %r23, %r2, %r21;\n"
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r22+1024], [%r3], 256, "
        "[%r23];\n",
        rank_in_r21);
  };
  const Launch late = {.options = {.timing = sluice::machine::CopyTiming::Late}};
  // Each thread writes a word; thread 0 counts its CTA; the last one reads what the other has written.
  const auto last_block = [](const std::string& after_write, const std::string& before_read) {
    return "mov.u32 %r20, %ctaid.x;\n shl.b32 %r21, %r20, 6;\n add.u32 %r21, %r21, %r1;\n"
           "mul.wide.u32 %rd3, %r21, 4;\n add.u64 %rd3, %rd3, %rd1;\n st.global.u32 [%rd3], %r1;\n" +
           after_write + kSync +
           only(0, "atom.global.add.u32 %r22, [%rd2], 1;\n st.shared.u32 [%r3], %r22;\n") + kSync +
           "ld.shared.u32 %r23, [%r3];\n setp.ne.u32 %p3, %r23, 1;\n @%p3 bra LEAVE;\n" + before_read +
           "xor.b32 %r24, %r20, 1;\n shl.b32 %r24, %r24, 6;\n add.u32 %r24, %r24, %r1;\n"
           "mul.wide.u32 %rd4, %r24, 4;\n add.u64 %rd4, %rd4, %rd1;\n ld.global.u32 %r25, [%rd4];\n LEAVE:\n";
  };
  const auto no_count = [](uint32_t* /*out*/, uint32_t* in) { in[0] = 0; };
  const std::string wait_once = "mbarrier.try_wait.parity.shared::cta.b64 %p7, [%r2], 0;\n";
  return {
      {"two_warps_without_a_barrier",
       "shared-race",
       write_own() + read_neighbour(),
       write_own() + kSync + read_neighbour(),
       {.block = 64}},
      {"two_lanes_without_a_warp_barrier",
       "shared-race",
       only(0, "st.shared.u32 [%r3], %r1;") + only(1, "ld.shared.u32 %r10, [%r3];"),
       only(0, "st.shared.u32 [%r3], %r1;") + "bar.warp.sync -1;\n" + only(1, "ld.shared.u32 %r10, [%r3];"),
       {}},
      {"neighbouring_bytes",
       "shared-race",
       only(0, "st.shared.u8 [%r3+1], %r1;") + only(32, "st.shared.u16 [%r3], %r1;"),
       only(0, "st.shared.u8 [%r3+1], %r1;") + only(32, "st.shared.u8 [%r3], %r1;"),
       {.block = 64}},
      {"the_next_lanes_word", "shared-race", write_own() + "ld.shared.u32 %r12, [%r9+4];\n",
       write_own() + "ld.shared.u32 %r12, [%r9];\n"},
      {"the_next_lanes_word_after_a_warp_barrier", "shared-race",
       write_own() + "bar.warp.sync 0x7fffffff;\n ld.shared.u32 %r12, [%r9+4];\n",
       write_own() + "bar.warp.sync -1;\n ld.shared.u32 %r12, [%r9+4];\n"},
      {"half_a_word_of_another_lane", "shared-race",
       write_own() + "sub.u32 %r12, %r9, %r1;\n sub.u32 %r12, %r12, %r1;\n ld.shared.u16 %rs2, [%r12];\n",
       write_own() + "ld.shared.u16 %rs2, [%r9];\n"},
      {"atomics_behind_a_plain_store",
       "shared-race",
       only(0, "st.shared.u32 [%r3], 1;") + "red.shared.add.u32 [%r3], 1;\n",
       only(0, "st.shared.u32 [%r3], 1;") + kSync + "red.shared.add.u32 [%r3], 1;\n",
       {.block = 64}},
      {"atomics_behind_a_plain_load",
       "global-race",
       only(0, "ld.global.u32 %r10, [%rd1];") + "red.global.add.u32 [%rd1], 1;\n",
       only(0, "ld.global.u32 %r10, [%rd1];") + kSync + "red.global.add.u32 [%rd1], 1;\n",
       {.block = 64}},
      {"two_copies_to_one_place", "shared-race",
       "mul.wide.u32 %rd8, %r1, 4;\n add.u64 %rd9, %rd2, %rd8;\n cp.async.ca.shared.global [%r3], [%rd9], "
       "4;\n"
       "cp.async.wait_all;\n",
       "cp.async.ca.shared.global [%r3], [%rd2], 4;\n cp.async.wait_all;\n"},
      {"lanes_of_one_store", "shared-race", "st.shared.u32 [%r3], %r1;\n",
       "mov.u32 %r10, 7;\n st.shared.u32 [%r3], %r10;\n"},
      {"the_last_lane_alone_differs", "global-race",
       "shr.u32 %r10, %r1, 5;\n st.global.u8 [%rd1], %r10;\n setp.eq.u32 %p3, %r1, 31;\n"
       "selp.u32 %r10, 5, 7, %p3;\n st.global.u32 [%rd1+8], %r10;\n",
       "shr.u32 %r10, %r1, 5;\n st.global.u8 [%rd1], %r10;\n"},
      {"two_warps_store",
       "shared-race",
       "shr.u32 %r10, %r1, 5;\n add.u32 %r10, %r10, 1;\n st.shared.u32 [%r3], %r10;\n",
       "mov.u32 %r10, 7;\n st.shared.u32 [%r3], %r10;\n",
       {.block = 64}},
      {"a_store_of_the_same_is_no_read",
       "shared-race",
       "mov.u32 %r10, 7;\n st.shared.u32 [%r3], %r10;\n ld.shared.u32 %r11, [%r3];\n",
       "mov.u32 %r10, 7;\n st.shared.u32 [%r3], %r10;\n" + kSync + "ld.shared.u32 %r11, [%r3];\n",
       {.block = 64}},
      {"copy_not_waited_for",
       "read-before-full",
       start + only(0, fill) + warp(1, read_own()) + only(0, wait(0, 0)),
       start + only(0, fill) + warp(1, wait(0, 0) + read_own()),
       {.block = 64}},
      {"only_one_lane_waits",
       "read-before-full",
       start + only(0, fill) + only(32, wait(0, 0)) + warp(1, read_own()),
       start + only(0, fill) + only(32, wait(0, 0)) + "bar.warp.sync -1;\n" + warp(1, read_own()),
       {.block = 64}},
      {"stage_refilled_unreleased",
       "stage-overwritten-while-read",
       start + only(0, fill) + warp(1, wait(0, 0) + "ld.shared.u32 %r10, [%r3];") +
           only(0, wait(0, 0) + "nanosleep.u32 5000;\n" + fill + wait(0, 1)),
       start + only(0, fill) + warp(1, wait(0, 0) + "ld.shared.u32 %r10, [%r3];" + arrive(1)) +
           only(0, wait(1, 0) + fill + wait(0, 1)),
       {.block = 64}},
      {"released_before_the_read",
       "stage-overwritten-while-read",
       start + only(0, fill) + warp(1, wait(0, 0) + arrive(1) + "ld.shared.u32 %r10, [%r3];") +
           only(0, wait(1, 0) + fill + wait(0, 1)),
       start + only(0, fill) + warp(1, wait(0, 0) + "ld.shared.u32 %r10, [%r3];" + arrive(1)) +
           only(0, wait(1, 0) + fill + wait(0, 1)),
       {.block = 64}},
      {"stored_without_a_proxy_fence",
       "missing-proxy-fence",
       only(0, "st.shared.u32 [%r3], %r1;" + store_tile(256)),
       only(0, "st.shared.u32 [%r3], %r1;" + kProxyFence + store_tile(256)),
       {}},
      {"fence_before_the_last_write",
       "missing-proxy-fence",
       write_own() + kProxyFence + write_own() + kSync + only(0, store_tile(256)),
       write_own() + write_own() + kProxyFence + kSync + only(0, store_tile(256)),
       {.block = 64}},
      {"source_reused_while_stored",
       "bulk-store-in-flight",
       only(0, store_tile(256) + "st.shared.u32 [%r3+64], %r1;"),
       only(0, store_tile(256) + "cp.async.bulk.wait_group.read 0;\n st.shared.u32 [%r3+64], %r1;"),
       {}},
      {"the_wrong_group_is_waited_for",
       "bulk-store-in-flight",
       only(0, store_tile(256) + store_tile(256, 1024, 2048) +
                   "cp.async.bulk.wait_group.read 1;\n st.shared.u32 [%r3+1024], %r1;"),
       only(0, store_tile(256) + store_tile(256, 1024, 2048) +
                   "cp.async.bulk.wait_group.read 1;\n st.shared.u32 [%r3], %r1;"),
       {}},
      {"cp_async_read_by_another_thread",
       "read-before-full",
       "shl.b32 %r9, %r1, 2;\n add.u32 %r9, %r9, %r3;\n cp.async.ca.shared.global [%r9], [%rd2], 4;\n"
       "cp.async.wait_all;\n" +
           read_neighbour(),
       "shl.b32 %r9, %r1, 2;\n add.u32 %r9, %r9, %r3;\n cp.async.ca.shared.global [%r9], [%rd2], 4;\n"
       "cp.async.wait_all;\n" +
           kSync + read_neighbour(),
       {.block = 64}},
      {"cp_async_not_waited_for",
       "read-before-full",
       only(0,
            "cp.async.ca.shared.global [%r3], [%rd2], 4;\n cp.async.commit_group;\n ld.shared.u32 %r10, "
            "[%r3];"),
       only(0,
            "cp.async.ca.shared.global [%r3], [%rd2], 4;\n cp.async.commit_group;\n cp.async.wait_group 0;\n"
            "ld.shared.u32 %r10, [%r3];"),
       {}},
      {"two_ctas_write_one_word",
       "global-race",
       only(0, "mov.u32 %r10, %ctaid.x;\n add.u32 %r10, %r10, 1;\n st.global.u32 [%rd1], %r10;"),
       only(0, "red.global.add.u32 [%rd1], 1;"),
       {.grid = 2}},
      {"last_block_whose_writers_have_not_fenced",
       "global-race",
       last_block("", "membar.gl;\n"),
       last_block("membar.gl;\n", "membar.gl;\n"),
       {.grid = 2, .block = 64},
       no_count},
      {"last_block_that_reads_without_a_fence",
       "global-race",
       last_block("fence.sc.gpu;\n", ""),
       last_block("fence.sc.gpu;\n", "fence.sc.gpu;\n"),
       {.grid = 2, .block = 64},
       no_count},
      {"last_block_with_fences_that_have_no_order",
       "global-race",
       last_block("fence.acq_rel.gpu;\n", "fence.acq_rel.gpu;\n"),
       last_block("fence.sc.gpu;\n", "fence.sc.gpu;\n"),
       {.grid = 2, .block = 64},
       no_count},
      {"flag_without_release",
       "global-race",
       "mov.u32 %r20, %ctaid.x;\n" +
           only(0,
                "setp.eq.u32 %p3, %r20, 1;\n @%p3 bra READ;\n st.global.u32 [%rd1], 5;\n"
                "st.relaxed.gpu.global.u32 [%rd1+64], 1;\n bra DONE;\n"
                "READ: ld.acquire.gpu.global.u32 %r10, [%rd1+64];\n setp.ne.u32 %p4, %r10, 1;\n @%p4 bra "
                "READ;\n"
                "ld.global.u32 %r11, [%rd1];\n DONE:\n"),
       "mov.u32 %r20, %ctaid.x;\n" +
           only(0,
                "setp.eq.u32 %p3, %r20, 1;\n @%p3 bra READ;\n st.global.u32 [%rd1], 5;\n"
                "st.release.gpu.global.u32 [%rd1+64], 1;\n bra DONE;\n"
                "READ: ld.acquire.gpu.global.u32 %r10, [%rd1+64];\n setp.ne.u32 %p4, %r10, 1;\n @%p4 bra "
                "READ;\n"
                "ld.global.u32 %r11, [%rd1];\n DONE:\n"),
       {.grid = 2}},
      {"flag_without_fence",
       "global-race",
       "mov.u32 %r20, %ctaid.x;\n" +
           only(0,
                "setp.eq.u32 %p3, %r20, 1;\n @%p3 bra READ;\n st.global.u32 [%rd1], 5;\n"
                "red.global.add.u32 [%rd1+64], 1;\n bra DONE;\n"
                "READ: ld.volatile.global.u32 %r10, [%rd1+64];\n setp.eq.u32 %p4, %r10, 0xeeeeeeee;\n @%p4 "
                "bra READ;\n"
                "fence.acq_rel.gpu;\n ld.global.u32 %r11, [%rd1];\n DONE:\n"),
       "mov.u32 %r20, %ctaid.x;\n" +
           only(0,
                "setp.eq.u32 %p3, %r20, 1;\n @%p3 bra READ;\n st.global.u32 [%rd1], 5;\n fence.acq_rel.gpu;\n"
                "red.global.add.u32 [%rd1+64], 1;\n bra DONE;\n"
                "READ: ld.volatile.global.u32 %r10, [%rd1+64];\n setp.eq.u32 %p4, %r10, 0xeeeeeeee;\n @%p4 "
                "bra READ;\n"
                "fence.acq_rel.gpu;\n ld.global.u32 %r11, [%rd1];\n DONE:\n"),
       {.grid = 2}},
      {"no_init_fence_before_a_relaxed_arrival",
       "barrier-init-not-visible",
       peer + only(0, init(0, 1)) +
           "barrier.cluster.arrive.relaxed.aligned;\n barrier.cluster.wait.aligned;\n" +
           only(0, "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r23];\n") + cluster,
       peer + only(0, init(0, 1)) + cluster +
           only(0, "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r23];\n") + cluster,
       {.grid = 2, .cluster = 2}},
      {"pushed_with_cta_scope",
       "scope-too-narrow",
       push("cluster", "cta"),
       push("cluster", "cluster"),
       {.grid = 2, .cluster = 2}},
      {"neighbour_accessed_before_it_has_started",
       "cluster-exit-early",
       peer + only(0, "st.shared::cluster.u32 [%r22], %r20;") + cluster,
       peer + cluster + only(0, "st.shared::cluster.u32 [%r22], %r20;") + cluster,
       {.grid = 2, .cluster = 2}},
      {"multicast_to_a_cta_that_never_armed",
       "multicast-mask-mismatch",
       peer + only(0, init(0, 1) + "fence.mbarrier_init.release.cluster;\n") + cluster +
           only(0, "setp.ne.u32 %p3, %r20, 0;\n @%p3 bra LEAVE;\n mov.b16 %rs1, 3;\n" + expect(0, 256) +
                       multicast + wait(0, 0) + "LEAVE:\n") +
           cluster,
       peer + only(0, init(0, 1) + "fence.mbarrier_init.release.cluster;\n") + cluster +
           only(0, expect(0, 256)) + cluster +
           only(0, "setp.ne.u32 %p3, %r20, 0;\n @%p3 bra LEAVE;\n mov.b16 %rs1, 3;\n" + multicast +
                       "LEAVE:\n" + wait(0, 0)) +
           cluster,
       {.grid = 2, .cluster = 2}},
      {"multicast_to_a_cta_that_does_not_exist",
       "multicast-mask-mismatch",
       peer + only(0, init(0, 1) + "fence.mbarrier_init.release.cluster;\n") + cluster +
           only(0, "mov.b16 %rs1, 4;\n" + expect(0, 256) + multicast),
       peer + only(0, init(0, 1) + "fence.mbarrier_init.release.cluster;\n") + cluster +
           only(0, "cvt.u16.u32 %rs1, %r20;\n add.u16 %rs1, %rs1, 1;\n" + expect(0, 256) + multicast +
                       wait(0, 0)) +
           cluster,
       {.grid = 2, .cluster = 2}},
      {"bulk_copy_to_a_cta_that_does_not_exist",
       "multicast-mask-mismatch",
       peer + only(0, init(0, 1) + "fence.mbarrier_init.release.cluster;\n") + cluster +
           only(0, copy_to("add.u32 %r21, %r20, 2")) + cluster,
       peer + only(0, init(0, 1) + "fence.mbarrier_init.release.cluster;\n" + expect(0, 256)) + cluster +
           only(0, copy_to("xor.b32 %r21, %r20, 1") + wait(0, 0)) + cluster,
       {.grid = 2, .cluster = 2}},
      {"answer_of_a_wait_not_looked_at", "read-before-full",
       start + only(0, fill + wait_once + "ld.shared.u32 %r10, [%r3];\n" + wait(0, 0)),
       start + only(0, fill + wait(0, 0) + "ld.shared.u32 %r10, [%r3];\n"), late},
      {"waits_only_if_it_need_not", "read-before-full",
       start + only(0, fill + wait_once + "@!%p7 bra READ;\n" + wait(0, 0) +
                           "READ: ld.shared.u32 %r10, [%r3];\n" + wait(0, 0)),
       start +
           only(0, fill + wait_once + "@%p7 bra READ;\n" + wait(0, 0) + "READ: ld.shared.u32 %r10, [%r3];\n"),
       late},
      {"signalled_by_a_neighbour_before_exit",
       "cluster-exit-early",
       peer + only(0, init(0, 1) + "fence.mbarrier_init.release.cluster;\n") + cluster +
           only(0, "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r23];\n"),
       peer + only(0, init(0, 1) + "fence.mbarrier_init.release.cluster;\n") + cluster +
           only(0, "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r23];\n" + wait(0, 0)),
       {.grid = 2, .cluster = 2}},
      {"neighbour_read_before_exit",
       "cluster-exit-early",
       peer + cluster + only(0, "ld.shared::cluster.u32 %r10, [%r22];"),
       peer + cluster + only(0, "ld.shared::cluster.u32 %r10, [%r22];") + cluster,
       {.grid = 2, .cluster = 2}},
  };
}

INSTANTIATE_TEST_SUITE_P(Pairs, Race, testing::ValuesIn(pairs()), name_of);

}  // namespace
