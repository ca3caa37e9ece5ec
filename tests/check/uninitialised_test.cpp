// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Undefined bytes: where they matter, and where moving them about is no mistake.
#include "check/pairs.hpp"

namespace {

using namespace sluice;
using namespace sluice::test;

class Uninitialised : public testing::TestWithParam<Pair> {};

TEST_P(Uninitialised, FindsTheMistakeAndNotItsTwin) {
  Pair pair = GetParam();
  pair.launch.options.follow_definedness = true;
  expect_told_apart(pair);
}

/// Of the buffer `in` nobody has written the bytes from `first` on.
Prepare fresh_from(uint32_t first) {
  return [first](uint32_t*, uint32_t* in) {
    device().memory().defined()->forget(reinterpret_cast<uint8_t*>(in) + first, 4096 - first);
  };
}

std::string fresh(const std::string& body, Launch launch = {}, const Prepare& prepare = nullptr) {
  launch.options.follow_definedness = true;
  return found(body, launch, prepare);
}

const std::string kWord = "ld.shared.u32 %r10, [%r3];\n";
const std::string kSetWord = only(0, "st.shared.u32 [%r3], %r1;") + kSync;
const std::string kBranch = "setp.eq.u32 %p3, %r10, 7;\n @%p3 bra END;\n add.u32 %r11, %r1, 1;\n END:\n";
const std::string kStoreWord = only(0, "st.global.u32 [%rd1], %r10;");

std::vector<Pair> pairs() {
  const std::string address =
      "and.b32 %r10, %r10, 28;\n add.u32 %r11, %r10, %r3;\n ld.shared.u32 %r12, [%r11];\n";
  const std::string copied =
      only(0, init(0, 1)) + kSync + only(0, expect(0, 256) + copy(0, 256)) + wait(0, 0);
  const std::string cp_async = only(
      0,
      "cp.async.ca.shared.global [%r3], [%rd2], 16;\n cp.async.wait_all;\n ld.shared.u32 %r10, [%r3+8];\n");
  const std::string zfill = only(0,
                                 "cp.async.ca.shared.global [%r3], [%rd2], 16, 8;\n cp.async.wait_all;\n "
                                 "ld.shared.u32 %r10, [%r3+8];\n");
  return {
      {"branch", "uninitialised-read", kWord + kBranch, kSetWord + kWord + kBranch},
      {"address", "uninitialised-read", kWord + address, kSetWord + kWord + address},
      {"global_store", "uninitialised-read", kWord + kStoreWord, kSetWord + kWord + kStoreWord},
      {"computed", "uninitialised-read", kWord + "add.u32 %r10, %r10, %r1;\n" + kStoreWord,
       kSetWord + kWord + "add.u32 %r10, %r10, %r1;\n" + kStoreWord},
      {"guard_of_a_store", "uninitialised-read",
       kWord + "setp.eq.u32 %p3, %r10, 7;\n @%p3 st.shared.u32 [%r3+64], 1;\n",
       kSetWord + kWord + "setp.eq.u32 %p3, %r10, 7;\n @%p3 st.shared.u32 [%r3+64], 1;\n"},
      {"shuffle", "uninitialised-read",
       only(31, "st.shared.u32 [%r3+4], 5;") +
           "bar.warp.sync -1;\n shl.b32 %r9, %r1, 2;\n min.u32 %r9, %r9, 8;\n"
           "add.u32 %r9, %r9, %r3;\n ld.shared.u32 %r11, [%r9];\n shfl.sync.idx.b32 %r10, %r11, 2, 31, "
           "-1;\n" +
           kBranch,
       only(31, "st.shared.u32 [%r3+4], 5;") +
           "bar.warp.sync -1;\n shl.b32 %r9, %r1, 2;\n min.u32 %r9, %r9, 8;\n"
           "add.u32 %r9, %r9, %r3;\n ld.shared.u32 %r11, [%r9];\n shfl.sync.idx.b32 %r10, %r11, 1, 31, "
           "-1;\n" +
           kBranch},
      {"vote", "uninitialised-read",
       kWord + "setp.eq.u32 %p3, %r10, 7;\n vote.sync.any.pred %p4, %p3, -1;\n @%p4 bra END;\n mov.u32 %r11, "
               "1;\n END:\n",
       kSetWord + kWord +
           "setp.eq.u32 %p3, %r10, 7;\n vote.sync.any.pred %p4, %p3, -1;\n @%p4 bra END;\n mov.u32 %r11, "
           "1;\n END:\n"},
      {"bulk_copy_of_fresh_memory",
       "uninitialised-read",
       copied + "ld.shared.u32 %r10, [%r3+128];\n" + kBranch,
       copied + "ld.shared.u32 %r10, [%r3+124];\n" + kBranch,
       {},
       fresh_from(128)},
      {"cp_async_of_fresh_memory",
       "uninitialised-read",
       cp_async + kBranch,
       zfill + kBranch,
       {},
       fresh_from(8)},
      {"bulk_store", "uninitialised-read",
       only(0, "st.shared.u32 [%r3], 1;" + kProxyFence + store_tile(16, 64)),
       only(0, "st.shared.u32 [%r3], 1;" + kProxyFence + store_tile(16))},
      {"atomic_on_fresh_memory", "uninitialised-read", "atom.shared.add.u32 %r10, [%r3], 1;\n" + kBranch,
       kSetWord + "atom.shared.add.u32 %r10, [%r3], 1;\n" + kBranch},
      {"other_half_of_a_register", "uninitialised-read",
       only(0, "st.shared.u16 [%r3], 3;") + kSync + kWord + "shr.u32 %r10, %r10, 16;\n" + kBranch,
       only(0, "st.shared.u16 [%r3], 3;") + kSync + kWord + "and.b32 %r10, %r10, 0xffff;\n" + kBranch},
      {"ldmatrix", "uninitialised-read",
       only(0, "st.shared.v4.b32 [%r3], {%r1, %r1, %r1, %r1};") + kSync +
           "shl.b32 %r9, %r1, 4;\n add.u32 %r9, %r9, %r3;\n ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, "
           "[%r9];\n" +
           only(4, kBranch),
       only(0, "st.shared.v4.b32 [%r3], {%r1, %r1, %r1, %r1};") + kSync +
           "shl.b32 %r9, %r1, 4;\n add.u32 %r9, %r9, %r3;\n ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, "
           "[%r9];\n" +
           only(3, kBranch)},
  };
}

INSTANTIATE_TEST_SUITE_P(Pairs, Uninitialised, testing::ValuesIn(pairs()), name_of);

TEST(uninitialised_silence, partly_written_struct_is_copied) {
  EXPECT_EQ(fresh(only(0,
                       "st.shared.u8 [%r3], 1;\n st.shared.u64 [%r3+8], %rd1;\n"
                       "ld.shared.v2.u64 {%rd8, %rd9}, [%r3];\n st.global.v2.u64 [%rd1], {%rd8, %rd9};\n")),
            "");
}

TEST(uninitialised_silence, vector_load_past_the_tail_is_selected_away) {
  const std::string body =
      "ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd2];\n setp.lt.u32 %p3, %r1, 0;\n"
      "selp.u32 %r12, %r12, 0, %p3;\n @%p3 add.u32 %r13, %r13, 1;\n @!%p3 mov.u32 %r13, 0;\n add.u32 %r10, "
      "%r10, %r12;\n"
      "add.u32 %r10, %r10, %r13;\n";
  EXPECT_EQ(fresh(body + kBranch + kStoreWord, {}, fresh_from(8)), "");
  EXPECT_EQ(fresh("ld.global.v4.u32 {%r11, %r12, %r10, %r13}, [%rd2];\n" + kBranch, {}, fresh_from(8)),
            "uninitialised-read");
}

TEST(uninitialised_silence, comparison_that_a_bound_decides) {
  EXPECT_EQ(fresh(kWord + "setp.gt.u32 %p4, %r1, 99;\n setp.eq.and.u32 %p3, %r10, 7, %p4;\n @%p3 bra END;\n"
                          "mov.u32 %r11, 1;\n END:\n"),
            "");
  EXPECT_EQ(fresh(kWord + "setp.lt.u32 %p4, %r1, 99;\n setp.eq.and.u32 %p3, %r10, 7, %p4;\n @%p3 bra END;\n"
                          "mov.u32 %r11, 1;\n END:\n"),
            "uninitialised-read");
}

TEST(uninitialised_silence, values_that_nobody_looks_at) {
  EXPECT_EQ(fresh(kWord + "add.u32 %r11, %r10, 1;\n st.shared.u32 [%r3+4], %r11;\n"), "");
}

TEST(uninitialised_silence, levels_of_the_finding) {
  Launch launch;
  launch.options.follow_definedness = true;
  EXPECT_EQ(test::check(kWord + kBranch, launch).at(0).level, report::Level::Warning);
  launch.options.undefined_is_error = true;
  EXPECT_EQ(test::check(kWord + kBranch, launch).at(0).level, report::Level::Error);
  launch.options.follow_definedness = false;
  EXPECT_EQ(found(kWord + kBranch, launch), "");
}

// Row 63 of A (64 x 16, without swizzle) is never written; row 63 of the product is what the last four lanes
// of the last warp hold in their third and fourth accumulator.
std::string product_with_a_fresh_row(const std::string& store) {
  return "shr.u32 %r11, %r1, 4;\n shl.b32 %r11, %r11, 8;\n and.b32 %r12, %r1, 1;\n shl.b32 %r12, %r12, 7;\n"
         "add.u32 %r11, %r11, %r12;\n shr.u32 %r12, %r1, 1;\n and.b32 %r12, %r12, 7;\n shl.b32 %r12, %r12, "
         "4;\n"
         "add.u32 %r11, %r11, %r12;\n add.u32 %r11, %r11, %r3;\n mov.b32 %r13, 0;\n setp.lt.u32 %p3, %r1, "
         "126;\n"
         "@%p3 st.shared.v4.b32 [%r11], {%r13, %r13, %r13, %r13};\n"
         "shl.b32 %r14, %r1, 4;\n add.u32 %r14, %r14, %r3;\n setp.lt.u32 %p4, %r1, 16;\n"
         "@%p4 st.shared.v4.b32 [%r14+2048], {%r13, %r13, %r13, %r13};\n" +
         kProxyFence + kSync +
         "cvt.u64.u32 %rd8, %r3;\n and.b64 %rd8, %rd8, 0x3ffff;\n shr.u64 %rd8, %rd8, 4;\n"
         "or.b64 %rd8, %rd8, 0x1000080000;\n add.u64 %rd9, %rd8, 128;\n setp.ne.u32 %p6, %r1, %r1;\n"
         "wgmma.fence.sync.aligned;\n"
         "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %rd8, %rd9, %p6, 1, 1, "
         "0, 0;\n"
         "wgmma.commit_group.sync.aligned;\n wgmma.wait_group.sync.aligned 0;\n"
         "mul.wide.u32 %rd10, %r1, 4;\n add.u64 %rd10, %rd10, %rd1;\n" +
         store;
}

TEST(uninitialised_silence, rows_of_a_product_that_are_masked) {
  const Launch launch{.block = 128};
  EXPECT_EQ(fresh(product_with_a_fresh_row("st.global.f32 [%rd10], %f0;\n"), launch), "");
  EXPECT_EQ(fresh(product_with_a_fresh_row("setp.lt.u32 %p5, %r1, 124;\n @%p5 st.global.f32 [%rd10], %f2;\n"),
                  launch),
            "");
  EXPECT_EQ(fresh(product_with_a_fresh_row("st.global.f32 [%rd10], %f2;\n"), launch), "uninitialised-read");
}

TEST(uninitialised, parameters_of_the_kernel_that_are_read_by_their_address) {
  const std::string read =
      "mov.b64 %rd8, in;\n cvta.param.u64 %rd8, %rd8;\n ld.u64 %rd9, [%rd8];\n"
      "st.global.u64 [%rd1], %rd9;\n";
  EXPECT_EQ(fresh(only(0, read)), "");
}

}  // namespace
