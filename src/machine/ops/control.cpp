// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Control flow: branches, calls, returns, exit, trap, nanosleep, and what only tunes (pmevent, setmaxnreg's
// pool). PTX ISA, "Control Flow Instructions" and "Miscellaneous Instructions".
#include <bit>
#include <utility>

#include "machine/bind.hpp"
#include "machine/ops/system_call.hpp"
#include "machine/state.hpp"
#include "machine/units/emit.hpp"

namespace sluice::machine {
namespace {

using Kind = ptx::Operand::Kind;
using ptx::Opcode;
using ptx::ScalarType;

// --- branches
// ---------------------------------------------------------------------------------------------------------

/// A backward jump closes a round of a loop. A round that only looked at what others change lets them run.
Step close_round(Warp& w, uint32_t from) {
  if (w.polled && !w.acted) return w.worker().close_idle_round(w, from);
  if (w.passed && !w.acted) return w.worker().close_passed_round(w, from);
  if (w.acted) w.worker().note_progress();
  w.acted = false;
  w.passed = false;
  w.polled = false;
  return Step::Jumped;
}

Step branch(Warp& w, const Op& op, uint32_t lanes) {
  const auto target = static_cast<uint32_t>(op.imm);
  if (lanes != w.active) return w.worker().diverge(w, lanes, target);
  const uint32_t from = std::exchange(w.pc, target);
  return target <= from ? close_round(w, from) : Step::Jumped;
}

Result<Op> bind_branch(Binder& b) {
  const ptx::Operand& label = b.operand(0);
  if (label.kind != Kind::Label) return b.unsupported("a branch to something else than a label");
  const uint32_t target = b.function().label_target[label.index];
  if (target == ptx::kNone) return b.unsupported("a branch to a label outside the function's code");
  Op op = b.op(branch);
  op.imm = target;
  return op;
}

struct IndexedTargets {
  std::vector<uint32_t> targets;
};

Step branch_indexed(Warp& w, const Op& op, uint32_t lanes) {
  const auto& targets = static_cast<const IndexedTargets*>(op.extra)->targets;
  const uint32_t* index = w.u32(op.a);
  const auto first = static_cast<uint32_t>(std::countr_zero(lanes));
  if (index[first] >= targets.size()) {
    return w.fault(FaultKind::IllegalInstruction, "the index of brx.idx is outside its table", first);
  }
  uint32_t same = 0;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    if (index[lane] == index[first]) same |= 1u << lane;
  }
  const uint32_t target = targets[index[first]];
  if (same == w.active) {
    const uint32_t from = std::exchange(w.pc, target);
    return target <= from ? close_round(w, from) : Step::Jumped;
  }
  // One target at a time: the rest comes to this instruction again.
  Split& split = w.splits[w.current];
  Split other = split;
  split.pc = w.pc;
  split.lanes = w.active & ~same;
  other.pc = target;
  other.lanes = same;
  if (lanes != w.active && (split.lanes & lanes) == 0) split.pc = w.pc + 1;
  w.splits.push_back(other);
  return Step::Resplit;
}

Result<Op> bind_branch_indexed(Binder& b) {
  Result<Location> index = b.source(0, ScalarType::u32);
  if (!index) return index.error();
  IndexedTargets targets;
  for (uint32_t i = 1; i < b.count(); ++i) {
    if (b.operand(i).kind != Kind::BranchTable) continue;
    for (const uint32_t label : b.function().source->branch_tables[b.operand(i).index].labels) {
      targets.targets.push_back(b.function().label_target[label]);
    }
  }
  Op op = b.op(branch_indexed);
  op.a = *index;
  op.extra = b.extra(std::move(targets));
  return op;
}

// --- calls
// ------------------------------------------------------------------------------------------------------------

/// Moves bytes between the caller's `.param` variables (or registers) and the callee's.
struct Transfer {
  uint32_t from = 0;  ///< offset in the giving frame's local memory
  uint32_t to = 0;    ///< offset in the receiving frame's local memory
  uint32_t bytes = 0;
};

struct CallSite {
  uint32_t function = 0;  ///< index into Kernel::functions
  std::vector<Transfer> arguments;
  std::vector<Transfer> results;
};

struct CallSites {
  CallSite direct;
  bool indirect = false;
  std::vector<std::pair<uint64_t, CallSite>> by_address;  ///< for calls through a register
};

void transfer(Warp& w, uint32_t lanes, uint32_t from_base, uint32_t to_base,
              const std::vector<Transfer>& list) {
  AccessWatch* const watch = w.worker().watch();
  for (const Transfer& t : list) {
    for (uint32_t m = lanes; m != 0; m &= m - 1) {
      uint8_t* const local = w.local_of(static_cast<uint32_t>(std::countr_zero(m)));
      std::memmove(local + to_base + t.to, local + from_base + t.from, t.bytes);
      if (watch != nullptr) watch->moved(local + to_base + t.to, local + from_base + t.from, t.bytes);
    }
  }
}

Step call_site(Warp& w, const CallSite& site, uint32_t lanes) {
  const FrameNode& from = w.frames[w.frame_node];
  const Kernel& kernel = w.worker().kernel();
  const uint32_t from_base = from.local_base;
  const uint32_t to_base = from_base + kernel.functions[from.function]->local_bytes;
  if (to_base + kernel.functions[site.function]->local_bytes <= w.local_bytes) {
    transfer(w, lanes, from_base, to_base, site.arguments);
  }
  return w.worker().call(w, lanes, site.function);
}

Step call(Warp& w, const Op& op, uint32_t lanes) {
  const auto& sites = *static_cast<const CallSites*>(op.extra);
  if (!sites.indirect) return call_site(w, sites.direct, lanes);

  // Lanes with the target of the first lane go now, the rest comes to this instruction again.
  const uint64_t* target = w.u64(op.a);
  const auto first = static_cast<uint32_t>(std::countr_zero(lanes));
  for (const auto& [address, site] : sites.by_address) {
    if (address != target[first]) continue;
    uint32_t same = 0;
    for (uint32_t m = lanes; m != 0; m &= m - 1) {
      const auto lane = static_cast<uint32_t>(std::countr_zero(m));
      if (target[lane] == address) same |= 1u << lane;
    }
    if (same == lanes) return call_site(w, site, lanes);
    Split rest = w.splits[w.current];
    rest.pc = w.pc;
    rest.lanes = w.active & ~same;
    w.splits.push_back(rest);
    w.splits[w.current].lanes = same;
    w.active = same;
    return call_site(w, site, same);
  }
  return w.fault(FaultKind::IllegalInstruction,
                 "a call through a pointer that is not a function of this kernel", first, target[first]);
}

/// After the callee has returned: its results come over. The instruction behind every call.
Result<CallSite> make_site(Binder& b, uint32_t module_function) {
  CallSite site;
  Result<uint32_t> index = b.symbols().function_index(module_function);
  if (!index) return b.unsupported(index.error().message);
  site.function = *index;
  const ptx::Function& callee = b.function().module->functions[module_function];
  const auto results = b.parts(b.operand(0));
  const auto arguments = b.parts(b.operand(2));
  if (results.size() != callee.results.size() || arguments.size() != callee.params.size()) {
    return b.unsupported("a call whose number of arguments differs from the function's");
  }
  // The callee's frame is laid out by the same rule in every kernel.
  program::Function layout;
  layout.module = b.function().module;
  layout.source = &callee;
  program::place_variables(layout);
  const auto offset_here = [&](const ptx::Operand& o) {
    return b.function().variable_offset[o.index] + static_cast<uint32_t>(o.value);
  };
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (callee.params[i].is_reg || arguments[i].kind != Kind::Variable) {
      return b.unsupported("a call with arguments in registers");
    }
    const uint32_t variable = callee.params[i].index;
    site.arguments.push_back(Transfer{offset_here(arguments[i]), layout.variable_offset[variable],
                                      static_cast<uint32_t>(callee.variables[variable].size)});
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (callee.results[i].is_reg || results[i].kind != Kind::Variable) {
      return b.unsupported("a call with results in registers");
    }
    const uint32_t variable = callee.results[i].index;
    site.results.push_back(Transfer{layout.variable_offset[variable], offset_here(results[i]),
                                    static_cast<uint32_t>(callee.variables[variable].size)});
  }
  return site;
}

