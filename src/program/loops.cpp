// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Natural loops: dominators by the iteration of Cooper, Harvey and Kennedy ("A Simple, Fast Dominance
// Algorithm"), then the body of each back edge.
#include <algorithm>

#include "program/blocks.hpp"

namespace sluice::program {
namespace {

/// The dominator tree over the blocks that the entry reaches.
class Dominators {
 public:
  Dominators(const std::vector<uint32_t>& order, const std::vector<std::vector<uint32_t>>& predecessors)
      : number_(predecessors.size(), kNoBlock), parent_(predecessors.size(), kNoBlock) {
    for (uint32_t i = 0; i < order.size(); ++i) number_[order[i]] = i;
    parent_[order[0]] = order[0];
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = 1; i < order.size(); ++i) {
        const uint32_t nearest = meet_of(predecessors[order[i]]);
        changed |= nearest != parent_[order[i]];
        parent_[order[i]] = nearest;
      }
    }
  }

  /// Whether every path to `b` goes through `a`.
  bool dominates(uint32_t a, uint32_t b) const {
    while (number_[b] > number_[a]) b = parent_[b];
    return a == b;
  }

 private:
  uint32_t meet_of(const std::vector<uint32_t>& blocks) const {
    uint32_t meet = kNoBlock;
    for (const uint32_t block : blocks) {
      if (parent_[block] == kNoBlock) continue;
      meet = meet == kNoBlock ? block : meet_of(meet, block);
    }
    return meet;
  }
  uint32_t meet_of(uint32_t x, uint32_t y) const {
    while (x != y) {
      while (number_[x] > number_[y]) x = parent_[x];
      while (number_[y] > number_[x]) y = parent_[y];
    }
    return x;
  }

  std::vector<uint32_t> number_;  ///< place in the order
  std::vector<uint32_t> parent_;  ///< immediate dominator
};

/// Adds to the loop what reaches `from` without passing its header.
void grow(Loop& loop, uint32_t from, const std::vector<std::vector<uint32_t>>& predecessors) {
  std::vector<uint32_t> work{from};
  while (!work.empty()) {
    const uint32_t block = work.back();
    work.pop_back();
    if (loop.body[block]) continue;
    loop.body[block] = true;
    work.insert(work.end(), predecessors[block].begin(), predecessors[block].end());
  }
}

}  // namespace

std::vector<Loop> natural_loops(const std::vector<Block>& blocks, const std::vector<uint32_t>& order) {
  std::vector<std::vector<uint32_t>> predecessors(blocks.size());
  for (const uint32_t block : order) {
    for (const uint32_t successor : blocks[block].successors) predecessors[successor].push_back(block);
  }
  const Dominators dominators(order, predecessors);

  std::vector<Loop> loops;
  for (const uint32_t block : order) {
    for (const uint32_t header : blocks[block].successors) {
      if (!dominators.dominates(header, block)) continue;
      auto loop = std::find_if(loops.begin(), loops.end(), [&](const Loop& l) { return l.header == header; });
      if (loop == loops.end()) {
        loop = loops.insert(loops.end(), Loop{header, std::vector<bool>(blocks.size(), false)});
        loop->body[header] = true;
      }
      grow(*loop, block, predecessors);
    }
  }
  return loops;
}

}  // namespace sluice::program
