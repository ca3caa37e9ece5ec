// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Divergence and joining, waiting and spinning, barriers, deadlock: what the scheduler promises.
#include "machine_core/harness.hpp"

namespace {

using namespace sluice;
using test::buffer;
using test::Launch;
using test::module_of;
using test::run;
using test::upload;

const std::string kHead = R"(
.visible .entry k(.param .u64 out, .param .u64 in) {
  .reg .pred %p<16>; .reg .b32 %r<32>; .reg .b64 %rd<16>;
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [in];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3;
)";

std::string kernel(const std::string& body) {
  return module_of(kHead + body + "\n ret; }\n");
}

TEST(scheduling, straight_line_writes_every_lane) {
  auto* out = buffer<uint32_t>(64);
  const auto result = run(kernel("st.global.u32 [%rd4], %r1;"), "k", {out, nullptr}, {.block = 64});
  EXPECT_EQ(result.fault.message, "");
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], i);
}

TEST(scheduling, partial_last_warp_writes_only_its_lanes) {
  auto* out = buffer<uint32_t>(64);
  run(kernel("st.global.u32 [%rd4], %r1;"), "k", {out, nullptr}, {.block = 37});
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], i < 37 ? i : 0xeeeeeeeeu);
}

TEST(scheduling, branches_join_before_a_shuffle) {
  auto* out = buffer<uint32_t>(32);
  const auto result = run(kernel(R"(
    and.b32 %r2, %r1, 1;
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra EVEN;
    add.u32 %r3, %r1, 100;
    bra JOIN;
  EVEN:
    add.u32 %r3, %r1, 200;
  JOIN:
    shfl.sync.bfly.b32 %r4, %r3, 1, 31, -1;
    st.global.u32 [%rd4], %r4;)"),
                          "k", {out, nullptr});
  EXPECT_EQ(result.fault.message, "");
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], (i ^ 1) + ((i ^ 1) % 2 == 0 ? 200 : 100));
}

TEST(scheduling, lanes_leave_a_loop_at_different_trips_and_join) {
  auto* out = buffer<uint32_t>(32);
  run(kernel(R"(
    mov.u32 %r2, 0;
    mov.u32 %r3, 0;
  LOOP:
    setp.ge.u32 %p1, %r2, %r1;
    @%p1 bra DONE;
    add.u32 %r3, %r3, %r2;
    add.u32 %r2, %r2, 1;
    bra LOOP;
  DONE:
    activemask.b32 %r4;
    setp.eq.u32 %p2, %r4, -1;
    @!%p2 mov.u32 %r3, 0xbad;
    st.global.u32 [%rd4], %r3;)"),
      "k", {out, nullptr});
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i * (i - 1) / 2);
}

TEST(scheduling, lock_held_by_a_lane_of_the_same_warp_is_handed_over) {
  auto* out = upload<uint32_t>({0, 0});
  const auto result = run(module_of(R"(
.visible .entry k(.param .u64 out) {
  .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
TRY:
  atom.global.cas.b32 %r1, [%rd1], 0, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra TRY;
  ld.volatile.global.u32 %r2, [%rd1+4];
  add.u32 %r2, %r2, 1;
  st.volatile.global.u32 [%rd1+4], %r2;
  atom.global.exch.b32 %r3, [%rd1], 0;
  ret; })"),
                          "k", {out}, {.block = 128});
  EXPECT_EQ(result.fault.message, "");
  EXPECT_EQ(out[1], 128u);
}

TEST(scheduling, kernel_that_spins_on_a_later_cta_finishes) {
  auto* out = upload<uint32_t>({0});
  const auto result = run(module_of(R"(
.visible .entry k(.param .u64 out) {
  .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %ctaid.x;
  setp.eq.u32 %p1, %r1, 3;
  @%p1 bra SET;
SPIN:
  ld.acquire.gpu.global.u32 %r2, [%rd1];
  setp.eq.u32 %p2, %r2, 0;
  @%p2 bra SPIN;
  ret;
SET:
  st.release.gpu.global.u32 [%rd1], 7;
  ret; })"),
                          "k", {out}, {.grid = 4, .block = 32});
  EXPECT_EQ(result.fault.message, "");
  EXPECT_EQ(out[0], 7u);
}