Result<Op> bind_call(Binder& b) {
  const ptx::Operand& target = b.operand(1);
  CallSites sites;
  Op op = b.op(call);
  if (target.kind == Kind::Function) {
    const std::string& name = b.function().module->functions[target.index].name;
    if (is_system_call(name)) return bind_system_call(b, name);
    Result<CallSite> site = make_site(b, target.index);
    if (!site) return site.error();
    sites.direct = std::move(*site);
  } else {
    sites.indirect = true;
    Result<Location> address = b.source(target, ScalarType::b64);
    if (!address) return address.error();
    op.a = *address;
    // Any function whose address the module takes may be meant; the call's own list narrows it.
    std::vector<uint32_t> candidates;
    for (uint32_t i = 3; i < b.count(); ++i) {
      if (b.operand(i).kind == Kind::CallTargets) {
        candidates = b.function().source->call_targets[b.operand(i).index].functions;
      }
    }
    if (candidates.empty()) {
      for (uint32_t f = 0; f < b.function().module->functions.size(); ++f) {
        const ptx::Function& callee = b.function().module->functions[f];
        const bool fits = callee.is_defined && !callee.is_entry &&
                          callee.results.size() == b.parts(b.operand(0)).size() &&
                          callee.params.size() == b.parts(b.operand(2)).size();
        if (fits && b.symbols().function_index(f)) candidates.push_back(f);
      }
    }
    for (const uint32_t f : candidates) {
      Result<CallSite> site = make_site(b, f);
      if (!site) return site.error();
      sites.by_address.emplace_back(b.symbols().function_address(f), std::move(*site));
    }
  }
  op.extra = b.extra(std::move(sites));
  return op;
}

