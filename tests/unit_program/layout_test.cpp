// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Block order: a join lies behind all that leads to it, a loop is one stretch of code, and code means the
// same as before.
#include <map>
#include <set>

#include "lowering.hpp"

namespace sluice::program::test {
namespace {

std::vector<uint32_t> order_of(const std::vector<Block>& blocks) {
  std::vector<std::vector<uint32_t>> successors;
  for (const Block& block : blocks) successors.push_back(block.successors);
  return reverse_post_order(successors);
}

/// Every jump goes forward but those from inside a loop to its header.
void expect_joins_behind(const Function& function) {
  const std::vector<Block> blocks = control_flow_of(function).blocks;
  const std::vector<Loop> loops = natural_loops(blocks, order_of(blocks));
  for (uint32_t b = 0; b < blocks.size(); ++b) {
    for (const uint32_t s : blocks[b].successors) {
      if (s > b) continue;
      bool is_back_edge = false;
      for (const Loop& loop : loops) is_back_edge |= loop.header == s && loop.body[b];
      EXPECT_TRUE(is_back_edge) << "block " << b << " jumps back to " << s << "\n" << dump(function);
    }
  }
}

void expect_loops_contiguous(const Function& function) {
  const std::vector<Block> blocks = control_flow_of(function).blocks;
  for (const Loop& loop : natural_loops(blocks, order_of(blocks))) {
    uint32_t first = kNoBlock, last = 0, count = 0;
    for (uint32_t b = 0; b < blocks.size(); ++b) {
      if (!loop.body[b]) continue;
      first = std::min(first, b);
      last = b;
      ++count;
    }
    EXPECT_EQ(loop.header, first) << dump(function);
    EXPECT_EQ(last - first + 1, count) << dump(function);
  }
}

TEST(Layout, JoinAfterBothArms) {
  const Lowered lowered = lower_body(
      "@%p1 bra THEN;\nbra ELSE;\nJOIN:\nret;\nTHEN:\nadd.s32 %r1, %r1, 1;\nbra JOIN;\n"
      "ELSE:\nadd.s32 %r1, %r1, 2;\nbra JOIN;\n");
  expect_joins_behind(lowered.function);
  EXPECT_EQ(lowered.function.code.back().op, ptx::Opcode::ret);
}

TEST(Layout, ExitOfALoopComesBehindIt) {
  const Lowered lowered = lower_body(
      "HEAD:\n@%p1 bra OUT;\nadd.s32 %r1, %r1, 1;\nbra HEAD;\nOUT:\nmul.lo.s32 %r1, %r1, 3;\nret;\n");
  expect_joins_behind(lowered.function);
  expect_loops_contiguous(lowered.function);
}

TEST(Layout, UnreachedCodeGoes) {
  const Lowered lowered = lower_body("bra END;\nadd.s32 %r1, %r1, 1;\nEND:\nret;\n");
  ASSERT_EQ(lowered.function.code.size(), 1u);
  EXPECT_EQ(lowered.function.code[0].op, ptx::Opcode::ret);
}

TEST(Layout, RunningOffTheEndReturns) {
  const Lowered lowered = lower_body("add.s32 %r1, %r1, 1;\n");
  ASSERT_EQ(lowered.function.code.size(), 2u);
  EXPECT_EQ(lowered.function.code[1].op, ptx::Opcode::ret);
}

TEST(Layout, RandomNests) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    const Lowered lowered = lower_body(RandomBody(seed, false).text());
    expect_joins_behind(lowered.function);
    expect_loops_contiguous(lowered.function);
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

/// The instructions that a thread runs if the n-th guarded jump is taken as bit n of `decisions` says.
std::vector<std::string> trace(const std::vector<ptx::Instruction>& code,
                               const std::vector<uint32_t>& targets,
                               const std::vector<ptx::Operand>& operands, uint64_t decisions) {
  std::vector<std::string> steps;
  for (size_t pc = 0; pc < code.size() && steps.size() < 60;) {
    const ptx::Instruction& in = code[pc];
    const bool guarded = in.guard.reg >= 0;
    if (in.op == ptx::Opcode::ret) break;
    if (in.op != ptx::Opcode::bra && in.op != ptx::Opcode::exit) {
      steps.push_back(std::to_string(in.line) + ":" + std::string(ptx::spelling(in.op)));
      ++pc;
      continue;
    }
    bool taken = true;
    if (guarded) {
      steps.push_back("?" + std::to_string(in.line));
      taken = (decisions & 1) != 0;
      decisions = decisions >> 1 | decisions << 63;
    }
    if (!taken) {
      ++pc;
    } else if (in.op == ptx::Opcode::exit) {
      break;
    } else {
      pc = targets[operands[in.first_operand].index];
    }
  }
  return steps;
}

TEST(Layout, ThreadsRunTheSameInstructionsAsBefore) {
  std::mt19937_64 random(1);
  for (uint32_t seed = 0; seed < 300; ++seed) {
    const Lowered lowered = lower_body(RandomBody(seed, true).text());
    Function before;
    (void)lower(*lowered.module, 0, [&](std::string_view pass, const Function& function) {
      if (pass == "expand_operands") before = function;
    });
    const Function& after = lowered.function;
    for (int walk = 0; walk < 20; ++walk) {
      const uint64_t decisions = random();
      ASSERT_EQ(trace(before.code, before.label_target, before.operands, decisions),
                trace(after.code, after.label_target, after.operands, decisions))
          << "seed " << seed << "\n"
          << dump(after);
    }
  }
}

}  // namespace
}  // namespace sluice::program::test
