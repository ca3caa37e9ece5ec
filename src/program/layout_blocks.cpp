// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Block order. The machine runs the lanes at the lowest place first (see machine/worker.cpp), so code must be
// laid out such that a join lies behind every path that leads to it, and what follows a loop lies behind the
// whole loop: a reverse post-order in which, at every block, the successors that leave the innermost loop are
// visited first. Blocks that nothing reaches are dropped. The idea is that of thread frontiers (Diamos et
// al., MICRO 2011).
//
// What it can miss: in irreducible loops lanes may meet later than they could; results do not depend on it.
#include <algorithm>

#include "program/blocks.hpp"
#include "ptx/table.hpp"

namespace sluice::program {
namespace {

/// Reverse post-order in which the successors that leave more loops are visited first, so that they come
/// last.
std::vector<uint32_t> layout_order(const std::vector<Block>& blocks) {
  std::vector<std::vector<uint32_t>> successors;
  for (const Block& block : blocks) successors.push_back(block.successors);
  std::vector<uint32_t> order = reverse_post_order(successors);
  const std::vector<Loop> loops = natural_loops(blocks, order);
  if (loops.empty()) return order;

  for (size_t b = 0; b < blocks.size(); ++b) {
    const auto loops_left = [&](uint32_t successor) {
      return std::count_if(loops.begin(), loops.end(),
                           [&](const Loop& loop) { return loop.body[b] && !loop.body[successor]; });
    };
    std::stable_sort(successors[b].begin(), successors[b].end(),
                     [&](uint32_t x, uint32_t y) { return loops_left(x) > loops_left(y); });
  }
  return reverse_post_order(successors);
}

/// A `ret` at the place of `model`.
ptx::Instruction make_return(const ptx::Instruction& model) {
  ptx::Instruction ret = model;
  ret.op = ptx::Opcode::ret;
  ret.form = static_cast<uint16_t>(ptx::FormId::ret);
  ret.mods = {};
  ret.guard = {};
  ret.operand_count = 0;
  return ret;
}

/// A `bra` to the old place `target`, through a label of its own.
ptx::Instruction make_jump(Function& function, const ptx::Instruction& model, uint32_t target) {
  ptx::Instruction jump = model;
  jump.op = ptx::Opcode::bra;
  jump.form = static_cast<uint16_t>(ptx::FormId::bra);
  jump.mods = {};
  jump.guard = {};
  jump.first_operand = static_cast<uint32_t>(function.operands.size());
  jump.operand_count = 1;
  function.operands.push_back(ptx::Operand{.kind = ptx::Operand::Kind::Label,
                                           .index = static_cast<uint32_t>(function.label_target.size())});
  function.label_target.push_back(target);
  return jump;
}

}  // namespace

Result<void> layout_blocks(Function& function) {
  if (function.code.empty()) {
    return Error{"the function has no instructions", function.source->name};
  }
  const ControlFlow graph = control_flow_of(function);
  const std::vector<uint32_t> order = layout_order(graph.blocks);

  // Emit in the new order; a fall-through that is no longer next becomes a branch, a branch to the next block
  // goes. A block that becomes empty has no place of its own: its label then means the next block.
  std::vector<ptx::Instruction> code;
  std::vector<uint32_t> new_start(graph.blocks.size(), kNoBlock);
  code.reserve(function.code.size() + 8);
  for (size_t i = 0; i < order.size(); ++i) {
    const Block& block = graph.blocks[order[i]];
    const uint32_t next = i + 1 < order.size() ? order[i + 1] : kNoBlock;
    new_start[order[i]] = static_cast<uint32_t>(code.size());
    code.insert(code.end(), function.code.begin() + block.begin, function.code.begin() + block.end);

    const ptx::Instruction last = code.back();
    const bool jumps_to_next = flow_of(last) == Flow::Branches && last.guard.reg < 0 &&
                               block.successors.size() == 1 && block.successors[0] == next;
    if (jumps_to_next) {
      code.pop_back();
    } else if (block.falls && block.end >= function.code.size()) {
      code.push_back(make_return(last));  // running off the end of a function returns
    } else if (block.falls && graph.block_at[block.end] != next) {
      code.push_back(make_jump(function, last, block.end));
    }
  }

  for (uint32_t& target : function.label_target) {
    if (target == ptx::kNone) continue;
    const uint32_t block = target < function.code.size() ? graph.block_at[target] : kNoBlock;
    target = block != kNoBlock && new_start[block] != kNoBlock ? new_start[block] : ptx::kNone;
  }
  function.code = std::move(code);
  return {};
}

}  // namespace sluice::program
