// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks from labels and jumps, and their reverse post-order.
#include "program/blocks.hpp"

#include <algorithm>

namespace sluice::program {
namespace {

/// By instruction: whether a block begins there.
std::vector<bool> leaders_of(const Function& function) {
  std::vector<bool> leader(function.code.size() + 1, false);
  leader[0] = true;
  for (const uint32_t target : function.label_target) {
    if (target != ptx::kNone) leader[target] = true;
  }
  for (size_t i = 0; i < function.code.size(); ++i) {
    if (flow_of(function.code[i]) != Flow::Falls) leader[i + 1] = true;
  }
  return leader;
}

/// The labels that the instruction may jump to.
std::vector<uint32_t> labels_of(const Function& function, const ptx::Instruction& instruction) {
  switch (flow_of(instruction)) {
    case Flow::Branches:
      return {function.operands_of(instruction)[0].index};
    case Flow::Indexed:
      for (const ptx::Operand& operand : function.operands_of(instruction)) {
        if (operand.kind == ptx::Operand::Kind::BranchTable)
          return function.source->branch_tables[operand.index].labels;
      }
      return {};
    default:
      return {};
  }
}

}  // namespace

ControlFlow control_flow_of(const Function& function) {
  const auto size = static_cast<uint32_t>(function.code.size());
  const std::vector<bool> leader = leaders_of(function);
  ControlFlow graph;
  graph.block_at.assign(size + 1, kNoBlock);
  for (uint32_t begin = 0; begin < size;) {
    uint32_t end = begin + 1;
    while (end < size && !leader[end]) ++end;
    graph.block_at[begin] = static_cast<uint32_t>(graph.blocks.size());
    graph.blocks.push_back(Block{begin, end, {}, false});
    begin = end;
  }
  for (Block& block : graph.blocks) {
    const ptx::Instruction& last = function.code[block.end - 1];
    for (const uint32_t label : labels_of(function, last)) {
      const uint32_t target = function.label_target[label];
      if (target != ptx::kNone && target < size) block.successors.push_back(graph.block_at[target]);
    }
    block.falls = flow_of(last) == Flow::Falls || last.guard.reg >= 0;
    if (block.falls && block.end < size) block.successors.push_back(graph.block_at[block.end]);
  }
  return graph;
}

std::vector<uint32_t> reverse_post_order(const std::vector<std::vector<uint32_t>>& successors) {
  std::vector<uint32_t> post;
  std::vector<bool> seen(successors.size(), false);
  std::vector<std::pair<uint32_t, uint32_t>> stack{{0, 0}};  // block, next successor to visit
  seen[0] = true;
  while (!stack.empty()) {
    auto& [block, next] = stack.back();
    if (next < successors[block].size()) {
      const uint32_t to = successors[block][next++];
      if (seen[to]) continue;
      seen[to] = true;
      stack.emplace_back(to, 0);
    } else {
      post.push_back(block);
      stack.pop_back();
    }
  }
  std::reverse(post.begin(), post.end());
  return post;
}

}  // namespace sluice::program
