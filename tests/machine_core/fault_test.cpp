// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What ends a launch: the kind of fault, the lane, the sentence.
#include "machine_core/harness.hpp"

namespace {

using namespace sluice;
using machine::FaultKind;
using test::module_of;
using test::run;
using test::upload;

machine::LaunchResult run_body(const std::string& body, const void* a, const void* b = nullptr) {
  return run(module_of(R"(
.visible .entry k(.param .u64 a, .param .u64 b) {
  .reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %rd<16>;
  .shared .align 4 .b8 cell[64];
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  mov.u32 %r1, %tid.x;
)" + body + "\n ret; }\n"),
             "k", {a, b});
}

TEST(fault, store_past_the_end_names_the_allocation) {
  auto* memory = upload<uint32_t>({1, 2, 3, 4});
  const auto result =
      run_body("mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], %r1;", memory);
  EXPECT_EQ(result.fault.kind, FaultKind::IllegalAddress);
  EXPECT_EQ(result.fault.lane, 4u);
  EXPECT_NE(result.fault.message.find("allocation of 16 bytes"), std::string::npos) << result.fault.message;
}

TEST(fault, memory_that_was_freed_is_named_and_holds_no_parameters) {
  const auto memory = test::device().memory().allocate(64, 256, machine::AllocationKind::Device);
  ASSERT_TRUE(memory);
  ASSERT_TRUE(test::device().memory().release(*memory));
  for (const char* access : {"ld.global.u32 %r2, [%rd1+8];", "st.global.u32 [%rd1+8], %r1;"}) {
    const auto result = run_body(access, reinterpret_cast<const void*>(*memory));
    EXPECT_EQ(result.fault.kind, FaultKind::IllegalAddress);
    EXPECT_NE(result.fault.message.find("an allocation of 64 bytes"), std::string::npos)
        << result.fault.message;
    EXPECT_NE(result.fault.message.find("has been freed"), std::string::npos) << result.fault.message;
  }
}

TEST(fault, report_of_a_stuck_launch_tells_of_a_bulk_copy_with_an_odd_size) {
  auto* memory = upload<uint32_t>(std::vector<uint32_t>(16, 1));
  const auto result = run(module_of(R"(
.visible .entry k(.param .u64 from) {
  .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  .shared .align 16 .b8 stage[64]; .shared .align 8 .b64 full;
  ld.param.u64 %rd1, [from];
  mov.u32 %r1, stage; mov.u32 %r2, full;
  mbarrier.init.shared.b64 [%r2], 1;
  mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 17;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 17, [%r2];
LOOK:
  mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0;
  @!%p1 bra LOOK;
  ret; })"),
                          "k", {memory}, {.block = 1});
  EXPECT_EQ(result.fault.kind, FaultKind::Timeout);
  EXPECT_NE(result.detail.find("the size of a bulk copy is 17 bytes, not a multiple of 16: 16 are moved"),
            std::string::npos)
      << result.detail;
  EXPECT_NE(result.detail.find("and 1 bytes"), std::string::npos) << result.detail;
}

TEST(fault, null_pointer) {
  const auto result = run_body("ld.global.u32 %r2, [%rd2+8];", nullptr);
  EXPECT_EQ(result.fault.kind, FaultKind::IllegalAddress);
  EXPECT_NE(result.fault.message.find("null pointer"), std::string::npos) << result.fault.message;
}

TEST(fault, misaligned_access) {
  auto* memory = upload<uint32_t>({1, 2, 3, 4});
  EXPECT_EQ(run_body("ld.global.u32 %r2, [%rd1+2];", memory).fault.kind, FaultKind::MisalignedAddress);
  EXPECT_EQ(run_body("ld.shared.u32 %r2, [cell+1];", memory).fault.kind, FaultKind::MisalignedAddress);
}

TEST(fault, shared_access_outside_the_cta) {
  EXPECT_EQ(run_body("mov.u32 %r2, 200000; ld.shared.u32 %r3, [%r2];", nullptr).fault.kind,
            FaultKind::IllegalAddress);
}

TEST(fault, trap_ends_the_launch) {
  EXPECT_EQ(run_body("trap;", nullptr).fault.kind, FaultKind::Trap);
}

TEST(fault, endless_recursion_exhausts_the_stack) {
  const auto result = run(module_of(R"(
.func deep(.param .b32 n) {
  .reg .b32 %r<4>; .local .align 4 .b8 frame[64];
  ld.param.u32 %r1, [n];
  st.local.u32 [frame], %r1;
  { .param .b32 a; st.param.b32 [a], %r1; call.uni deep, (a); }
  ret;
}
.visible .entry k(.param .u64 a) {
  { .param .b32 x; st.param.b32 [x], 1; call.uni deep, (x); }
  ret; })"),
                          "k", {nullptr});
  EXPECT_EQ(result.fault.kind, FaultKind::HardwareStack);
}

TEST(fault, other_launches_still_run_afterwards) {
  auto* memory = upload<uint32_t>({0});
  EXPECT_EQ(run_body("trap;", memory).fault.kind, FaultKind::Trap);
  EXPECT_EQ(run_body("st.global.u32 [%rd1], 5;", memory).fault.kind, FaultKind::None);
  EXPECT_EQ(memory[0], 5u);
}

TEST(fault, discard_needs_128_bytes_that_may_be_written) {
  auto* memory = upload(std::vector<uint32_t>(32, 7));
  EXPECT_EQ(run_body("discard.global.L2 [%rd1], 128;", memory).fault.kind, FaultKind::None);
  EXPECT_EQ(run_body("discard.global.L2 [%rd1+64], 128;", memory).fault.kind, FaultKind::MisalignedAddress);
  EXPECT_EQ(run_body("discard.global.L2 [%rd1+128], 128;", memory).fault.kind, FaultKind::IllegalAddress);
}

}  // namespace
