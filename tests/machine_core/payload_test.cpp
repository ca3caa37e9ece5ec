// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs without data: what payload may steer is refused with both places, everything else runs.
#include "machine_core/harness.hpp"

namespace {

using namespace sluice;
using machine::FaultKind;
using test::buffer;
using test::Launch;
using test::module_of;
using test::run;
using test::upload;

/// One warp. A bulk copy fills `tile` from `in` and has landed; `flag` in shared memory holds 1, stored by
/// lane 0. %r1: thread, %r5: tile, %r6: flag.
std::string kernel(const std::string& body, const std::string& functions = "") {
  return module_of(functions + R"(
.visible .entry k(.param .u64 out, .param .u64 in) {
  .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>; .reg .f32 %f<128>;
  .shared .align 128 .b8 tile[1024];
  .shared .align 8 .b64 bar;
  .shared .align 4 .b32 flag;
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [in];
  mov.u32 %r1, %tid.x;
  mov.u32 %r5, tile;
  mov.u32 %r6, flag;
  mov.u32 %r7, bar;
  setp.eq.u32 %p1, %r1, 0;
  @!%p1 bra READY;
  mbarrier.init.shared::cta.b64 [%r7], 1;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r7], 1024;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], [%rd2], 1024, [%r7];
  st.shared.u32 [%r6], 1;
READY:
  bar.sync 0;
TRY:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r7], 0;
  @!%p2 bra TRY;
)" + body + "\n ret; }\n");
}

machine::LaunchResult run_without_data(const std::string& ptx, uint32_t* out) {
  static auto* in = buffer<uint32_t>(256);
  Launch launch;
  launch.options.no_data = true;
  return run(ptx, "k", {out, in}, launch);
}

/// The fault of a run that payload steers: at `sink`, and naming `source`.
void expect_refusal(const std::string& body, const std::string& sink, const std::string& source,
                    const std::string& functions = "") {
  const auto result = run_without_data(kernel(body, functions), buffer<uint32_t>(256));
  ASSERT_EQ(result.fault.kind, FaultKind::NeedsData) << body << result.fault.message;
  EXPECT_EQ(result.fault.message.find("`" + sink + "` depends on payload"), 0u) << result.fault.message;
  EXPECT_NE(result.fault.message.find("`" + source + "` at test.ptx:"), std::string::npos)
      << result.fault.message;
}

void expect_runs(const std::string& body, const std::string& functions = "") {
  const auto result = run_without_data(kernel(body, functions), buffer<uint32_t>(256));
  EXPECT_EQ(result.fault.kind, FaultKind::None) << body << result.fault.message;
}

const std::string kBranch = "setp.eq.u32 %p3, %r8, 5;\n @%p3 bra DONE;\n st.shared.u32 [%r6], 2;\nDONE:\n";

TEST(payload, that_goes_to_memory_only_steers_nothing) {
  expect_runs("ld.shared.u32 %r8, [%r5];\n add.u32 %r8, %r8, 1;\n st.global.u32 [%rd1], %r8;");
  expect_runs(
      "ld.shared.u32 %r8, [%r5];\n setp.eq.u32 %p3, %r8, 1;\n selp.u32 %r9, 1, 2, %p3;\n"
      "st.global.u32 [%rd1], %r9;");
}

TEST(payload, in_a_branch_an_address_or_a_barrier_is_refused) {
  const std::string load = "ld.shared.u32 %r8, [%r5+16];\n";
  expect_refusal(load + kBranch, "bra", "ld");
  expect_refusal(load + "add.u32 %r9, %r8, %r5;\n ld.shared.u32 %r9, [%r9];", "ld", "ld");
  expect_refusal(load + "setp.eq.u32 %p3, %r8, 5;\n @%p3 st.global.u32 [%rd1], 1;", "st", "ld");
  expect_refusal(load + "barrier.sync %r8;", "barrier.sync", "ld");
  expect_refusal(load + "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r7], %r8;", "mbarrier.expect_tx",
                 "ld");
  expect_refusal(load + "setp.eq.u32 %p3, %r8, 5;\n @%p3 exit;", "exit", "ld");
}

TEST(payload, is_followed_through_values_of_every_kind) {
  const std::string load = "ld.shared.u32 %r10, [%r5+16];\n";
  for (const std::string way : {"mov.u32 %r8, %r10;", "shfl.sync.bfly.b32 %r8, %r10, 1, 31, -1;",
                                "add.cc.u32 %r9, %r10, %r10;\n addc.u32 %r8, 0, 0;",
                                "mov.b64 %rd5, {%r1, %r10};\n mov.b64 {%r9, %r8}, %rd5;",
                                "setp.ne.u32 %p4, %r10, 0;\n vote.sync.ballot.b32 %r8, %p4, -1;",
                                "setp.ne.u32 %p4, %r10, 0;\n bar.red.popc.u32 %r8, 0, %p4;",
                                "mov.u32 %r8, 0;\n setp.ne.u32 %p4, %r10, 0;\n @%p4 mov.u32 %r8, 1;"}) {
    expect_refusal(load + way + kBranch, "bra", "ld");
  }
}

