// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Places of registers, against liveness found the slow way: a search from every instruction for a read that
// no write comes before.
#include "lowering.hpp"

namespace sluice::program::test {
namespace {

std::vector<std::vector<uint32_t>> instruction_successors(const Function& function) {
  std::vector<std::vector<uint32_t>> next(function.code.size());
  for (const Block& block : control_flow_of(function).blocks) {
    for (uint32_t i = block.begin; i + 1 < block.end; ++i) next[i] = {i + 1};
    for (const uint32_t s : block.successors)
      next[block.end - 1].push_back(control_flow_of(function).blocks[s].begin);
  }
  return next;
}

/// Whether some path that begins with instruction `at` reads the register before it surely writes it.
bool is_live(const Function& function, const std::vector<std::vector<uint32_t>>& next,
             const std::vector<std::vector<Access>>& accesses, uint32_t at, uint32_t reg) {
  std::vector<bool> seen(function.code.size(), false);
  std::vector<uint32_t> work{at};
  while (!work.empty()) {
    const uint32_t i = work.back();
    work.pop_back();
    if (seen[i]) continue;
    seen[i] = true;
    bool written = false;
    for (const Access& access : accesses[i]) {
      if (access.reg != reg) continue;
      if (access.reads) return true;
      written |= access.writes && function.code[i].guard.reg < 0;
    }
    if (!written) work.insert(work.end(), next[i].begin(), next[i].end());
  }
  return false;
}

/// No write falls on a register that is live behind it, nor on another operand of its instruction.
void expect_no_clash(const Function& function) {
  const auto next = instruction_successors(function);
  std::vector<std::vector<Access>> accesses(function.code.size());
  for (size_t i = 0; i < accesses.size(); ++i) collect_accesses(function, function.code[i], accesses[i]);
  const auto share = [&](uint32_t a, uint32_t b) {
    return a != b && class_of(function.regs[a].type) == class_of(function.regs[b].type) &&
           function.location[a] == function.location[b];
  };
  for (uint32_t i = 0; i < function.code.size(); ++i) {
    for (const Access& write : accesses[i]) {
      if (!write.writes) continue;
      for (const Access& other : accesses[i])
        EXPECT_FALSE(share(write.reg, other.reg)) << "instruction " << i << "\n" << dump(function);
      for (uint32_t reg = 0; reg < function.regs.size(); ++reg) {
        if (!share(write.reg, reg)) continue;
        for (const uint32_t s : next[i])
          EXPECT_FALSE(is_live(function, next, accesses, s, reg)) << "instruction " << i << "\n"
                                                                  << dump(function);
      }
    }
  }
}

uint32_t place_of(const Function& function, std::string_view name) {
  for (size_t r = 0; r < function.regs.size(); ++r) {
    if (function.regs[r].name == name) return function.location[r];
  }
  ADD_FAILURE() << "no register " << name;
  return 0;
}

TEST(Places, RegistersThatAreNotLiveTogetherShare) {
  const Lowered lowered = lower_body(
      "add.s32 %r1, %r0, 1;\nadd.s32 %r2, %r1, 1;\nadd.s32 %r3, %r2, 1;\nst.shared.b32 [tile], %r3;\nret;\n");
  EXPECT_EQ(place_of(lowered.function, "%r1"), place_of(lowered.function, "%r3"));
  expect_no_clash(lowered.function);
}

TEST(Places, AGuardedWriteKeepsTheOldValueForTheNextRound) {
  expect_no_clash(lower_body("mov.b32 %r1, 7;\nHEAD:\n@%p1 mov.b32 %r1, 9;\nst.shared.b32 [tile], %r1;\n"
                             "mov.b32 %r2, 8;\nst.shared.b32 [tile+4], %r2;\n@%p2 bra HEAD;\nret;\n")
                      .function);
}

TEST(Places, ValuesLiveAroundALoop) {
  expect_no_clash(
      lower_body(
          "mov.b32 %r1, 7;\nHEAD:\nst.shared.b32 [tile], %r1;\nmov.b32 %r2, 8;\nst.shared.b32 [tile], %r2;\n"
          "@%p1 bra HEAD;\nret;\n")
          .function);
}

TEST(Places, RegistersOfWgmmaAreKeptUntilItsWait) {
  const Lowered lowered = lower_body(
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, %rd1, "
      "1, 1, 1, 0;\n"
      "mov.b32 %r5, 1;\nmov.b32 %r6, %r5;\nst.shared.b32 [tile], %r6;\nwgmma.wait_group.sync.aligned "
      "0;\nret;\n");
  for (const char* scratch : {"%r5", "%r6"}) {
    for (const char* fragment : {"%r1", "%r2", "%r3", "%r4"})
      EXPECT_NE(place_of(lowered.function, scratch), place_of(lowered.function, fragment));
  }
}

TEST(Places, RandomNests) {
  for (uint32_t seed = 0; seed < 120; ++seed) {
    expect_no_clash(lower_body(RandomBody(seed, seed % 2 != 0).text()).function);
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

}  // namespace
}  // namespace sluice::program::test