TEST(scheduling, volatile_sum_is_not_taken_for_a_spin) {
  std::vector<uint32_t> values(5000, 3);
  auto* out = buffer<uint32_t>(1);
  const auto result = run(kernel(R"(
    mov.u32 %r2, 0; mov.u32 %r3, 0;
  LOOP:
    ld.volatile.global.u32 %r4, [%rd2];
    add.u32 %r3, %r3, %r4;
    add.u64 %rd2, %rd2, 4;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p1, %r2, 5000;
    @%p1 bra LOOP;
    st.global.u32 [%rd1], %r3;)"),
                          "k", {out, upload(values)});
  EXPECT_EQ(result.fault.message, "");
  EXPECT_EQ(out[0], 15000u);
}

TEST(scheduling, endless_spin_is_reported_as_a_timeout) {
  auto* out = upload<uint32_t>({0});
  const auto result = run(kernel(R"(
  SPIN:
    ld.volatile.global.u32 %r2, [%rd1];
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra SPIN;)"),
                          "k", {out, nullptr});
  EXPECT_EQ(result.fault.kind, machine::FaultKind::Timeout);
  EXPECT_NE(result.detail.find("test.ptx"), std::string::npos) << result.detail;
}

TEST(scheduling, spin_on_memory_that_the_host_can_write_is_not_called_a_deadlock) {
  static uint32_t host_flag = 0;
  ASSERT_TRUE(test::device().memory().enter_host_range(&host_flag, sizeof host_flag));
  auto managed = test::device().memory().allocate(4, 256, machine::AllocationKind::Managed);
  ASSERT_TRUE(managed);
  // Alone, with a pause, and with another warp that waits for the one that spins.
  for (const std::string pause : {"", "nanosleep.u32 100;", "add.u32 %r3, %r3, 1;"}) {
    for (const void* flag : {static_cast<const void*>(&host_flag), reinterpret_cast<const void*>(*managed)}) {
      const auto result = run(kernel(R"(
        setp.ge.u32 %p1, %r1, 32;
        @%p1 bra WAIT;
      SPIN:
        )" + pause + R"(
        ld.volatile.global.u32 %r2, [%rd2];
        setp.eq.u32 %p1, %r2, 0;
        @%p1 bra SPIN;
      WAIT:
        bar.sync 0;)"),
                              "k", {nullptr, flag}, {.block = 64});
      EXPECT_EQ(result.fault.kind, machine::FaultKind::Undecided) << result.fault.message;
      EXPECT_NE(result.detail.find("named barrier 0"), std::string::npos) << result.detail;
    }
  }
  test::device().memory().leave_host_range(&host_flag);
}

TEST(scheduling, spin_that_only_counts_ends_by_its_count_or_is_not_decided) {
  auto* out = upload<uint32_t>({0, 0});
  const auto counting = [&](const std::string& bound) {
    return run(kernel(R"(
      mov.u32 %r3, 0;
    SPIN:
      ld.volatile.global.u32 %r2, [%rd1];
      setp.ne.u32 %p1, %r2, 0;
      @%p1 bra DONE;
      add.u32 %r3, %r3, 1;
      setp.lt.u32 %p2, %r3, )" +
                      bound + R"(;
      @%p2 bra SPIN;
    DONE:
      st.global.u32 [%rd1+4], %r3;)"),
               "k", {out, nullptr}, {.block = 1});
  };
  EXPECT_EQ(counting("500000").fault.kind, machine::FaultKind::None);
  EXPECT_EQ(out[1], 500000u);
  const auto result = counting("0xffffffff");
  EXPECT_EQ(result.fault.kind, machine::FaultKind::Undecided);
  EXPECT_NE(result.detail.find("test.ptx"), std::string::npos) << result.detail;
}

TEST(scheduling, deadlock_beside_finished_reads_of_host_memory_is_a_timeout) {
  static uint32_t host_value = 7;
  ASSERT_TRUE(test::device().memory().enter_host_range(&host_value, sizeof host_value));
  auto* out = upload<uint32_t>({0});
  const auto result = run(kernel(R"(
    ld.volatile.global.u32 %r2, [%rd2];
  SPIN:
    ld.volatile.global.u32 %r3, [%rd1];
    setp.ne.u32 %p1, %r3, %r2;
    @%p1 bra SPIN;)"),
                          "k", {out, &host_value});
  EXPECT_EQ(result.fault.kind, machine::FaultKind::Timeout);
  test::device().memory().leave_host_range(&host_value);
}

