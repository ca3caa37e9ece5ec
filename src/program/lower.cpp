// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The list of passes, and what they share: what an instruction reads and writes, how it ends a block, the
// dump.
#include "program/program.hpp"

#include <fmt/format.h>

namespace sluice::program {

using ptx::Opcode;
using Kind = ptx::Operand::Kind;

RegisterClass class_of(ptx::ScalarType type) {
  if (type == ptx::ScalarType::pred) return RegisterClass::Predicate;
  const uint32_t bytes = ptx::size_of(type);
  return bytes <= 4 ? RegisterClass::Word : bytes <= 8 ? RegisterClass::Double : RegisterClass::Quad;
}

namespace {

/// How many leading operands an instruction writes.
uint32_t destinations(const ptx::Instruction& instruction) {
  switch (instruction.op) {
    case Opcode::st:
    case Opcode::st_async:
    case Opcode::st_bulk:
    case Opcode::red:
    case Opcode::red_async:
    case Opcode::multimem_st:
    case Opcode::multimem_red:
    case Opcode::multimem_cp_async_bulk:
    case Opcode::multimem_cp_reduce_async_bulk:
    case Opcode::prefetch:
    case Opcode::prefetchu:
    case Opcode::applypriority:
    case Opcode::discard:
    case Opcode::cp_async:
    case Opcode::cp_async_commit_group:
    case Opcode::cp_async_wait_group:
    case Opcode::cp_async_wait_all:
    case Opcode::cp_async_mbarrier_arrive:
    case Opcode::cp_async_bulk:
    case Opcode::cp_reduce_async_bulk:
    case Opcode::cp_async_bulk_prefetch:
    case Opcode::cp_async_bulk_tensor:
    case Opcode::cp_reduce_async_bulk_tensor:
    case Opcode::cp_async_bulk_prefetch_tensor:
    case Opcode::cp_async_bulk_commit_group:
    case Opcode::cp_async_bulk_wait_group:
    case Opcode::tensormap_replace:
    case Opcode::tensormap_cp_fenceproxy:
    case Opcode::bar_sync:
    case Opcode::bar_arrive:
    case Opcode::bar_warp_sync:
    case Opcode::barrier_sync:
    case Opcode::barrier_arrive:
    case Opcode::barrier_cluster_arrive:
    case Opcode::barrier_cluster_wait:
    case Opcode::membar:
    case Opcode::fence:
    case Opcode::fence_proxy:
    case Opcode::fence_mbarrier_init:
    case Opcode::griddepcontrol:
    case Opcode::mbarrier_init:
    case Opcode::mbarrier_inval:
    case Opcode::mbarrier_expect_tx:
    case Opcode::mbarrier_complete_tx:
    case Opcode::stmatrix:
    case Opcode::wmma_store:
    case Opcode::wgmma_fence:
    case Opcode::wgmma_commit_group:
    case Opcode::wgmma_wait_group:
    case Opcode::bra:
    case Opcode::brx_idx:
    case Opcode::ret:
    case Opcode::exit:
    case Opcode::trap:
    case Opcode::brkpt:
    case Opcode::nanosleep:
    case Opcode::pmevent:
    case Opcode::setmaxnreg:
    case Opcode::stackrestore:
    case Opcode::clusterlaunchcontrol_try_cancel:
      return 0;
    case Opcode::mbarrier_arrive:
    case Opcode::mbarrier_arrive_drop:
      // The result may be left out or be `_`; an address comes first then.
      return 1;
    default:
      return 1;
  }
}

bool accumulates(Opcode op) {
  return op == Opcode::wgmma_mma_async || op == Opcode::wgmma_mma_async_sp;
}

void collect(const Function& function, const ptx::Operand& operand, bool reads, bool writes,
             std::vector<Access>& out) {
  switch (operand.kind) {
    case Kind::Register:
      out.push_back(Access{operand.index, reads, writes});
      return;
    case Kind::Vector:
    case Kind::Pair:
      for (const ptx::Operand& part : function.parts_of(operand)) collect(function, part, reads, writes, out);
      return;
    case Kind::Address:
      // What an address is made of is read, whatever happens at the address.
      for (const ptx::Operand& part : function.parts_of(operand)) collect(function, part, true, false, out);
      return;
    default:
      return;
  }
}

}  // namespace

void collect_accesses(const Function& function, const ptx::Instruction& instruction,
                      std::vector<Access>& out) {
  if (instruction.guard.reg >= 0)
    out.push_back(Access{static_cast<uint32_t>(instruction.guard.reg), true, false});
  const uint32_t written = destinations(instruction);
  uint32_t i = 0;
  for (const ptx::Operand& operand : function.operands_of(instruction)) {
    const bool writes = i++ < written;
    collect(function, operand, !writes || accumulates(instruction.op), writes, out);
  }
}

Flow flow_of(const ptx::Instruction& instruction) {
  switch (instruction.op) {
    case Opcode::bra:
      return Flow::Branches;
    case Opcode::brx_idx:
      return Flow::Indexed;
    case Opcode::ret:
    case Opcode::exit:
      return Flow::Ends;
    // A trap ends the launch, not only the thread; what follows it is still a block of its own.
    case Opcode::trap:
      return Flow::Ends;
    default:
      return Flow::Falls;
  }
}

Result<Function> lower(const ptx::Module& module, uint32_t index, const Observer& observer) {
  const ptx::Function& source = module.functions[index];
  Function function;
  function.module = &module;
  function.source = &source;
  function.module_index = index;
  function.code = source.code;
  function.operands = source.operands;
  function.regs = source.regs;
  for (const ptx::Label& label : source.labels) function.label_target.push_back(label.target);
  const auto done = [&](std::string_view pass) {
    if (observer) observer(pass, function);
  };
  done("import");
  expand_operands(function);
  done("expand_operands");
  if (Result<void> laid_out = layout_blocks(function); !laid_out) return std::move(laid_out).error();
  done("layout_blocks");
  free_stack(function);
  done("free_stack");
  place_variables(function);
  done("place_variables");
  place_registers(function);
  done("place_registers");
  return function;
}

namespace {

std::string dump_operand(const Function& function, const ptx::Operand& o) {
  const auto list = [&](std::string_view open, std::string_view close) {
    std::string text(open);
    bool first = true;
    for (const ptx::Operand& part : function.parts_of(o)) {
      if (!first) text += ", ";
      first = false;
      text += dump_operand(function, part);
    }
    return text + std::string(close);
  };
  switch (o.kind) {
    case Kind::Sink:
      return "_";
    case Kind::Register: {
      std::string name = fmt::format("{}{}", o.negate ? "!" : "", function.regs[o.index].name);
      if (o.index < function.location.size()) name += fmt::format("@{}", function.location[o.index]);
      return name;
    }
    case Kind::ImmInt:
      return fmt::format("{}", o.value);
    case Kind::ImmF32:
      return fmt::format("0f{:08X}", static_cast<uint32_t>(o.value));
    case Kind::ImmF64:
      return fmt::format("0d{:016X}", static_cast<uint64_t>(o.value));
    case Kind::Special:
      return std::string(ptx::spelling(static_cast<ptx::SpecialReg>(o.index)));
    case Kind::Variable:
      return (o.is_module ? function.module->variables[o.index] : function.source->variables[o.index]).name +
             (o.value != 0 ? fmt::format("+{}", o.value) : "");
    case Kind::Function:
      return function.module->functions[o.index].name;
    case Kind::Label:
      return fmt::format("->{}", function.label_target[o.index]);
    case Kind::BranchTable:
      return function.source->branch_tables[o.index].name;
    case Kind::CallTargets:
      return function.source->call_targets[o.index].name;
    case Kind::Prototype:
      return function.source->prototypes[o.index].name;
    case Kind::Address:
      return list("[", o.value != 0 ? fmt::format(" {:+}]", o.value) : "]");
    case Kind::Vector:
      return list("{", "}");
    case Kind::Pair:
      return list("", "");
  }
  return "?";
}

}  // namespace

std::string dump(const Function& function) {
  std::string text = fmt::format("{}: frame {} bytes, local {} bytes\n", function.source->name,
                                 function.frame_bytes, function.local_bytes);
  for (size_t i = 0; i < function.code.size(); ++i) {
    const ptx::Instruction& in = function.code[i];
    text += fmt::format("{:5}  ", i);
    if (in.guard.reg >= 0)
      text += fmt::format("@{}{} ", in.guard.negate ? "!" : "", function.regs[in.guard.reg].name);
    text += ptx::spelling(in.op);
    for (const ptx::Mod mod : in.mods.all()) text += fmt::format(".{}", ptx::spelling(mod));
    bool first = true;
    for (const ptx::Operand& operand : function.operands_of(in)) {
      text += first ? " " : ", ";
      first = false;
      text += dump_operand(function, operand);
    }
    text += "\n";
  }
  return text;
}

}  // namespace sluice::program
