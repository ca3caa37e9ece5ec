// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Findings about wgmma: its registers and its operands in shared memory.
#include "check/pairs.hpp"

namespace {

using namespace sluice::test;

class Wgmma : public testing::TestWithParam<Pair> {};

TEST_P(Wgmma, FindsTheMistakeAndNotItsTwin) {
  expect_told_apart(GetParam());
}

// One product of 64 x 16 and 16 x 8 without swizzle: A at the start of the tile, B behind it.
const std::string kDescriptors =
    "cvt.u64.u32 %rd8, %r3;\n and.b64 %rd8, %rd8, 0x3ffff;\n shr.u64 %rd8, %rd8, 4;\n"
    "or.b64 %rd8, %rd8, 0x1000080000;\n add.u64 %rd9, %rd8, 128;\n setp.eq.u32 %p6, %r1, %r1;\n";
const std::string kProduct =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %rd8, %rd9, %p6, 1, 1, 0, "
    "0;\n";
const std::string kFence = "wgmma.fence.sync.aligned;\n";
const std::string kCommit = "wgmma.commit_group.sync.aligned;\n";
const std::string kWait = "wgmma.wait_group.sync.aligned 0;\n";
const std::string kZero =
    "mov.f32 %f0, 0f00000000;\n mov.f32 %f1, %f0;\n mov.f32 %f2, %f0;\n mov.f32 %f3, %f0;\n";
const std::string kStore = "st.global.f32 [%rd1], %f0;\n";
const std::string kOnce = "setp.ne.u32 %p5, %r1, 0;\n @%p5 bra END;\n" + kStore + "END:";

std::vector<Pair> pairs() {
  const std::string start = kDescriptors + kZero;
  const std::string scale = "mul.f32 %f0, %f0, 0f40000000;\n";
  // The product with a descriptor of A whose upper part is `high` (stride from bit 0, base offset from bit
  // 17, swizzle from bit 30); dynamic shared memory lies behind the tile.
  const auto described = [&](const std::string& high, const std::string& leading = "0x80000") {
    return start + "and.b64 %rd8, %rd8, 0x3fff;\n or.b64 %rd8, %rd8, " + leading + ";\n mov.b64 %rd10, " +
           high + ";\n shl.b64 %rd10, %rd10, 32;\n or.b64 %rd8, %rd8, %rd10;\n" + kFence + kProduct +
           kCommit + kWait;
  };
  return {
      {"accumulators_set_without_a_fence",
       "wgmma-missing-fence",
       start + kProduct + kCommit + kWait + kOnce,
       start + kFence + kProduct + kCommit + kWait + kOnce,
       {.block = 128}},
      {"accumulators_scaled_between",
       "wgmma-missing-fence",
       start + kFence + kProduct + kCommit + kWait + scale + kProduct + kCommit + kWait + kOnce,
       start + kFence + kProduct + kCommit + kWait + scale + kFence + kProduct + kCommit + kWait + kOnce,
       {.block = 128}},
      {"accumulators_read_before_the_wait",
       "wgmma-in-flight",
       start + kFence + kProduct + kCommit + scale + kWait + kOnce,
       start + kFence + kProduct + kCommit + kWait + scale + kOnce,
       {.block = 128}},
      {"one_group_may_still_be_in_flight",
       "wgmma-in-flight",
       start + kFence + kProduct + kCommit + "wgmma.wait_group.sync.aligned 1;\n" + scale + kWait + kOnce,
       start + kFence + kProduct + kCommit + kCommit + "wgmma.wait_group.sync.aligned 1;\n" + scale + kWait +
           kOnce,
       {.block = 128}},
      {"operand_written_before_the_wait",
       "wgmma-in-flight",
       start + kFence + kProduct + kCommit + write_own() + kWait,
       start + kFence + kProduct + kCommit + kWait + write_own(),
       {.block = 128}},
      {"operand_written_without_a_proxy_fence",
       "missing-proxy-fence",
       start + write_own() + kSync + kFence + kProduct + kCommit + kWait,
       start + write_own() + kProxyFence + kSync + kFence + kProduct + kCommit + kWait,
       {.block = 128}},
      {"descriptor_without_a_start",
       "wgmma-descriptor-invalid",
       start + "mov.b64 %rd8, 0x1000080000;\n" + kFence + kProduct + kCommit + kWait,
       described("0x10"),
       {.block = 128}},
      {"descriptor_with_bytes_for_units_of_sixteen",
       "wgmma-descriptor-invalid",
       described("0x1000"),
       described("0x10"),
       {.block = 128}},
      {"descriptor_without_a_leading_offset",
       "wgmma-descriptor-invalid",
       described("0x10", "0"),
       described("0x10"),
       {.block = 128}},
      {"leading_offset_does_not_matter_within_a_swizzle",
       "wgmma-descriptor-invalid",
       described("0x40000020", "0"),  // groups of eight rows of 128 bytes, 512 bytes apart
       described("0x40000040", "0"),
       {.block = 128, .dynamic_shared = 16384}},
      {"base_offset_without_a_swizzle",
       "wgmma-descriptor-invalid",
       described("0x20010"),
       described("0x10"),
       {.block = 128}},
      {"base_offset_with_a_swizzle",
       "wgmma-descriptor-invalid",
       described("0x20010"),
       described("0x40020040"),
       {.block = 128, .dynamic_shared = 16384}},
  };
}

INSTANTIATE_TEST_SUITE_P(Pairs, Wgmma, testing::ValuesIn(pairs()), name_of);

TEST(wgmma_silence, moves_between_products_are_no_accesses) {
  const std::string rename = "mov.f32 %f4, %f0;\n mov.f32 %f0, %f4;\n";
  EXPECT_EQ(
      found(kDescriptors + kZero + kFence + kProduct + kCommit + rename + kProduct + kCommit + kWait + kOnce,
            {.block = 128}),
      "");
}

TEST(wgmma_silence, constants_that_a_compiler_moves_behind_the_fence) {
  EXPECT_EQ(found(kDescriptors + kFence + kZero + kProduct + kCommit + kWait + kOnce, {.block = 128}), "");
  // Without a fence since the last product it is no matter of place.
  EXPECT_EQ(found(kDescriptors + kFence + kZero + kProduct + kCommit + kWait + kZero + kProduct + kCommit +
                      kWait + kOnce,
                  {.block = 128}),
            "wgmma-missing-fence");
}

TEST(wgmma_silence, one_warp_releases_what_four_have_read) {
  // All four warps wait for the product, one thread of one of them lets the copy go.
  const std::string begin = only(0, init(0, 1) + init(1, 1)) + kSync + kDescriptors + kZero + kFence;
  EXPECT_EQ(
      found(begin + only(0, expect(0, 4096) + copy(0, 4096)) + wait(0, 0) + kProduct + kCommit + kWait +
                only(32, arrive(1)) + only(0, wait(1, 0) + expect(0, 4096) + copy(0, 4096) + wait(0, 1)),
            {.block = 128}),
      "");
}

}  // namespace