TEST(payload, is_followed_through_memory) {
  // Shared, global and local memory, atomics, and the arguments and results of a call.
  const std::string load = "ld.shared.u32 %r10, [%r5+16];\n";
  expect_refusal(load + "st.shared.u32 [%r6], %r10;\n ld.shared.u32 %r8, [%r6];" + kBranch, "bra", "ld");
  expect_refusal(load + "st.global.u32 [%rd1], %r10;\n ld.global.u32 %r8, [%rd1];" + kBranch, "bra", "ld");
  expect_refusal(
      load + ".local .align 4 .b32 spill;\n st.local.u32 [spill], %r10;\n ld.local.u32 %r8, [spill];" +
          kBranch,
      "bra", "ld");
  expect_refusal(load + "red.shared.add.u32 [%r6], %r10;\n ld.shared.u32 %r8, [%r6];" + kBranch, "bra", "ld");
  expect_refusal("atom.shared.add.u32 %r8, [%r5], 1;" + kBranch, "bra", "atom");
  expect_refusal(load + R"({
    .param .b32 a; .param .b32 b;
    st.param.b32 [a], %r10;
    call.uni (b), same, (a);
    ld.param.b32 %r8, [b];
  })" + kBranch,
                 "bra", "ld", R"(
.func (.param .b32 r) same(.param .b32 n) {
  .reg .b32 %r<2>;
  ld.param.u32 %r1, [n];
  st.param.b32 [r], %r1;
  ret;
})");
}

TEST(payload, does_not_spread_to_memory_that_copies_leave_alone) {
  expect_runs("ld.shared.u32 %r8, [%r6];" + kBranch);
  expect_runs("atom.global.add.u32 %r8, [%rd1], 1;" + kBranch);
  // Real values that are stored over payload are no payload any more.
  expect_runs("st.shared.u32 [%r5+16], 3;\n ld.shared.u32 %r8, [%r5+16];" + kBranch);
  // A value that came from memory without payload may be passed on through memory.
  expect_runs("ld.shared.u32 %r10, [%r6];\n st.shared.u32 [%r5+16], %r10;\n ld.shared.u32 %r8, [%r5+16];" +
              kBranch);
}

TEST(payload, leaves_a_launch_in_global_memory) {
  auto* out = buffer<uint32_t>(256);
  EXPECT_EQ(
      run_without_data(kernel("ld.shared.u32 %r8, [%r5];\n st.global.u32 [%rd1], %r8;"), out).fault.kind,
      FaultKind::None);
  const std::string reader = kernel("ld.global.u32 %r8, [%rd1];" + kBranch);
  EXPECT_EQ(run_without_data(reader, out).fault.kind, FaultKind::NeedsData);
  // A bulk store of a tile that was not computed does the same; another buffer is as it was.
  EXPECT_EQ(run_without_data(reader, buffer<uint32_t>(256)).fault.kind, FaultKind::None);
  auto* stored = buffer<uint32_t>(256);
  EXPECT_EQ(run_without_data(kernel(R"(
    @!%p1 bra STORED;
    cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r5], 1024;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
    STORED:)"),
                             stored)
                .fault.kind,
            FaultKind::None);
  EXPECT_EQ(run_without_data(reader, stored).fault.kind, FaultKind::NeedsData);
}

TEST(payload, of_a_matrix_product_that_steers_refuses_the_kernel) {
  const std::string ptx = module_of(R"(
.visible .entry k(.param .u64 out) {
  .reg .pred %p<2>; .reg .f32 %f<8>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, %rd2, %rd3, 1, 1, 1, 0, 0;
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
  setp.gt.f32 %p1, %f3, 0f00000000;
  @%p1 bra DONE;
  st.global.f32 [%rd1], %f1;
DONE:
  ret; })");
  auto& device = test::device();
  const auto refused = [&](bool without_data) {
    device.set_kernel_options({.without_data = without_data});
    auto module = ptx::parse(ptx, "test.ptx");
    EXPECT_TRUE(module);
    const auto kernel = device.kernel(*device.load(std::move(*module)), "k");
    device.set_kernel_options({});
    return kernel ? std::string() : kernel.error().text();
  };
  EXPECT_EQ(refused(false), "");
  EXPECT_NE(refused(true).find("`bra` depends on payload"), std::string::npos) << refused(true);
  EXPECT_NE(refused(true).find("`wgmma.mma_async` at test.ptx:8"), std::string::npos) << refused(true);
}

}  // namespace