/// Results of the call come over before the frame is left. The call site is found through the return place.
Step leave_function(Warp& w, const Op&, uint32_t lanes) {
  if (w.frame_node != 0) {
    const FrameNode& node = w.frames[w.frame_node];
    const FrameNode& parent = w.frames[node.parent];
    const BoundFunction& caller = *w.worker().kernel().functions[parent.function];
    const auto& sites = *static_cast<const CallSites*>(caller.code[node.return_pc - 1].extra);
    const CallSite* site = &sites.direct;
    if (sites.indirect) {
      for (const auto& [address, candidate] : sites.by_address) {
        if (candidate.function == node.function) site = &candidate;
      }
    }
    transfer(w, lanes, node.local_base, parent.local_base, site->results);
  }
  return w.worker().leave(w, lanes);
}

Result<Op> bind_ret(Binder& b) {
  return b.op(leave_function);
}

Step exit_kernel(Warp& w, const Op&, uint32_t lanes) {
  return w.worker().exit(w, lanes);
}
Result<Op> bind_exit(Binder& b) {
  return b.op(exit_kernel);
}

// --- ends
// -------------------------------------------------------------------------------------------------------------

Step trap(Warp& w, const Op&, uint32_t lanes) {
  return w.fault(FaultKind::Trap, "trap", static_cast<uint32_t>(std::countr_zero(lanes)));
}
Result<Op> bind_trap(Binder& b) {
  return b.op(trap);
}

Step breakpoint(Warp& w, const Op&, uint32_t lanes) {
  return w.fault(FaultKind::Trap, "brkpt without a debugger", static_cast<uint32_t>(std::countr_zero(lanes)));
}
Result<Op> bind_breakpoint(Binder& b) {
  return b.op(breakpoint);
}

// --- time
// -------------------------------------------------------------------------------------------------------------

Step nanosleep(Warp& w, const Op& op, uint32_t lanes) {
  const uint32_t* wanted = w.u32(op.a);
  uint32_t longest = 0;
  for (uint32_t m = lanes; m != 0; m &= m - 1) longest = std::max(longest, wanted[std::countr_zero(m)]);
  w.polled = true;
  w.block_until(Wait::Sleep, 0, 0, w.worker().clock_ns() + std::min<uint32_t>(longest, 1'000'000));
  w.splits[w.current].advance = true;
  return Step::Parked;
}

