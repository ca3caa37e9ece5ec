// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The control flow graph of a function's flat code: what block order and liveness both work on.
#pragma once

#include <cstdint>
#include <vector>

#include "program/program.hpp"

namespace sluice::program {

constexpr uint32_t kNoBlock = 0xffffffffu;

/// Instructions [begin, end) of Function::code; only the last one may go elsewhere.
struct Block {
  uint32_t begin = 0;
  uint32_t end = 0;
  std::vector<uint32_t> successors;  ///< block numbers, the fall-through last
  bool falls = false;                ///< whether the next instruction may follow
};

struct ControlFlow {
  std::vector<Block> blocks;       ///< in code order; the first one is the entry
  std::vector<uint32_t> block_at;  ///< by instruction: the block that begins there, else kNoBlock
};

ControlFlow control_flow_of(const Function& function);

/// Reverse post-order from the entry; blocks that nothing reaches are left out. `successors` may name those
/// of each block in another order than the graph does: what is visited first comes out last.
std::vector<uint32_t> reverse_post_order(const std::vector<std::vector<uint32_t>>& successors);

/// The natural loops of a graph, one per header.
struct Loop {
  uint32_t header = 0;
  std::vector<bool> body;  ///< by block, the header included
};

/// `order` is a reverse post-order of the blocks.
std::vector<Loop> natural_loops(const std::vector<Block>& blocks, const std::vector<uint32_t>& order);

}  // namespace sluice::program