TEST(scheduling, barrier_that_some_warps_never_reach_is_a_timeout) {
  auto* out = upload<uint32_t>({0});
  const auto result = run(kernel(R"(
    setp.lt.u32 %p1, %r1, 32;
    @%p1 bra WAIT;
  SPIN:
    ld.volatile.global.u32 %r2, [%rd1];
    setp.eq.u32 %p2, %r2, 0;
    @%p2 bra SPIN;
  WAIT:
    bar.sync 0;)"),
                          "k", {out, nullptr}, {.block = 64});
  EXPECT_EQ(result.fault.kind, machine::FaultKind::Timeout);
  EXPECT_NE(result.detail.find("named barrier 0"), std::string::npos) << result.detail;
}

// One thread arrives where two are expected and 64 bytes are due; two warps wait, one of them by looking.
TEST(scheduling, a_stuck_mbarrier_is_told_with_what_is_missing) {
  const auto result = run(module_of(R"(
.visible .entry k() {
  .reg .pred %p<3>;
  .reg .b32 %r<4>;
  .shared .align 8 .b64 full;
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra READY;
  mbarrier.init.shared.b64 [full], 2;
  mbarrier.arrive.expect_tx.shared.b64 _, [full], 64;
READY:
  bar.sync 0;
  setp.ge.u32 %p1, %r1, 32;
  @%p1 bra LOOK;
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p2, [full], 0;
  @!%p2 bra WAIT;
  ret;
LOOK:
  mbarrier.test_wait.parity.shared.b64 %p2, [full], 0;
  @!%p2 bra LOOK;
  ret;
}
)"),
                          "k", {}, {.block = 64});
  EXPECT_EQ(result.fault.kind, machine::FaultKind::Timeout);
  for (const char* text :
       {"warp 0 waits for phase parity 0 of the mbarrier", "warp 1 waits for phase parity 0 of the mbarrier",
        "of CTA 0: phase 0 (parity 0) waits for 1 of 2 arrivals and 64 bytes"}) {
    EXPECT_NE(result.detail.find(text), std::string::npos) << text << "\nin\n" << result.detail;
  }
}

TEST(scheduling, sleeper_that_polls_keeps_pace_with_those_that_work) {
  // Eight warps go from phase to phase, none waits for the sleeper. A phase lasts as long as 8 x 400
  // instructions, a round of the sleeper 20 ns: it must see every phase many times over.
  auto* out = buffer<uint32_t>(16);
  const auto result = run(module_of(R"(
.visible .entry k(.param .u64 out) {
  .shared .b32 phase;
  .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 st.volatile.shared.u32 [phase], 0;
  bar.sync 0;
  setp.lt.u32 %p1, %r1, 32;
  @%p1 bra POLL;
  mov.u32 %r2, 0;
WORK:
  mov.u32 %r3, 0;
COUNT:
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p2, %r3, 200;
  @%p2 bra COUNT;
  bar.sync 1, 256;
  add.u32 %r2, %r2, 1;
  st.volatile.shared.u32 [phase], %r2;
  setp.lt.u32 %p2, %r2, 16;
  @%p2 bra WORK;
  ret;
POLL:
  nanosleep.u32 20;
  ld.volatile.shared.u32 %r4, [phase];
  setp.ge.u32 %p3, %r4, 16;
  @%p3 ret;
  mul.wide.u32 %rd2, %r4, 4;
  add.u64 %rd3, %rd1, %rd2;
  setp.eq.u32 %p2, %r1, 0;
  @%p2 red.global.add.u32 [%rd3], 1;
  bra POLL; })"),
                          "k", {out}, {.block = 288});
  EXPECT_EQ(result.fault.message, "");
  for (int phase = 0; phase < 16; ++phase) EXPECT_GE(out[phase] - 0xeeeeeeeeu, 4u) << "phase " << phase;
}

