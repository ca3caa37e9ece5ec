// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Liveness, then linear scan over the laid-out code: registers that are never live together share a place,
// which keeps a warp's frame small (PTX has thousands of virtual registers). Lanes own their columns of a
// vector and follow the control flow graph one by one, so liveness is that of a single thread.
//
// Registers of wgmma are written and read while the thread goes on; they stay live until the next
// wgmma.wait_group. A destination never shares a place with a source of the same instruction.
#include <algorithm>

#include "program/program.hpp"

namespace sluice::program {
namespace {

using ptx::Opcode;

class BitSet {
 public:
  explicit BitSet(size_t bits) : words_((bits + 63) / 64) {}
  void set(size_t i) { words_[i / 64] |= uint64_t{1} << (i % 64); }
  void reset(size_t i) { words_[i / 64] &= ~(uint64_t{1} << (i % 64)); }
  bool test(size_t i) const { return (words_[i / 64] >> (i % 64)) & 1; }
  /// this |= (other & ~without); true if something was added.
  bool merge(const BitSet& other, const BitSet& without) {
    uint64_t added = 0;
    for (size_t i = 0; i < words_.size(); ++i) {
      const uint64_t before = words_[i];
      words_[i] |= other.words_[i] & ~without.words_[i];
      added |= words_[i] ^ before;
    }
    return added != 0;
  }
  void merge(const BitSet& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }
  template <class F>
  void for_each(F&& f) const {
    for (size_t i = 0; i < words_.size(); ++i) {
      for (uint64_t w = words_[i]; w != 0; w &= w - 1) f(i * 64 + static_cast<size_t>(__builtin_ctzll(w)));
    }
  }

 private:
  std::vector<uint64_t> words_;
};

struct Interval {
  uint32_t reg = 0;
  uint32_t first = 0xffffffffu;
  uint32_t last = 0;
  void cover(uint32_t at) {
    first = std::min(first, at);
    last = std::max(last, at);
  }
};

struct Block {
  uint32_t begin = 0;
  uint32_t end = 0;
  std::vector<uint32_t> successors;
};

std::vector<Block> blocks_of(const Function& function) {
  const auto size = static_cast<uint32_t>(function.code.size());
  std::vector<bool> leader(size + 1, false);
  leader[0] = true;
  for (const uint32_t target : function.label_target) {
    if (target != ptx::kNone) leader[target] = true;
  }
  for (uint32_t i = 0; i < size; ++i) {
    if (flow_of(function.code[i]) != Flow::Falls) leader[i + 1] = true;
  }
  std::vector<Block> blocks;
  std::vector<uint32_t> at(size + 1, 0xffffffffu);
  for (uint32_t i = 0; i < size;) {
    uint32_t end = i + 1;
    while (end < size && !leader[end]) ++end;
    at[i] = static_cast<uint32_t>(blocks.size());
    blocks.push_back(Block{i, end, {}});
    i = end;
  }
  for (Block& block : blocks) {
    const ptx::Instruction& last = function.code[block.end - 1];
    const auto add = [&](uint32_t label) {
      const uint32_t target = function.label_target[label];
      if (target != ptx::kNone && target < size) block.successors.push_back(at[target]);
    };
    const Flow flow = flow_of(last);
    if (flow == Flow::Branches) add(function.operands_of(last)[0].index);
    if (flow == Flow::Indexed) {
      for (const ptx::Operand& operand : function.operands_of(last)) {
        if (operand.kind != ptx::Operand::Kind::BranchTable) continue;
        for (const uint32_t label : function.source->branch_tables[operand.index].labels) add(label);
      }
    }
    if ((flow == Flow::Falls || last.guard.reg >= 0) && block.end < size)
      block.successors.push_back(at[block.end]);
  }
  return blocks;
}

}  // namespace

void place_registers(Function& function) {
  const size_t registers = function.regs.size();
  const std::vector<Block> blocks = blocks_of(function);

  // Registers that operations in flight use: a wait for wgmma reads them all.
  std::vector<Access> accesses;
  BitSet in_flight(registers);
  for (const ptx::Instruction& instruction : function.code) {
    if (instruction.op != Opcode::wgmma_mma_async && instruction.op != Opcode::wgmma_mma_async_sp) continue;
    accesses.clear();
    collect_accesses(function, instruction, accesses);
    for (const Access& access : accesses) in_flight.set(access.reg);
  }

  // Upward-exposed uses and unconditional definitions of each block.
  std::vector<BitSet> uses, kills, live_in;
  for (const Block& block : blocks) {
    BitSet use(registers), kill(registers);
    for (uint32_t i = block.begin; i < block.end; ++i) {
      const ptx::Instruction& instruction = function.code[i];
      accesses.clear();
      collect_accesses(function, instruction, accesses);
      if (instruction.op == Opcode::wgmma_wait_group) use.merge(in_flight, kill);
      for (const Access& access : accesses) {
        if (access.reads && !kill.test(access.reg)) use.set(access.reg);
      }
      if (instruction.guard.reg >= 0) continue;
      for (const Access& access : accesses) {
        if (access.writes) kill.set(access.reg);
      }
    }
    live_in.push_back(use);
    uses.push_back(std::move(use));
    kills.push_back(std::move(kill));
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t b = blocks.size(); b-- > 0;) {
      for (const uint32_t s : blocks[b].successors) changed |= live_in[b].merge(live_in[s], kills[b]);
    }
  }