Result<Op> bind_nanosleep(Binder& b) {
  Result<Location> time = b.source(0, ScalarType::u32);
  if (!time) return time.error();
  Op op = b.op(nanosleep);
  op.a = *time;
  return op;
}

Step nothing(Warp&, const Op&, uint32_t) {
  return Step::Next;
}
Result<Op> bind_nothing(Binder& b) {
  return b.op(nothing);
}

// --- registers
// ----------------------------------------------------------------------------------------------------------

/// The register count is unknown, so setmaxnreg has no effect, as for a kernel without launch bounds.
void tell_no_budget(Warp& w) {
  event::BrokenRule rule;
  rule.name = "register-budget";
  rule.is_warning = true;
  rule.headline = "setmaxnreg has no effect: nothing bounds the registers of this kernel";
  rule.label = "has no effect";
  rule.why = "the assembler drops setmaxnreg in a kernel whose register count at entry it does not know";
  rule.help =
      "give the kernel launch bounds (`__launch_bounds__(threads, ctas)`) or a maximum register count";
  emit_broken_rule(w, w.active, rule);
}

/// setmaxnreg: the pool is what the CTA's registers at launch amount to; `dec` gives to it, `inc` waits for
/// it. All warps of a warpgroup execute it; each warp moves its own share.
Step set_registers(Warp& w, const Op& op, uint32_t) {
  if (const Step s = w.rendezvous(kAllLanes); s != Step::Next) return s;
  if (w.register_budget == 0) {
    tell_no_budget(w);
    return Step::Next;
  }
  const auto wanted = static_cast<uint32_t>(op.imm);
  Cta& cta = *w.cta;
  w.acted = true;
  if (op.small != 0) {  // inc
    if (wanted <= w.register_budget) return Step::Next;
    const uint32_t more = (wanted - w.register_budget) * kLanes;
    if (more > cta.register_pool) return w.block(Wait::Registers, wanted);
    cta.register_pool -= more;
  } else {
    if (wanted >= w.register_budget) return Step::Next;
    cta.register_pool += (w.register_budget - wanted) * kLanes;
    w.worker().wake_all(cta, Wait::Registers);
  }
  w.register_budget = wanted;
  if (event::Sink* const sink = listener_for(w.worker(), event::Kind::RegisterBudget)) {
    event::Event e = warp_event(w, event::Kind::RegisterBudget, w.active);
    e.value = wanted;
    sink->receive(e);
  }
  return Step::Next;
}

Result<Op> bind_set_registers(Binder& b) {
  const auto count = static_cast<uint32_t>(b.immediate(b.operand(0), ScalarType::u32));
  if (count < 24 || count > 256 || count % 8 != 0)
    return b.unsupported("a register count outside 24..256 in steps of 8");
  Op op = b.op(set_registers);
  op.imm = count;
  op.small = b.has(ptx::Mod::inc) ? 1 : 0;
  return op;
}

/// griddepcontrol: launches run one after the other, so what the kernel depends on has ended.
Step grid_dependency(Warp& w, const Op& op, uint32_t lanes) {
  w.acted = true;
  event::Sink* const sink = listener_for(w.worker(), event::Kind::DependencyWait);
  if (sink != nullptr && op.small != 0) sink->receive(warp_event(w, event::Kind::DependencyWait, lanes));
  return Step::Next;
}
Result<Op> bind_grid_dependency(Binder& b) {
  Op op = b.op(grid_dependency);
  op.small = b.has(ptx::Mod::wait) ? 1 : 0;
  return op;
}

constexpr BindRow kRows[] = {
    {Opcode::bra, bind_branch},
    {Opcode::brx_idx, bind_branch_indexed},
    {Opcode::call, bind_call},
    {Opcode::ret, bind_ret},
    {Opcode::exit, bind_exit},
    {Opcode::trap, bind_trap},
    {Opcode::brkpt, bind_breakpoint},
    {Opcode::nanosleep, bind_nanosleep},
    {Opcode::pmevent, bind_nothing},
    {Opcode::setmaxnreg, bind_set_registers},
    {Opcode::griddepcontrol, bind_grid_dependency},
};

}  // namespace

std::span<const BindRow> control_rows() {
  return kRows;
}

}  // namespace sluice::machine