/// Warp 1 runs `work`, then sets a flag; warp 0 looks at it for 300 us of virtual time. Says whether it saw
/// it.
bool is_seen_in_time(const std::string& work, const std::string& pause) {
  auto* out = upload<uint32_t>({7});
  const auto result = run(module_of(R"(
.visible .entry k(.param .u64 out) {
  .shared .b32 flag;
  .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 st.volatile.shared.u32 [flag], 0;
  bar.sync 0;
  setp.lt.u32 %p1, %r1, 32;
  @%p1 bra POLL;
)" + work + R"(
  st.volatile.shared.u32 [flag], 1;
  ret;
POLL:
  mov.u64 %rd2, %globaltimer;
LOOK:
  ld.volatile.shared.u32 %r4, [flag];
  setp.ne.u32 %p2, %r4, 0;
  @%p2 bra TOLD;
)" + pause + R"(
  mov.u64 %rd3, %globaltimer;
  sub.u64 %rd4, %rd3, %rd2;
  setp.lt.u64 %p3, %rd4, 300000;
  @%p3 bra LOOK;
TOLD:
  st.global.u32 [%rd1], %r4;
  ret; })"),
                          "k", {out}, {.block = 64});
  EXPECT_EQ(result.fault.message, "");
  return out[0] == 1;
}

TEST(scheduling, time_does_not_run_ahead_of_a_sleeper) {
  // A hundred naps of 1 us, which may last 2 us each: in a loop, in a row, and both.
  const std::string naps = "nanosleep.u32 1000;\n";
  std::string row;
  for (int i = 0; i < 100; ++i) row += naps;
  const auto loop = [](const std::string& body, int rounds) {
    return "mov.u32 %r5, 0;\nNAP:\n" + body + "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p2, %r5, " +
           std::to_string(rounds) + ";\n@%p2 bra NAP;\n";
  };
  for (const std::string pause : {"", "nanosleep.u32 20;"}) {
    EXPECT_TRUE(is_seen_in_time(row, pause)) << pause;
    EXPECT_TRUE(is_seen_in_time(loop(naps, 100), pause)) << pause;
    EXPECT_TRUE(is_seen_in_time(loop(naps + naps + naps + naps, 25), pause)) << pause;
    EXPECT_TRUE(is_seen_in_time("nanosleep.u32 100000;", pause)) << pause;
    EXPECT_FALSE(is_seen_in_time(loop("nanosleep.u32 100000;\n", 100), pause)) << pause;
  }
}