  // Intervals in code order.
  std::vector<Interval> intervals(registers);
  for (uint32_t r = 0; r < registers; ++r) intervals[r].reg = r;
  for (size_t b = 0; b < blocks.size(); ++b) {
    live_in[b].for_each([&](size_t r) { intervals[r].cover(blocks[b].begin); });
    for (const uint32_t s : blocks[b].successors) {
      live_in[s].for_each([&](size_t r) { intervals[r].cover(blocks[b].end - 1); });
    }
    for (uint32_t i = blocks[b].begin; i < blocks[b].end; ++i) {
      accesses.clear();
      collect_accesses(function, function.code[i], accesses);
      for (const Access& access : accesses) intervals[access.reg].cover(i);
      if (function.code[i].op == Opcode::wgmma_wait_group) {
        in_flight.for_each([&](size_t r) {
          if (intervals[r].first <= i) intervals[r].cover(i);
        });
      }
    }
  }

  // Linear scan, one class at a time. Predicates 0 and 1 are taken (always true, sink).
  function.location.assign(registers, 0);
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) { return a.first < b.first; });
  uint32_t counts[4] = {2, 0, 0, 0};
  for (const RegisterClass wanted :
       {RegisterClass::Predicate, RegisterClass::Word, RegisterClass::Double, RegisterClass::Quad}) {
    uint32_t& count = counts[static_cast<size_t>(wanted)];
    std::vector<std::pair<uint32_t, uint32_t>> active;  // heap by (last, place)
    std::vector<uint32_t> free;
    const auto later = [](const auto& a, const auto& b) { return a > b; };
    for (const Interval& interval : intervals) {
      if (interval.first == 0xffffffffu) continue;  // never used
      if (class_of(function.regs[interval.reg].type) != wanted) continue;
      while (!active.empty() && active.front().first < interval.first) {
        std::pop_heap(active.begin(), active.end(), later);
        free.push_back(active.back().second);
        active.pop_back();
      }
      uint32_t place;
      if (free.empty()) {
        place = count++;
      } else {
        place = free.back();
        free.pop_back();
      }
      function.location[interval.reg] = place;
      active.emplace_back(interval.last, place);
      std::push_heap(active.begin(), active.end(), later);
    }
  }

  // From places to bytes: predicates, scratch, then words, doubles, quads.
  const auto round = [](uint32_t bytes) { return (bytes + 127) / 128 * 128; };
  const uint32_t scratch = round(counts[0] * 4);
  const uint32_t words = scratch + 512;
  const uint32_t doubles = words + counts[1] * 128;
  const uint32_t quads = doubles + counts[2] * 256;
  function.sink_location = scratch;
  function.frame_bytes = quads + counts[3] * 512;
  for (const Interval& interval : intervals) {
    uint32_t& place = function.location[interval.reg];
    switch (class_of(function.regs[interval.reg].type)) {
      case RegisterClass::Predicate:
        break;
      case RegisterClass::Word:
        place = words + place * 128;
        break;
      case RegisterClass::Double:
        place = doubles + place * 256;
        break;
      case RegisterClass::Quad:
        place = quads + place * 512;
        break;
    }
    if (interval.first == 0xffffffffu)
      place = class_of(function.regs[interval.reg].type) == RegisterClass::Predicate ? 1 : scratch;
  }
}

}  // namespace sluice::program
