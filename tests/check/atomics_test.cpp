// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Atomics, fences, the heap of device code, and lanes that access one place with one instruction: each with
// the mistake and with a twin that looks like it and is right.
#include "check/pairs.hpp"

namespace {

using namespace sluice::test;

class Atomics : public testing::TestWithParam<Pair> {};

TEST_P(Atomics, FindsTheMistakeAndNotItsTwin) {
  expect_told_apart(GetParam());
}

const std::string kWarpSync = "bar.warp.sync -1;\n";
const std::string kFence = "fence.acq_rel.cta;\n";

/// Text that a lane executes if %r13 is `value`.
std::string if_ticket(int value, const std::string& body) {
  static int label = 0;
  const std::string l = "TICKET" + std::to_string(++label);
  return "setp.ne.u32 %p3, %r13, " + std::to_string(value) + ";\n @%p3 bra " + l + ";\n" + body + "\n" + l +
         ":\n";
}
/// Each lane takes a number from a counter behind the tile's first kilobyte.
std::string take_ticket(const std::string& semantics) {
  return "atom." + semantics + ".cta.shared.add.u32 %r13, [%r3+1024], 1;\n";
}
/// Reads what a lane of warp 0 has written with write_own().
std::string read_of(int lane) {
  return "ld.shared.u32 %r12, [%r3+" + std::to_string(lane * 4) + "];\n";
}
std::string wait_for_flag(const std::string& load) {
  static int label = 0;
  const std::string l = "FLAG" + std::to_string(++label);
  return l + ": " + load + ".cta.shared.u32 %r14, [%r3+1028];\n setp.ne.u32 %p4, %r14, 1;\n @%p4 bra " + l +
         ";\n";
}
/// %rd5 = the block that malloc gives for 64 bytes.
const std::string kMalloc =
    "{ .param .b64 n; .param .b64 p; st.param.b64 [n], 64;\n"
    "call.uni (p), malloc, (n);\n ld.param.b64 %rd5, [p]; }\n";
const std::string kFree = "{ .param .b64 p; st.param.b64 [p], %rd5;\n call.uni free, (p); }\n";
const std::string kPassBlock = only(0, kMalloc + "st.global.u64 [%rd1], %rd5;\n") + kSync;

std::vector<Pair> pairs() {
  const std::string start =
      only(0, "st.shared.u32 [%r3+1024], 0;\n st.shared.u32 [%r3+1028], 0;\n") + kSync + write_own();
  const std::string set_flag = "st.relaxed.cta.shared.u32 [%r3+1028], 1;\n";
  const std::string count = "red.shared.add.u32 [%r3+1024], 1;\n";
  const auto copy_word = [](const std::string& source) {
    return "cp.async.ca.shared.global [%r3], [" + source + "], 4;\n cp.async.wait_all;\n" + kSync +
           read_of(0);
  };
  // Lane i stores to word i + k in round k.
  const auto rounds = [](const std::string& between) {
    return "mov.u32 %r15, 0;\n ROUND: add.u32 %r16, %r1, %r15;\n shl.b32 %r16, %r16, 2;\n"
           "add.u32 %r16, %r16, %r3;\n st.shared.u32 [%r16], %r1;\n" +
           between + "add.u32 %r15, %r15, 1;\n setp.lt.u32 %p3, %r15, 3;\n @%p3 bra ROUND;\n";
  };
  return {
      // --- lanes of one atomic go one after the other --------------------------------------------------
      {"last_lane_of_a_relaxed_atomic", "shared-race",
       start + take_ticket("relaxed") + if_ticket(31, read_of(0)),
       start + take_ticket("acq_rel") + if_ticket(31, read_of(0))},
      {"first_lane_of_an_atomic_reads_what_the_last_wrote", "shared-race",
       start + take_ticket("acq_rel") + if_ticket(0, read_of(31)),
       start + take_ticket("acq_rel") + if_ticket(31, read_of(31))},
      {"last_lane_without_a_fence_behind_its_atomic", "shared-race",
       start + kFence + take_ticket("relaxed") + if_ticket(31, read_of(3)),
       start + kFence + take_ticket("relaxed") + kFence + if_ticket(31, read_of(3))},
      {"last_lane_without_a_fence_before_the_atomics", "shared-race",
       start + take_ticket("relaxed") + kFence + if_ticket(31, read_of(3)),
       start + kFence + take_ticket("relaxed") + kFence + if_ticket(31, read_of(3))},
      {"last_lane_writes_what_all_have_read", "shared-race",
       start + kSync + read_of(0) + take_ticket("relaxed") + if_ticket(31, "st.shared.u32 [%r3], 7;\n"),
       start + kSync + read_of(0) + take_ticket("acq_rel") + if_ticket(31, "st.shared.u32 [%r3], 7;\n")},
      {"a_lane_shows_what_another_lane_has_fenced",
       "shared-race",
       start + kFence + only(0, set_flag) + only(32, wait_for_flag("ld.acquire") + read_of(1)),
       start + kWarpSync + kFence + only(0, set_flag) + only(32, wait_for_flag("ld.acquire") + read_of(1)),
       {.block = 64}},
      {"fences_of_lanes_that_meet_later",
       "shared-race",
       start + only(0, kFence) + only(1, kFence + "st.shared.u32 [%r3+4], 8;\n") + kWarpSync +
           only(1, set_flag) + only(32, wait_for_flag("ld.acquire") + read_of(1)),
       start + only(0, kFence) + only(1, "st.shared.u32 [%r3+4], 8;\n" + kFence) + kWarpSync +
           only(1, set_flag) + only(32, wait_for_flag("ld.acquire") + read_of(1)),
       {.block = 64}},

      // --- what a granule must keep ---------------------------------------------------------------------
      {"cleared_and_counted_without_a_barrier",
       "shared-race",
       only(0, "st.shared.u32 [%r3+1024], 0;\n") + count,
       only(0, "st.shared.u32 [%r3+1024], 0;\n") + kSync + count,
       {.block = 64}},
      {"read_and_counted_without_a_barrier",
       "shared-race",
       start + kSync + only(0, "ld.shared.u32 %r12, [%r3+1024];\n") + count,
       start + kSync + only(0, "ld.shared.u32 %r12, [%r3+1024];\n") + kSync + count,
       {.block = 64}},
      {"sum_is_read_when_one_of_two_warps_has_added",
       "shared-race",
       start + kSync + warp(0, count) + warp(1, count + "bar.arrive 1, 64;\n") +
           warp(2, "bar.sync 1, 64;\n ld.shared.u32 %r12, [%r3+1024];\n"),
       start + kSync + warp(0, count + "bar.arrive 1, 96;\n") + warp(1, count + "bar.arrive 1, 96;\n") +
           warp(2, "bar.sync 1, 96;\n ld.shared.u32 %r12, [%r3+1024];\n"),
       {.block = 96}},

      {"sum_is_read_when_the_other_of_two_warps_has_added",
       "shared-race",
       start + kSync + warp(0, count + "bar.arrive 1, 64;\n") + warp(1, count) +
           warp(2, "bar.sync 1, 64;\n ld.shared.u32 %r12, [%r3+1024];\n"),
       start + kSync + count + kSync + warp(2, "ld.shared.u32 %r12, [%r3+1024];\n"),
       {.block = 96}},
      {"counter_is_cleared_by_who_has_not_counted",
       "shared-race",
       start + kSync + warp(0, count) + only(32, "st.shared.u32 [%r3+1024], 0;\n"),
       start + kSync + take_ticket("relaxed") + if_ticket(63, "st.shared.u32 [%r3+1024], 0;\n"),
       {.block = 64}},

      // --- one instruction, one place -------------------------------------------------------------------
      {"lanes_store_different_values", "shared-race", "st.shared.u32 [%r3], %r1;\n",
       "st.shared.u32 [%r3], 5;\n"},
      {"lanes_store_different_values_to_global_memory", "global-race", "st.global.u32 [%rd1], %r1;\n",
       "st.relaxed.gpu.global.u32 [%rd1], %r1;\n"},
      {"halves_of_vectors_overlap", "shared-race",
       "shl.b32 %r9, %r1, 3;\n add.u32 %r9, %r9, %r3;\n"
       "@%p1 bra OUT;\n st.shared.v2.u32 [%r9], {%r1, %r9};\n and.b32 %r9, %r9, -16;\n"
       "st.shared.v2.u32 [%r9], {%r1, %r1};\n OUT:\n",
       "shl.b32 %r9, %r1, 3;\n add.u32 %r9, %r9, %r3;\n"
       "@%p1 bra OUT;\n st.shared.v2.u32 [%r9], {%r1, %r9};\n OUT:\n"},
      {"rounds_of_a_loop_are_not_one_instruction", "shared-race", rounds(""), rounds(kWarpSync)},
      {"lanes_copy_different_sources_to_one_place", "shared-race",
       "and.b32 %r9, %r1, 1;\n shl.b32 %r9, %r9, 2;\n cvt.u64.u32 %rd4, %r9;\n add.u64 %rd4, %rd4, %rd2;\n" +
           copy_word("%rd4"),
       copy_word("%rd2")},
      {"warps_copy_different_sources_to_one_place",
       "shared-race",
       "shr.u32 %r9, %r1, 5;\n shl.b32 %r9, %r9, 2;\n cvt.u64.u32 %rd4, %r9;\n add.u64 %rd4, %rd4, %rd2;\n" +
           copy_word("%rd4"),
       copy_word("%rd2"),
       {.block = 64}},

      // --- the heap of device code ----------------------------------------------------------------------
      {"block_is_freed_while_another_warp_reads_it",
       "global-race",
       kPassBlock + "ld.global.u64 %rd5, [%rd1];\n" + warp(1, "ld.u32 %r12, [%rd5];\n bar.arrive 1, 64;\n") +
           warp(2, "ld.u32 %r12, [%rd5];\n") + warp(0, "bar.sync 1, 64;\n") + only(0, kFree),
       kPassBlock + "ld.global.u64 %rd5, [%rd1];\n" + warp(1, "ld.u32 %r12, [%rd5];\n bar.arrive 1, 96;\n") +
           warp(2, "ld.u32 %r12, [%rd5];\n bar.arrive 1, 96;\n") + warp(0, "bar.sync 1, 96;\n") +
           only(0, kFree),
       {.block = 96}},
      {"block_of_another_thread_comes_again",
       "global-race",
       kMalloc + "st.u32 [%rd5], %r1;\n ld.u32 %r12, [%rd5];\n" + kFree + "st.global.u32 [%rd1], %r12;\n",
       kMalloc + "st.u32 [%rd5], %r1;\n ld.u32 %r12, [%rd5];\n" + kFree,
       {.grid = 2, .block = 64}},
  };
}

INSTANTIATE_TEST_SUITE_P(Pairs, Atomics, testing::ValuesIn(pairs()), name_of);

TEST(atomics_silence, last_lane_of_a_part_of_a_warp) {
  // All have read one word together; the last of them knows of the others and has read it itself.
  EXPECT_EQ(found(only(0, "st.shared.u32 [%r3+1024], 0;\n st.shared.u32 [%r3], 3;\n") + kSync +
                  "setp.gt.u32 %p5, %r1, 15;\n @%p5 bra OUT;\n" + take_ticket("acq_rel") + read_of(0) +
                  take_ticket("acq_rel") + if_ticket(31, "st.shared.u32 [%r3], 7;\n") + "OUT:\n"),
            "");
}

}  // namespace