TEST(scheduling, polling_loops_end_however_they_sleep) {
  for (const std::string pause :
       {"nanosleep.u32 20;", "nanosleep.u32 20; nanosleep.u32 40; nanosleep.u32 20;"}) {
    auto* out = upload<uint32_t>({0});
    const auto result = run(kernel("SPIN:\n" + pause + R"(
      ld.volatile.global.u32 %r2, [%rd1];
      setp.eq.u32 %p1, %r2, 0;
      @%p1 bra SPIN;)"),
                            "k", {out, nullptr}, {.block = 64});
    EXPECT_EQ(result.fault.kind, machine::FaultKind::Timeout) << result.fault.message;
    EXPECT_LT(result.statistics.warp_instructions, 100'000u);
  }
}

TEST(scheduling, a_cluster_that_is_named_in_part_runs_as_a_whole) {
  auto* out = upload<uint32_t>({0});
  Launch launch{.grid = 6, .block = 1, .cluster = 2};
  launch.options.ctas = {{3, 3}};
  const auto result = run(module_of(R"(
.visible .entry k(.param .u64 out) {
  .shared .b32 box;
  .reg .b32 %r<8>; .reg .b64 %rd<4>;
  mov.u32 %r1, %cluster_ctarank;
  xor.b32 %r2, %r1, 1;
  mov.u32 %r3, box;
  mapa.shared::cluster.u32 %r4, %r3, %r2;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  add.u32 %r5, %r1, 1;
  st.shared::cluster.u32 [%r4], %r5;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  ld.shared.u32 %r6, [box];
  ld.param.u64 %rd1, [out];
  red.global.add.u32 [%rd1], %r6;
  ret; })"),
                          "k", {out}, launch);
  EXPECT_EQ(result.fault.message, "");
  EXPECT_EQ(out[0], 3u);
  EXPECT_EQ(result.statistics.ctas_run, 2u);
  EXPECT_EQ(result.statistics.ctas_added, 1u);
  EXPECT_EQ(result.statistics.ctas_skipped, 4u);
}

TEST(scheduling, named_barriers_with_arrivals_and_waits_alternate) {
  // Warp 0 arrives at 1 and waits at 2; warp 1 the other way round, many times.
  auto* out = upload<uint32_t>({0});
  const auto result = run(kernel(R"(
    shr.u32 %r2, %r1, 5;
    setp.eq.u32 %p1, %r2, 0;
    mov.u32 %r3, 0;
  LOOP:
    @%p1 bra FIRST;
    bar.sync 1, 64;
    bar.arrive 2, 64;
    bra NEXT;
  FIRST:
    bar.arrive 1, 64;
    bar.sync 2, 64;
  NEXT:
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p2, %r3, 100;
    @%p2 bra LOOP;
    st.global.u32 [%rd1], %r3;)"),
                          "k", {out, nullptr}, {.block = 64});
  EXPECT_EQ(result.fault.message, "");
  EXPECT_EQ(out[0], 100u);
}

TEST(scheduling, barrier_reductions_give_all_threads_the_result) {
  auto* out = buffer<uint32_t>(96);
  const auto result = run(kernel(R"(
    setp.lt.u32 %p1, %r1, 40;
    bar.red.popc.u32 %r2, 0, %p1;
    bar.red.or.pred %p2, 0, %p1;
    bar.red.and.pred %p3, 0, %p1;
    @%p2 add.u32 %r2, %r2, 1000;
    @%p3 add.u32 %r2, %r2, 5000;
    st.global.u32 [%rd4], %r2;)"),
                          "k", {out, nullptr}, {.block = 96});
  EXPECT_EQ(result.fault.message, "");
  for (int i = 0; i < 96; ++i) EXPECT_EQ(out[i], 1040u);
}

TEST(scheduling, barrier_ignores_threads_that_have_exited) {
  auto* out = buffer<uint32_t>(64);
  const auto result = run(kernel(R"(
    setp.ge.u32 %p1, %r1, 32;
    @%p1 exit;
    barrier.sync 0;
    st.global.u32 [%rd4], %r1;)"),
                          "k", {out, nullptr}, {.block = 64});
  EXPECT_EQ(result.fault.message, "");
  EXPECT_EQ(out[31], 31u);
  EXPECT_EQ(out[32], 0xeeeeeeeeu);
}

TEST(scheduling, warp_sync_joins_lanes_from_different_places) {
  auto* out = buffer<uint32_t>(32);
  const auto result = run(kernel(R"(
    setp.lt.u32 %p1, %r1, 16;
    @%p1 bra LOW;
    bar.warp.sync -1;
    mov.u32 %r2, 1;
    bra JOIN;
  LOW:
    bar.warp.sync -1;
    mov.u32 %r2, 2;
  JOIN:
    st.global.u32 [%rd4], %r2;)"),
                          "k", {out, nullptr});
  EXPECT_EQ(result.fault.message, "");
  for (int i = 0; i < 32; ++i) EXPECT_EQ(out[i], i < 16 ? 2u : 1u);
}

TEST(scheduling, tiles_of_a_warp_vote_on_their_own) {
  auto* out = buffer<uint32_t>(32);
  run(kernel(R"(
    shr.u32 %r2, %r1, 3;
    shl.b32 %r3, %r2, 3;
    mov.u32 %r4, 255;
    shl.b32 %r4, %r4, %r3;
    and.b32 %r5, %r1, 1;
    setp.eq.u32 %p1, %r5, 1;
    vote.sync.ballot.b32 %r6, %p1, %r4;
    st.global.u32 [%rd4], %r6;)"),
      "k", {out, nullptr});
  for (int i = 0; i < 32; ++i) EXPECT_EQ(out[i], 0xaau << (i / 8 * 8));
}

TEST(scheduling, cluster_barrier_orders_ctas_and_mapa_reaches_the_neighbour) {
  auto* out = buffer<uint32_t>(4);
  const auto result = run(module_of(R"(
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<16>; .reg .b64 %rd<8>;
  .shared .align 4 .b8 cell[4];
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %cluster_ctarank;
  mov.u32 %r2, cell;
  add.u32 %r3, %r1, 1;
  and.b32 %r3, %r3, 3;
  mapa.shared::cluster.u32 %r4, %r2, %r3;
  add.u32 %r5, %r1, 50;
  st.shared::cluster.u32 [%r4], %r5;
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
  ld.shared.u32 %r6, [cell];
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r6;
  ret; })"),
                          "k", {out}, {.grid = 4, .block = 32, .cluster = 4});
  EXPECT_EQ(result.fault.message, "");
  for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(out[i], 50 + (i + 3) % 4);
}

