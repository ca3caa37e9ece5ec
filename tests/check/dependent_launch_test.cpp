// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Two launches of which the second may begin before the first has ended.
#include "check/kernels.hpp"

namespace {

using namespace sluice;
using namespace sluice::test;

const std::string kWaitForBefore = "griddepcontrol.wait;\n";
const std::string kWriteOut =
    "shl.b32 %r9, %r1, 2;\n cvt.u64.u32 %rd8, %r9;\n add.u64 %rd8, %rd8, %rd1;\n"
    "st.global.u32 [%rd8], %r1;\n";

/// Runs `first`, then `second`, on the same memory; what is found in the second.
std::string found_in_second(const std::string& first, const std::string& second, bool overlaps = true) {
  check::Checker checker;
  auto* out = buffer<uint32_t>(1024);
  auto* in = buffer<uint32_t>(1024);
  Launch launch{.block = 64};
  launch.listener = &checker;
  run(checked_kernel(first), "k", {out, in}, launch);
  EXPECT_TRUE(checker.take().empty());
  launch.overlaps_previous = overlaps;
  run(checked_kernel(second), "k", {out, in}, launch);
  std::string names;
  for (const report::Diagnostic& d : checker.take()) names += d.name;
  return names;
}

TEST(dependent_launch, read_before_the_wait) {
  const std::string read = "ld.global.u32 %r10, [%rd1];\n";
  EXPECT_EQ(found_in_second(kWriteOut, read + kWaitForBefore), "dependent-launch-race");
  EXPECT_EQ(found_in_second(kWriteOut, kWaitForBefore + read), "");
  EXPECT_EQ(found_in_second(kWriteOut, read, false), "");
}

TEST(dependent_launch, only_what_the_kernel_before_touched_counts) {
  EXPECT_EQ(found_in_second(kWriteOut, "ld.global.u32 %r10, [%rd1+256];\n ld.global.u32 %r10, [%rd2];\n"),
            "");
  EXPECT_EQ(found_in_second("ld.global.u32 %r10, [%rd1];\n", "ld.global.u32 %r10, [%rd1];\n"), "");
}

TEST(dependent_launch, write_over_what_the_kernel_before_reads) {
  const std::string first = "ld.global.u32 %r10, [%rd1];\n";
  EXPECT_EQ(found_in_second(first, only(0, "st.global.u32 [%rd1], %r1;\n")), "dependent-launch-race");
  EXPECT_EQ(found_in_second(first, only(0, kWaitForBefore + "st.global.u32 [%rd1], %r1;\n")), "");
}

TEST(dependent_launch, wait_in_one_thread_orders_those_behind_a_barrier) {
  const std::string read = "ld.global.u32 %r10, [%rd1];\n";
  EXPECT_EQ(found_in_second(kWriteOut, only(0, kWaitForBefore) + read), "dependent-launch-race");
  EXPECT_EQ(found_in_second(kWriteOut, only(0, kWaitForBefore) + kSync + read), "");
}

TEST(dependent_launch, copy_before_the_wait) {
  const std::string bulk =
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 256, " + bar(0) +
      ";\n";
  const std::string fetch = expect(0, 256) + bulk + wait(0, 0);
  EXPECT_EQ(found_in_second(kWriteOut, only(0, init(0, 1) + fetch)), "dependent-launch-race");
  EXPECT_EQ(found_in_second(kWriteOut, only(0, init(0, 1) + kWaitForBefore + fetch)), "");
}

}  // namespace
