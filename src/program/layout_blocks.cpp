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

#include "program/program.hpp"

namespace sluice::program {
namespace {

constexpr uint32_t kNo = 0xffffffffu;

struct Block {
  uint32_t begin = 0;
  uint32_t end = 0;
  std::vector<uint32_t> successors;  ///< fall-through last
  bool falls = false;
};

struct Graph {
  std::vector<Block> blocks;
  std::vector<uint32_t> block_at;  ///< by instruction index of a leader
};

Graph build(const Function& function) {
  const auto size = static_cast<uint32_t>(function.code.size());
  std::vector<bool> leader(size + 1, false);
  leader[0] = true;
  for (const uint32_t target : function.label_target) {
    if (target != ptx::kNone) leader[target] = true;
  }
  for (uint32_t i = 0; i < size; ++i) {
    if (flow_of(function.code[i]) != Flow::Falls) leader[i + 1] = true;
  }

  Graph graph;
  graph.block_at.assign(size + 1, kNo);
  for (uint32_t i = 0; i < size; ++i) {
    if (!leader[i]) continue;
    graph.block_at[i] = static_cast<uint32_t>(graph.blocks.size());
    uint32_t end = i + 1;
    while (end < size && !leader[end]) ++end;
    graph.blocks.push_back(Block{i, end, {}, false});
  }

  for (Block& block : graph.blocks) {
    const ptx::Instruction& last = function.code[block.end - 1];
    const Flow flow = flow_of(last);
    const auto add_label = [&](uint32_t label) {
      const uint32_t target = function.label_target[label];
      if (target != ptx::kNone && target < size) block.successors.push_back(graph.block_at[target]);
    };
    if (flow == Flow::Branches) add_label(function.operands_of(last)[0].index);
    if (flow == Flow::Indexed) {
      for (const ptx::Operand& operand : function.operands_of(last)) {
        if (operand.kind != ptx::Operand::Kind::BranchTable) continue;
        for (const uint32_t label : function.source->branch_tables[operand.index].labels) add_label(label);
      }
    }
    const bool conditional = last.guard.reg >= 0;
    block.falls = flow == Flow::Falls || conditional;
    if (block.falls && block.end < size) block.successors.push_back(graph.block_at[block.end]);
  }
  return graph;
}

/// Plain reverse post-order from the entry.
std::vector<uint32_t> reverse_post_order(const std::vector<Block>& blocks,
                                         const std::vector<std::vector<uint32_t>>& order) {
  std::vector<uint32_t> post;
  std::vector<uint8_t> seen(blocks.size(), 0);
  std::vector<std::pair<uint32_t, uint32_t>> stack{{0, 0}};
  seen[0] = 1;
  while (!stack.empty()) {
    auto& [block, next] = stack.back();
    if (next < order[block].size()) {
      const uint32_t to = order[block][next++];
      if (!seen[to]) {
        seen[to] = 1;
        stack.emplace_back(to, 0);
      }
    } else {
      post.push_back(block);
      stack.pop_back();
    }
  }
  std::reverse(post.begin(), post.end());
  return post;
}

/// Header of the innermost natural loop of each block (kNo outside loops); a header belongs to its own loop.
/// `depth` receives the nesting depth.
std::vector<uint32_t> innermost_loops(const std::vector<Block>& blocks, const std::vector<uint32_t>& rpo,
                                      std::vector<std::vector<bool>>& bodies,
                                      std::vector<uint32_t>& headers) {
  const size_t count = blocks.size();
  std::vector<uint32_t> number(count, kNo);
  for (uint32_t i = 0; i < rpo.size(); ++i) number[rpo[i]] = i;
  std::vector<std::vector<uint32_t>> predecessors(count);
  for (const uint32_t b : rpo) {
    for (const uint32_t s : blocks[b].successors) predecessors[s].push_back(b);
  }

  // Dominators (Cooper, Harvey, Kennedy).
  std::vector<uint32_t> dominator(count, kNo);
  dominator[rpo[0]] = rpo[0];
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 1; i < rpo.size(); ++i) {
      const uint32_t b = rpo[i];
      uint32_t best = kNo;
      for (const uint32_t p : predecessors[b]) {
        if (dominator[p] == kNo) continue;
        if (best == kNo) {
          best = p;
          continue;
        }
        uint32_t x = p, y = best;
        while (x != y) {
          while (number[x] > number[y]) x = dominator[x];
          while (number[y] > number[x]) y = dominator[y];
        }
        best = x;
      }
      if (best != dominator[b]) {
        dominator[b] = best;
        changed = true;
      }
    }
  }
  const auto dominates = [&](uint32_t a, uint32_t b) {
    while (number[b] > number[a]) b = dominator[b];
    return a == b;
  };