// The halves of a warp are in two functions of one caller at once, and meet in the middle of them. One keeps
// words there, the other predicates.
TEST(scheduling, lanes_in_different_functions_keep_their_registers) {
  constexpr uint32_t kMany = 40;
  std::string words, sum, predicates, count;
  for (uint32_t i = 0; i < kMany; ++i) {
    const std::string n = std::to_string(i);
    words += "add.u32 %a" + n + ", %n, " + n + ";\n";
    sum += "add.u32 %sum, %sum, %a" + n + ";\n";
    predicates += "setp.gt.u32 %p" + n + ", %n, " + n + ";\n";
    count += "@%p" + n + " add.u32 %sum, %sum, 1;\n";
  }
  const auto function = [](const std::string& name, const std::string& before, const std::string& after) {
    return ".func (.param .b32 r) " + name +
           "(.param .b32 of) {\n .reg .pred %p<40>; .reg .b32 %a<40>, %n, %sum;\n ld.param.u32 %n, [of];\n" +
           before + "bar.warp.sync 0xffffffff;\n bar.warp.sync 0xffffffff;\n mov.u32 %sum, 0;\n" + after +
           "st.param.b32 [r], %sum;\n ret;\n}\n";
  };
  const auto call = [](const std::string& name) {
    return "{\n .param .b32 a; .param .b32 b;\n st.param.b32 [a], %r1;\n call.uni (b), " + name +
           ", (a);\n ld.param.b32 %r3, [b];\n}\n";
  };
  auto* out = buffer<uint32_t>(32);
  const auto result =
      run(module_of(function("with_words", words, sum) + function("with_predicates", predicates, count) + R"(
.visible .entry k(.param .u64 out) {
  .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  setp.ge.u32 %p1, %r1, 16;
  @%p1 bra OTHER;
)" + call("with_words") +
                    "bra DONE;\nOTHER:\n" + call("with_predicates") + R"(
DONE:
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r3;
  ret; })"),
          "k", {out});
  EXPECT_EQ(result.fault.message, "");
  for (uint32_t i = 0; i < 16; ++i) EXPECT_EQ(out[i], kMany * i + kMany * (kMany - 1) / 2) << i;
  for (uint32_t i = 16; i < 32; ++i) EXPECT_EQ(out[i], i) << i;
}

TEST(scheduling, calls_return_values_and_recursion_works) {
  auto* out = buffer<uint32_t>(32);
  const auto result = run(module_of(R"(
.func (.param .b32 r) fact(.param .b32 n) {
  .reg .pred %p<2>; .reg .b32 %r<8>;
  ld.param.u32 %r1, [n];
  setp.gt.u32 %p1, %r1, 1;
  @%p1 bra DEEPER;
  st.param.b32 [r], 1;
  ret;
DEEPER:
  add.u32 %r2, %r1, -1;
  {
    .param .b32 a; .param .b32 b;
    st.param.b32 [a], %r2;
    call.uni (b), fact, (a);
    ld.param.b32 %r3, [b];
  }
  mul.lo.u32 %r4, %r3, %r1;
  st.param.b32 [r], %r4;
  ret;
}
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<8>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  and.b32 %r2, %r1, 7;
  {
    .param .b32 a; .param .b32 b;
    st.param.b32 [a], %r2;
    call.uni (b), fact, (a);
    ld.param.b32 %r3, [b];
  }
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r3;
  ret; })"),
                          "k", {out});
  EXPECT_EQ(result.fault.message, "");
  const uint32_t factorials[] = {1, 1, 2, 6, 24, 120, 720, 5040};
  for (int i = 0; i < 32; ++i) EXPECT_EQ(out[i], factorials[i % 8]);
}

// An H200 gives each quarter of a multiprocessor 16384 registers and a warp to one quarter; ptxas keeps
// kernels within that.
TEST(registers, follow_from_launch_bounds_where_there_is_no_machine_code) {
  const auto registers = [](const std::string& bounds) {
    auto module = ptx::parse(test::module_of(".visible .entry k() " + bounds + " { ret; }\n"), "test.ptx");
    const auto id = test::device().load(std::move(*module));
    return (*test::device().kernel(*id, "k"))->registers;
  };
  EXPECT_EQ(registers(""), 0u);
  EXPECT_EQ(registers(".maxntid 128, 1, 1"), 255u);
  EXPECT_EQ(registers(".maxntid 288, 1, 1"), 168u);
  EXPECT_EQ(registers(".maxntid 384, 1, 1"), 168u);
  EXPECT_EQ(registers(".maxntid 1024, 1, 1"), 64u);
  EXPECT_EQ(registers(".maxntid 288, 1, 1 .minnctapersm 2"), 96u);
}

}  // namespace
