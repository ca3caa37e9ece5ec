// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Which instructions are watched, and what they tell.
#include "machine/watch.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "machine/state.hpp"
#include "machine/units/emit.hpp"

namespace sluice::machine {
namespace {

using ptx::Opcode;

/// A watched instruction: what runs, and the registers it touches. Registers are told by their number in the
/// function.
struct Watched {
  Op op;
  std::vector<uint64_t> reads, writes;  ///< of a move: sources, destinations
  std::vector<uint64_t> operands;       ///< of a wgmma: accumulators, then registers of A
  uint32_t a_count = 0;
  bool moves = false;
};

void tell(Warp& w, event::Kind kind, uint32_t lanes, const std::vector<uint64_t>& registers,
          uint32_t detail) {
  event::Sink* const sink = listener_for(w.worker(), kind);
  if (sink == nullptr || registers.empty()) return;
  event::Event e = warp_event(w, kind, lanes);
  e.detail = detail;
  e.addresses = registers;
  sink->receive(e);
}

Step watch(Warp& w, const Op& op, uint32_t lanes) {
  const auto& x = *static_cast<const Watched*>(op.extra);
  if (!x.operands.empty()) {
    tell(w, event::Kind::WgmmaRegisters, lanes, x.operands, x.a_count);
  } else if (x.moves) {
    std::vector<uint64_t> all = x.writes;
    all.insert(all.end(), x.reads.begin(), x.reads.end());
    tell(w, event::Kind::RegisterMove, lanes, all, static_cast<uint32_t>(x.writes.size()));
  } else {
    tell(w, event::Kind::RegisterRead, lanes, x.reads, 0);
    tell(w, event::Kind::RegisterWrite, lanes, x.writes, 0);
  }
  return x.op.run(w, x.op, lanes);
}

bool is_product(const ptx::Instruction& in) {
  return in.op == Opcode::wgmma_mma_async || in.op == Opcode::wgmma_mma_async_sp;
}

/// Accumulators of a product, then its registers of A.
std::vector<uint64_t> operands_of(const program::Function& f, const ptx::Instruction& in, uint32_t& a_count) {
  const auto operands = f.operands_of(in);
  std::vector<uint64_t> all;
  for (const ptx::Operand& part : f.parts_of(operands[0])) all.push_back(part.index);
  const size_t accumulators = all.size();
  if (operands[1].kind == ptx::Operand::Kind::Vector) {
    for (const ptx::Operand& part : f.parts_of(operands[1]))
      if (part.kind == ptx::Operand::Kind::Register) all.push_back(part.index);
  }
  a_count = static_cast<uint32_t>(all.size() - accumulators);
  return all;
}

}  // namespace

void make_watched(const BoundFunction& function) {
  if (function.watched_made) return;
  function.watched_made = true;
  const program::Function& f = *function.lowered;
  if (std::none_of(f.code.begin(), f.code.end(), is_product)) return;

  // The registers: those of products, and those that moves lead to.
  std::vector<bool> wanted(f.regs.size(), false);
  uint32_t ignored = 0;
  for (const ptx::Instruction& in : f.code) {
    if (!is_product(in)) continue;
    for (const uint64_t reg : operands_of(f, in, ignored)) wanted[reg] = true;
  }
  std::vector<program::Access> accesses;
  for (bool changed = true; changed;) {
    changed = false;
    for (const ptx::Instruction& in : f.code) {
      if (in.op != Opcode::mov) continue;
      accesses.clear();
      program::collect_accesses(f, in, accesses);
      const auto is_wanted = [&](const program::Access& a) { return wanted[a.reg]; };
      if (std::none_of(accesses.begin(), accesses.end(), is_wanted)) continue;
      for (const program::Access& a : accesses) {
        if (in.guard.reg == static_cast<int32_t>(a.reg)) continue;
        changed |= !wanted[a.reg];
        wanted[a.reg] = true;
      }
    }
  }

  function.watched = function.code;
  for (size_t i = 0; i < f.code.size(); ++i) {
    const ptx::Instruction& in = f.code[i];
    auto watched = std::make_shared<Watched>();
    watched->op = function.code[i];
    watched->moves = in.op == Opcode::mov;
    if (is_product(in)) {
      watched->operands = operands_of(f, in, watched->a_count);
    } else {
      accesses.clear();
      program::collect_accesses(f, in, accesses);
      for (const program::Access& a : accesses) {
        if (!wanted[a.reg]) continue;
        if (a.reads) watched->reads.push_back(a.reg);
        if (a.writes) watched->writes.push_back(a.reg);
      }
      if (watched->reads.empty() && watched->writes.empty()) continue;
    }
    Op& op = function.watched[i];
    op.run = watch;
    op.extra = watched.get();
    function.watched_extras.push_back(std::move(watched));
  }
}

}  // namespace sluice::machine