  // Natural loops, one body per header.
  for (const uint32_t b : rpo) {
    for (const uint32_t header : blocks[b].successors) {
      if (number[header] > number[b] || !dominates(header, b)) continue;
      auto found = std::find(headers.begin(), headers.end(), header);
      if (found == headers.end()) {
        headers.push_back(header);
        bodies.emplace_back(count, false);
        found = headers.end() - 1;
      }
      std::vector<bool>& body = bodies[static_cast<size_t>(found - headers.begin())];
      std::vector<uint32_t> work{b};
      body[header] = true;
      while (!work.empty()) {
        const uint32_t x = work.back();
        work.pop_back();
        if (body[x]) continue;
        body[x] = true;
        for (const uint32_t p : predecessors[x]) work.push_back(p);
      }
    }
  }

  // Innermost = smallest body that holds the block.
  std::vector<size_t> sizes;
  for (const auto& body : bodies)
    sizes.push_back(static_cast<size_t>(std::count(body.begin(), body.end(), true)));
  std::vector<uint32_t> innermost(count, kNo);
  for (uint32_t b = 0; b < count; ++b) {
    for (uint32_t l = 0; l < bodies.size(); ++l) {
      if (bodies[l][b] && (innermost[b] == kNo || sizes[l] < sizes[innermost[b]])) innermost[b] = l;
    }
  }
  return innermost;
}

}  // namespace

Result<void> layout_blocks(Function& function) {
  if (function.code.empty()) {
    return Error{"the function has no instructions", function.source->name};
  }
  const Graph graph = build(function);
  const auto& blocks = graph.blocks;

  std::vector<std::vector<uint32_t>> order(blocks.size());
  for (size_t b = 0; b < blocks.size(); ++b) order[b] = blocks[b].successors;
  std::vector<uint32_t> rpo = reverse_post_order(blocks, order);

  std::vector<std::vector<bool>> bodies;
  std::vector<uint32_t> headers;
  const std::vector<uint32_t> innermost = innermost_loops(blocks, rpo, bodies, headers);
  if (!bodies.empty()) {
    // Successors that leave more loops are visited first, so they come out last.
    for (size_t b = 0; b < blocks.size(); ++b) {
      const auto left = [&](uint32_t successor) {
        size_t loops = 0;
        for (const auto& body : bodies) loops += body[b] && !body[successor];
        return loops;
      };
      if (innermost[b] == kNo) continue;
      std::stable_sort(order[b].begin(), order[b].end(),
                       [&](uint32_t x, uint32_t y) { return left(x) > left(y); });
    }
    rpo = reverse_post_order(blocks, order);
  }

  // Emit in the new order; a fall-through that is no longer next becomes a branch, a branch to the next block
  // goes.
  std::vector<ptx::Instruction> code;
  std::vector<uint32_t> new_start(blocks.size(), kNo);
  code.reserve(function.code.size() + 8);
  for (size_t i = 0; i < rpo.size(); ++i) {
    const Block& block = blocks[rpo[i]];
    const uint32_t next = i + 1 < rpo.size() ? rpo[i + 1] : kNo;
    new_start[rpo[i]] = static_cast<uint32_t>(code.size());
    code.insert(code.end(), function.code.begin() + block.begin, function.code.begin() + block.end);

    const ptx::Instruction last = code.back();
    if (flow_of(last) == Flow::Branches && last.guard.reg < 0 && block.successors.size() == 1 &&
        block.successors[0] == next) {
      code.pop_back();
      // An empty block would have no place of its own; its label then means the next block, which is right
      // here.
      continue;
    }
    if (!block.falls) continue;
    if (block.end >= function.code.size()) {
      // Running off the end of a function returns.
      ptx::Instruction ret = last;
      ret.op = ptx::Opcode::ret;
      ret.mods = {};
      ret.guard = {};
      ret.operand_count = 0;
      code.push_back(ret);
      continue;
    }
    const uint32_t fall = graph.block_at[block.end];
    if (fall == next) continue;
    ptx::Instruction jump = last;
    jump.op = ptx::Opcode::bra;
    jump.mods = {};
    jump.guard = {};
    jump.first_operand = static_cast<uint32_t>(function.operands.size());
    jump.operand_count = 1;
    function.operands.push_back(ptx::Operand{.kind = ptx::Operand::Kind::Label,
                                             .index = static_cast<uint32_t>(function.label_target.size())});
    function.label_target.push_back(block.end);
    code.push_back(jump);
  }

  for (uint32_t& target : function.label_target) {
    if (target == ptx::kNone) continue;
    const uint32_t block = target < function.code.size() ? graph.block_at[target] : kNo;
    target = block != kNo && new_start[block] != kNo ? new_start[block] : ptx::kNone;
  }
  function.code = std::move(code);
  return {};
}

}  // namespace sluice::program
