// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// alloca, stacksave, stackrestore: memory of a thread's own, freed with the activation, and its end.
#include "machine_core/harness.hpp"

namespace {

using namespace sluice;
using test::buffer;
using test::module_of;
using test::run;
using test::scalar;

/// `take` puts its argument into 1 KiB + 16 bytes per lane from alloca, calls itself `depth` times, and
/// returns its argument plus what the inner calls return: wrong if an activation's memory is another's.
const char* const kTake = R"(
.func (.param .b64 result) take(.param .b64 depth, .param .b64 value) {
  .reg .pred %p<4>; .reg .b64 %rd<16>;
  ld.param.b64 %rd1, [depth];
  ld.param.b64 %rd2, [value];
  mov.b64 %rd8, 0;
  and.b64 %rd9, %rd2, 31;
  shl.b64 %rd9, %rd9, 4;
  add.s64 %rd9, %rd9, 1024;
  alloca.u64 %rd3, %rd9, 16;
  st.local.b64 [%rd3+8], %rd2;
  setp.eq.s64 %p1, %rd1, 0;
  @%p1 bra DONE;
  sub.s64 %rd4, %rd1, 1;
  add.s64 %rd5, %rd2, 1;
  { .param .b64 a; .param .b64 b; .param .b64 r;
    st.param.b64 [a], %rd4;
    st.param.b64 [b], %rd5;
    call (r), take, (a, b);
    ld.param.b64 %rd8, [r]; }
DONE:
  ld.local.b64 %rd6, [%rd3+8];
  add.s64 %rd7, %rd6, %rd8;
  st.param.b64 [result], %rd7;
  ret;
}
.visible .entry k(.param .u64 out, .param .u64 rounds, .param .u64 depth) {
  .reg .pred %p<4>; .reg .b32 %r<4>; .reg .b64 %rd<16>;
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [rounds];
  ld.param.u64 %rd3, [depth];
  mov.u32 %r1, %tid.x;
  cvt.u64.u32 %rd4, %r1;
  mov.b64 %rd7, 0;
AGAIN:
  { .param .b64 a; .param .b64 b; .param .b64 r;
    st.param.b64 [a], %rd3;
    st.param.b64 [b], %rd4;
    call (r), take, (a, b);
    ld.param.b64 %rd6, [r]; }
  add.s64 %rd7, %rd7, %rd6;
  sub.s64 %rd2, %rd2, 1;
  setp.ne.s64 %p1, %rd2, 0;
  @%p1 bra AGAIN;
  shl.b64 %rd5, %rd4, 3;
  add.s64 %rd5, %rd1, %rd5;
  st.global.b64 [%rd5], %rd7;
  ret;
}
)";

TEST(stack, alloca_of_each_activation_is_its_own_and_is_freed_by_ret) {
  auto* out = buffer<uint64_t>(32);
  // 1000 rounds of 5 activations would need 5 MiB if any stayed.
  const auto result = run(module_of(kTake), "k", {out, scalar(1000), scalar(4)});
  ASSERT_EQ(result.fault.kind, machine::FaultKind::None) << result.fault.message;
  for (uint64_t lane = 0; lane < 32; ++lane) EXPECT_EQ(out[lane], 1000 * (5 * lane + 10)) << lane;
}

TEST(stack, recursion_with_alloca_ends_where_the_stack_ends) {
  auto* out = buffer<uint64_t>(32);
  const auto result = run(module_of(kTake), "k", {out, scalar(1), scalar(1000)});
  EXPECT_EQ(result.fault.kind, machine::FaultKind::HardwareStack);
}

machine::LaunchResult run_body(const std::string& body, uint64_t* out) {
  return run(module_of(R"(
.visible .entry k(.param .u64 out) {
  .reg .pred %p<4>; .reg .b32 %r<4>; .reg .b64 %rd<16>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 8;
  add.s64 %rd2, %rd1, %rd2;
)" + body + "\n ret; }\n"),
             "k", {out});
}

TEST(stack, restore_gives_the_memory_back_and_alignment_holds) {
  auto* out = buffer<uint64_t>(32);
  const auto result = run_body(R"(
  stacksave.u64 %rd3;
  alloca.u64 %rd4, 24;
  alloca.u64 %rd5, 1, 128;
  and.b64 %rd6, %rd5, 127;
  stackrestore.u64 %rd3;
  alloca.u64 %rd7, 24;
  sub.s64 %rd8, %rd7, %rd4;
  or.b64 %rd8, %rd8, %rd6;
  st.global.b64 [%rd2], %rd8;)",
                               out);
  ASSERT_EQ(result.fault.kind, machine::FaultKind::None) << result.fault.message;
  for (int lane = 0; lane < 32; ++lane) EXPECT_EQ(out[lane], 0u) << lane;
}

TEST(stack, alloca_of_more_than_there_is_faults) {
  auto* out = buffer<uint64_t>(32);
  for (const char* size : {"0x100000", "-1"}) {
    const auto result = run_body(std::string("alloca.u64 %rd3, ") + size + ";", out);
    EXPECT_EQ(result.fault.kind, machine::FaultKind::HardwareStack) << size;
  }
}

TEST(stack, restore_of_a_pointer_from_nowhere_faults) {
  auto* out = buffer<uint64_t>(32);
  const auto result = run_body("alloca.u64 %rd4, 8; stackrestore.u64 %rd1;", out);
  EXPECT_EQ(result.fault.kind, machine::FaultKind::HardwareStack);
}

}  // namespace
