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

#include "program/bit_set.hpp"
#include "program/blocks.hpp"

namespace sluice::program {
namespace {

using ptx::Opcode;

constexpr uint32_t kNever = 0xffffffffu;

struct Interval {
  uint32_t reg = 0;
  uint32_t first = kNever;
  uint32_t last = 0;
  bool is_used() const { return first != kNever; }
  void cover(uint32_t at) {
    first = std::min(first, at);
    last = std::max(last, at);
  }
};

/// Calls `f(access)` for every register that the instruction names.
template <class F>
void for_each_access(const Function& function, const ptx::Instruction& instruction, F&& f) {
  std::vector<Access> accesses;
  accesses.reserve(16);
  collect_accesses(function, instruction, accesses);
  for (const Access& access : accesses) f(access);
}

/// Registers of wgmma in flight: a wait for wgmma reads them all.
BitSet registers_in_flight(const Function& function) {
  BitSet in_flight(function.regs.size());
  for (const ptx::Instruction& instruction : function.code) {
    if (instruction.op != Opcode::wgmma_mma_async && instruction.op != Opcode::wgmma_mma_async_sp) continue;
    for_each_access(function, instruction, [&](const Access& access) { in_flight.set(access.reg); });
  }
  return in_flight;
}

/// By block: the registers that are live where it begins.
std::vector<BitSet> live_at_begin(const Function& function, const std::vector<Block>& blocks,
                                  const BitSet& in_flight) {
  std::vector<BitSet> kills, live;  // unconditional definitions; at first the upward-exposed uses
  for (const Block& block : blocks) {
    BitSet use(function.regs.size()), kill(function.regs.size());
    for (uint32_t i = block.begin; i < block.end; ++i) {
      const ptx::Instruction& instruction = function.code[i];
      if (instruction.op == Opcode::wgmma_wait_group) use.merge(in_flight, kill);
      for_each_access(function, instruction, [&](const Access& access) {
        if (access.reads && !kill.test(access.reg)) use.set(access.reg);
      });
      if (instruction.guard.reg >= 0) continue;
      for_each_access(function, instruction, [&](const Access& access) {
        if (access.writes) kill.set(access.reg);
      });
    }
    live.push_back(std::move(use));
    kills.push_back(std::move(kill));
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t b = blocks.size(); b-- > 0;) {
      for (const uint32_t s : blocks[b].successors) changed |= live[b].merge(live[s], kills[b]);
    }
  }
  return live;
}

/// By register: the stretch of code that it must keep its value in.
std::vector<Interval> intervals_of(const Function& function) {
  const std::vector<Block> blocks = control_flow_of(function).blocks;
  const BitSet in_flight = registers_in_flight(function);
  const std::vector<BitSet> live = live_at_begin(function, blocks, in_flight);
  std::vector<Interval> intervals(function.regs.size());
  for (uint32_t r = 0; r < intervals.size(); ++r) intervals[r].reg = r;
  for (size_t b = 0; b < blocks.size(); ++b) {
    live[b].for_each([&](size_t r) { intervals[r].cover(blocks[b].begin); });
    for (const uint32_t s : blocks[b].successors) {
      live[s].for_each([&](size_t r) { intervals[r].cover(blocks[b].end - 1); });
    }
    for (uint32_t i = blocks[b].begin; i < blocks[b].end; ++i) {
      for_each_access(function, function.code[i],
                      [&](const Access& access) { intervals[access.reg].cover(i); });
      if (function.code[i].op != Opcode::wgmma_wait_group) continue;
      in_flight.for_each([&](size_t r) {
        if (intervals[r].first <= i) intervals[r].cover(i);
      });
    }
  }
  return intervals;
}

/// Linear scan over the intervals of one class, which are sorted by their begin: gives each register a place,
/// counted from `count`, and returns how many places there are then.
uint32_t scan(Function& function, const std::vector<Interval>& intervals, RegisterClass wanted,
              uint32_t count) {
  std::vector<std::pair<uint32_t, uint32_t>> active;  // heap by (last, place)
  std::vector<uint32_t> free;
  const auto later = [](const auto& a, const auto& b) { return a > b; };
  for (const Interval& interval : intervals) {
    if (!interval.is_used() || class_of(function.regs[interval.reg].type) != wanted) continue;
    while (!active.empty() && active.front().first < interval.first) {
      std::pop_heap(active.begin(), active.end(), later);
      free.push_back(active.back().second);
      active.pop_back();
    }
    uint32_t place = count;
    if (free.empty()) {
      ++count;
    } else {
      place = free.back();
      free.pop_back();
    }
    function.location[interval.reg] = place;
    active.emplace_back(interval.last, place);
    std::push_heap(active.begin(), active.end(), later);
  }
  return count;
}

constexpr uint32_t kFixedPredicates = 2;  ///< always true, and the one that takes unwanted results

}  // namespace

void place_registers(Function& function) {
  std::vector<Interval> intervals = intervals_of(function);
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) { return a.first < b.first; });
  function.location.assign(function.regs.size(), 0);
  const uint32_t predicates = scan(function, intervals, RegisterClass::Predicate, kFixedPredicates);
  const uint32_t word_count = scan(function, intervals, RegisterClass::Word, 0);
  const uint32_t double_count = scan(function, intervals, RegisterClass::Double, 0);
  const uint32_t quad_count = scan(function, intervals, RegisterClass::Quad, 0);

  // From places to bytes: predicates, scratch, then words, doubles, quads.
  const uint32_t scratch = (predicates * 4 + 127) / 128 * 128;
  const uint32_t words = scratch + 512;
  const uint32_t doubles = words + word_count * 128;
  const uint32_t quads = doubles + double_count * 256;
  function.sink_location = scratch;
  function.frame_bytes = quads + quad_count * 512;
  for (const Interval& interval : intervals) {
    uint32_t& place = function.location[interval.reg];
    switch (class_of(function.regs[interval.reg].type)) {
      case RegisterClass::Predicate:
        if (!interval.is_used()) place = 1;
        continue;
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
    if (!interval.is_used()) place = scratch;
  }
}

}  // namespace sluice::program
