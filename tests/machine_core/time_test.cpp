// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Loops that wait for a clock: virtual time comes to where their condition changes, however far that is.
#include <string>

#include "machine_core/harness.hpp"

namespace {

using namespace sluice;
using test::buffer;
using test::run;
using test::scalar;

/// A kernel whose threads read a clock into %rd2 once, do `body`, and then store 1.
std::string waiting(const std::string& body) {
  return test::module_of(R"(
.visible .entry k(.param .u64 out, .param .u64 wanted) {
  .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd7, [wanted];
  )" + body + R"(
  mov.u32 %r7, 1;
  st.global.u32 [%rd1], %r7;
  ret; })");
}

/// Goes round until `clock` has come `wanted` further.
std::string until(const std::string& clock, const std::string& pause) {
  return waiting("mov.u64 %rd2, " + clock + ";\nLOOK: " + pause + "\nmov.u64 %rd3, " + clock +
                 ";\nsub.u64 %rd4, %rd3, %rd2;\nsetp.lt.s64 %p1, %rd4, %rd7;\n@%p1 bra LOOK;");
}

TEST(time, comes_to_where_a_wait_for_a_clock_ends) {
  for (const char* clock : {"%clock64", "%globaltimer"}) {
    for (const char* pause : {"", "nanosleep.u32 100;", "nanosleep.u32 1000000;"}) {
      for (const uint64_t wanted : {1'000ull, 100'000'000'000ull, 1'000'000'000'000'000ull}) {
        auto* out = buffer<uint32_t>(1);
        const auto result = run(until(clock, pause), "k", {out, scalar(wanted)});
        EXPECT_EQ(result.fault.kind, machine::FaultKind::None)
            << clock << " " << pause << " " << wanted << ": " << result.fault.message << "\n"
            << result.detail;
        EXPECT_EQ(out[0], 1u);
        EXPECT_LT(result.statistics.warp_instructions, 10000u);
      }
    }
  }
}

TEST(time, comes_to_where_a_wait_for_the_low_half_of_a_clock_ends) {
  for (const char* clock : {"%clock", "%globaltimer_lo"}) {
    for (const uint64_t wanted : {1'000ull, 1'000'000'000ull, 2'000'000'000ull}) {
      auto* out = buffer<uint32_t>(1);
      const auto result =
          run(waiting("cvt.u32.u64 %r6, %rd7; mov.u32 %r1, " + std::string(clock) + ";\nLOOK: mov.u32 %r2, " +
                      clock + ";\nsub.u32 %r3, %r2, %r1;\nsetp.lt.u32 %p1, %r3, %r6;\n@%p1 bra LOOK;"),
              "k", {out, scalar(wanted)});
      EXPECT_EQ(result.fault.kind, machine::FaultKind::None) << clock << " " << wanted;
      EXPECT_EQ(out[0], 1u);
    }
  }
}

TEST(time, that_never_helps_a_loop_which_reads_it_leaves_the_run_undecided) {
  for (const char* pause : {"", "nanosleep.u32 100;"}) {
    auto* out = buffer<uint32_t>(1);
    const auto result = run(waiting(std::string("LOOK: ") + pause +
                                    "mov.u64 %rd3, %clock64;\nsetp.ne.s64 %p1, %rd3, 12345;\n@%p1 bra LOOK;"),
                            "k", {out, scalar(0)});
    EXPECT_EQ(result.fault.kind, machine::FaultKind::Undecided) << pause << result.fault.message;
    EXPECT_NE(result.fault.instruction, 0u);
  }
}

TEST(time, read_between_two_looks_at_an_mbarrier_leaves_a_deadlock_one) {
  for (const char* pause : {"", "nanosleep.u32 100;"}) {
    auto* out = buffer<uint32_t>(1);
    const auto result = run(waiting(std::string(R"(
    .shared .align 8 .b64 bar;
    mov.u32 %r1, bar;
    mbarrier.init.shared::cta.b64 [%r1], 1;
    mov.u64 %rd2, %globaltimer;
    LOOK: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0;
    @%p1 bra DONE;
    mov.u64 %rd3, %globaltimer;
    sub.u64 %rd4, %rd3, %rd2;
    setp.lt.s64 %p2, %rd4, 1000;
    @%p2 bra LOOK;
    )") + pause + "\nbra LOOK;\nDONE:"),
                            "k", {out, scalar(0)});
    EXPECT_EQ(result.fault.kind, machine::FaultKind::Timeout) << pause << result.fault.message;
  }
}

TEST(time, does_not_hide_a_deadlock_behind_the_loop_of_another_warp) {
  // Warp 1 waits a second, warp 0 for what nobody sends.
  auto* out = buffer<uint32_t>(1);
  const auto result = run(waiting(R"(
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p2, %r1, 32;
    @%p2 bra STUCK;
    mov.u64 %rd2, %clock64;
  LOOK:
    mov.u64 %rd3, %clock64;
    sub.u64 %rd4, %rd3, %rd2;
    setp.lt.u64 %p1, %rd4, 1000000000;
    @%p1 bra LOOK;
    bra DONE;
  STUCK:
    ld.volatile.global.u32 %r2, [%rd1];
    setp.ne.u32 %p1, %r2, 5;
    @%p1 bra STUCK;
  DONE:)"),
                          "k", {out, scalar(0)}, {.block = 64});
  EXPECT_EQ(result.fault.kind, machine::FaultKind::Timeout) << result.fault.message;
}

}  // namespace
