// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Scopes of fences, atomics and strong accesses to global memory: between CTAs those of a CTA promise
// nothing.
#include "check/pairs.hpp"

namespace {

using namespace sluice::test;

class Scope : public testing::TestWithParam<Pair> {};

TEST_P(Scope, FindsTheMistakeAndNotItsTwin) {
  expect_told_apart(GetParam());
}

const std::string kWrite = "st.global.u32 [%rd1], 5;\n";
const std::string kRead = "ld.global.u32 %r11, [%rd1];\n";

/// Waits until the flag at this offset is set, by `load` with a scope.
std::string poll(const std::string& load, int offset = 64) {
  static int label = 0;
  const std::string l = "POLL" + std::to_string(++label);
  return l + ": " + load + ".global.u32 %r10, [%rd1+" + std::to_string(offset) +
         "];\n setp.ne.u32 %p4, %r10, 1;\n @%p4 bra " + l + ";\n";
}
std::string set(const std::string& store, int offset = 64) {
  return store + ".global.u32 [%rd1+" + std::to_string(offset) + "], 1;\n";
}

/// CTA 0 does `first`, CTA 1 `second`.
std::string ctas(const std::string& first, const std::string& second) {
  return "mov.u32 %r20, %ctaid.x;\n setp.eq.u32 %p3, %r20, 1;\n @%p3 bra SECOND;\n" + first +
         "\n bra DONE;\n SECOND:\n" + second + "\n DONE:\n";
}
/// One thread of CTA 0 and one of CTA 1.
std::string threads(const std::string& first, const std::string& second) {
  return ctas(only(0, first), only(0, second));
}

std::string fence(const std::string& scope) {
  return "fence.acq_rel." + scope + ";\n";
}

std::vector<Pair> pairs() {
  const std::string right = threads(kWrite + set("st.release.gpu"), poll("ld.acquire.gpu") + kRead);
  const std::string relaxed = set("st.relaxed.gpu"), look = poll("ld.relaxed.gpu");
  const Launch two{.grid = 2};
  const std::string count = "red.relaxed.";
  return {
      {"release_of_a_cta", "scope-too-narrow",
       threads(kWrite + set("st.release.cta"), poll("ld.acquire.gpu") + kRead), right, two},
      {"acquire_of_a_cta", "scope-too-narrow",
       threads(kWrite + set("st.release.gpu"), poll("ld.acquire.cta") + kRead), right, two},
      {"fence_of_a_cta_before_the_flag", "scope-too-narrow",
       threads(kWrite + fence("cta") + relaxed, look + fence("gpu") + kRead),
       threads(kWrite + fence("gpu") + relaxed, look + fence("gpu") + kRead), two},
      {"fence_of_a_cta_after_the_flag", "scope-too-narrow",
       threads(kWrite + fence("gpu") + relaxed, look + fence("cta") + kRead),
       threads(kWrite + fence("gpu") + relaxed, look + fence("cta") + fence("gpu") + kRead), two},
      {"write_between_a_wide_and_a_narrow_fence", "scope-too-narrow",
       threads(fence("gpu") + kWrite + fence("cta") + relaxed, look + fence("gpu") + kRead),
       threads(kWrite + fence("gpu") + fence("cta") + relaxed, look + fence("gpu") + kRead), two},
      {"flag_of_a_cta", "scope-too-narrow",
       threads(kWrite + fence("gpu") + set("st.relaxed.cta"), poll("ld.volatile") + fence("gpu") + kRead),
       threads(kWrite + fence("gpu") + set("st.volatile"), poll("ld.volatile") + fence("gpu") + kRead), two},
      {"atomics_of_a_cta", "scope-too-narrow", only(0, count + "cta.global.add.u32 [%rd1], 1;\n"),
       only(0, count + "gpu.global.add.u32 [%rd1], 1;\n red.relaxed.cta.shared.add.u32 [%r3], 1;\n"), two},
  };
}

INSTANTIATE_TEST_SUITE_P(Pairs, Scope, testing::ValuesIn(pairs()), name_of);

TEST(scope, lanes_of_one_atomic_see_each_other_in_turn) {
  // bar.sync orders the writes too, so they come behind it.
  const std::string write = "shl.b32 %r9, %r1, 2;\n cvt.u64.u32 %rd8, %r9;\n add.u64 %rd9, %rd1, %rd8;\n" +
                            only(0, "st.global.u32 [%rd1], 0;") + kSync + "st.global.u32 [%rd9+128], %r1;\n";
  const std::string read =
      "setp.ne.u32 %p4, %r10, 31;\n @%p4 bra NOT_LAST;\n ld.global.u32 %r11, [%rd1+128];\n"
      "NOT_LAST:\n";
  EXPECT_EQ(found(write + "atom.acq_rel.gpu.global.add.u32 %r10, [%rd1], 1;\n" + read), "");
  EXPECT_EQ(found(write + "fence.acq_rel.gpu;\n atom.global.add.u32 %r10, [%rd1], 1;\n fence.acq_rel.gpu;\n" +
                  read),
            "");
  EXPECT_EQ(found(write + "atom.relaxed.gpu.global.add.u32 %r10, [%rd1], 1;\n" + read), "global-race");
  EXPECT_EQ(found(write + "atom.release.gpu.global.add.u32 %r10, [%rd1], 1;\n" + read), "global-race");
}

TEST(scope, the_last_lane_need_not_be_told_what_it_did_itself) {
  const auto last_writes = [](const std::string& atomic) {
    return only(0, "st.global.u32 [%rd1], 0;") + kSync + "ld.global.u32 %r11, [%rd1+64];\n" + atomic +
           ".global.add.u32 %r10, [%rd1], 1;\n setp.ne.u32 %p4, %r10, 47;\n @%p4 bra NOT_LAST;\n"
           "st.global.u32 [%rd1+64], 1;\n NOT_LAST:\n";
  };
  EXPECT_EQ(found(last_writes("atom.acq_rel.gpu"), {.block = 48}), "");
  EXPECT_EQ(found(last_writes("atom.relaxed.gpu"), {.block = 48}), "global-race");
}

TEST(scope, of_a_cta_is_enough_within_it) {
  const std::string body = only(32, kWrite + set("st.release.cta")) + only(0, poll("ld.acquire.cta") + kRead);
  EXPECT_EQ(found(body, {.block = 64}), "");
}

TEST(scope, of_a_cta_carries_on_to_a_wide_release) {
  // Warp 1 tells warp 0, which tells the other CTA, where one thread tells the others.
  const std::string first = only(32, kWrite + set("st.release.cta", 128)) +
                            only(0, poll("ld.acquire.cta", 128) + set("st.release.gpu"));
  const std::string second = only(0, poll("ld.acquire.gpu") + set("st.release.cta", 256)) +
                             only(32, poll("ld.acquire.cta", 256) + kRead);
  EXPECT_EQ(found(ctas(first, second), {.grid = 2, .block = 64}), "");
}

TEST(scope, barriers_carry_on_what_one_thread_has_acquired) {
  const std::string first = "setp.ne.u32 %p5, %r1, 40;\n @!%p5 st.global.u32 [%rd1], 5;\n" + kSync +
                            only(0, fence("cta") + fence("gpu") + set("st.relaxed.gpu"));
  const std::string second = only(0, poll("ld.relaxed.gpu") + fence("gpu")) + kSync + warp(1, kRead);
  EXPECT_EQ(found(ctas(first, second), {.grid = 2, .block = 64}), "");
}

TEST(scope, after_a_narrow_fence_the_own_cta_is_known) {
  const std::string body = only(32, kWrite + fence("cta") + set("st.relaxed.cta")) +
                           only(0, poll("ld.relaxed.cta") + fence("cta") + kRead);
  EXPECT_EQ(found(body, {.block = 64}), "");
}

}  // namespace
