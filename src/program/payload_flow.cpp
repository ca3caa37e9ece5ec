// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Roles of instructions, then sets of sources by register up to a fixed point.
#include "program/payload_flow.hpp"

#include "program/bit_set.hpp"

namespace sluice::program {
namespace {

using Kind = ptx::Operand::Kind;
using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;

/// How an instruction uses its operands.
enum class Role : uint8_t {
  Value,       ///< results come from operands
  Load,        ///< results come from memory
  Store,       ///< operands go to memory
  Combine,     ///< operands are combined with memory (red)
  Atomic,      ///< the same, with a result from memory
  AsyncStore,  ///< operands go to memory later; what lands there counts as payload
  Product,     ///< wgmma: accumulators that are not computed
  Collective,  ///< a value from all lanes; the last operand says which
  Reduction,   ///< a barrier with a value: the last operand
  Steers,      ///< control flow, synchronisation, copies: no operand may be payload
};

Role role_of(Opcode op) {
  switch (op) {
    case Opcode::ld:
    case Opcode::ldu:
    case Opcode::ldmatrix:
    case Opcode::wmma_load:
    case Opcode::multimem_ld_reduce:
      return Role::Load;
    case Opcode::st:
    case Opcode::st_bulk:
    case Opcode::stmatrix:
    case Opcode::wmma_store:
    case Opcode::multimem_st:
      return Role::Store;
    case Opcode::red:
    case Opcode::multimem_red:
      return Role::Combine;
    case Opcode::atom:
      return Role::Atomic;
    case Opcode::st_async:
    case Opcode::red_async:
      return Role::AsyncStore;
    case Opcode::wgmma_mma_async:
    case Opcode::wgmma_mma_async_sp:
      return Role::Product;
    case Opcode::shfl_sync:
    case Opcode::vote_sync:
    case Opcode::match_any_sync:
    case Opcode::match_all_sync:
    case Opcode::redux_sync:
      return Role::Collective;
    case Opcode::bar_red:
    case Opcode::barrier_red:
      return Role::Reduction;
    case Opcode::bra:
    case Opcode::brx_idx:
    case Opcode::call:
    case Opcode::ret:
    case Opcode::exit:
    case Opcode::trap:
    case Opcode::brkpt:
    case Opcode::nanosleep:
    case Opcode::setmaxnreg:
    case Opcode::griddepcontrol:
    case Opcode::alloca:
    case Opcode::stackrestore:
    case Opcode::elect_sync:
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
    case Opcode::mbarrier_init:
    case Opcode::mbarrier_inval:
    case Opcode::mbarrier_expect_tx:
    case Opcode::mbarrier_complete_tx:
    case Opcode::mbarrier_arrive:
    case Opcode::mbarrier_arrive_drop:
    case Opcode::mbarrier_test_wait:
    case Opcode::mbarrier_try_wait:
    case Opcode::mbarrier_pending_count:
    case Opcode::clusterlaunchcontrol_try_cancel:
    case Opcode::clusterlaunchcontrol_query_cancel:
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
    case Opcode::multimem_cp_async_bulk:
    case Opcode::multimem_cp_reduce_async_bulk:
    case Opcode::tensormap_replace:
    case Opcode::tensormap_cp_fenceproxy:
    case Opcode::wgmma_fence:
    case Opcode::wgmma_commit_group:
    case Opcode::wgmma_wait_group:
      return Role::Steers;
    default:
      return Role::Value;
  }
}

bool loads(Role role) {
  return role == Role::Load || role == Role::Atomic;
}
bool stores(Role role) {
  return role == Role::Store || role == Role::Combine || role == Role::Atomic;
}
bool has_source(Role role) {
  return loads(role) || role == Role::Product;
}

class Analysis {
 public:
  explicit Analysis(const Function& function) : function_(function), carry_(function.regs.size()) {
    flow_.steps.resize(function.code.size());
    for (uint32_t i = 0; i < function.code.size(); ++i) {
      const Role role = role_of(function.code[i].op);
      if (!has_source(role)) continue;
      if (loads(role)) flow_.steps[i].source = static_cast<uint32_t>(flow_.sources.size());
      flow_.sources.push_back({i, role == Role::Product, PayloadFlow::kNone});
    }
    reaching_.assign(carry_ + 1, BitSet(flow_.sources.size()));
  }

  PayloadFlow run() {
    for (bool changed = true; changed;) {
      changed = false;
      uint32_t source = 0;
      for (const Instruction& instruction : function_.code) {
        divide(instruction);
        BitSet into(flow_.sources.size());
        if (has_source(role_)) {
          into.set(source++);
          if (guard_ != kNoRegister) into.merge(reaching_[guard_]);
        } else if (role_ != Role::Steers) {
          for (const uint32_t reg : values_) into.merge(reaching_[reg]);
        }
        for (const uint32_t reg : written_) changed |= reaching_[reg].merge(into);
      }
    }
    for (uint32_t i = 0; i < function_.code.size(); ++i) judge(i);
    return std::move(flow_);
  }

 private:
  static constexpr uint32_t kNoRegister = 0xffffffffu;

  /// Divides the instruction's registers into those that steer, those whose values matter, and results.
  void divide(const Instruction& instruction) {
    role_ = role_of(instruction.op);
    guard_ = kNoRegister;
    steering_.clear();
    values_.clear();
    written_.clear();
    accesses_.clear();
    collect_accesses(function_, instruction, accesses_);
    const auto operands = function_.operands_of(instruction);
    for (const Access& access : accesses_) {
      const bool is_guard = access.operand == Access::kGuard;
      const bool steers = is_guard ? guard_steers() : steers_through(operands, access.operand);
      if (access.writes) written_.push_back(access.reg);
      if (access.reads) (steers ? steering_ : values_).push_back(access.reg);
      if (is_guard) guard_ = access.reg;
    }
    const bool reads_carry =
        instruction.op == Opcode::addc || instruction.op == Opcode::subc || instruction.op == Opcode::madc;
    if (reads_carry) values_.push_back(static_cast<uint32_t>(carry_));
    if (instruction.mods.has(Mod::cc)) written_.push_back(static_cast<uint32_t>(carry_));
  }

  /// A guard that is payload makes a result payload; nothing else may depend on it.
  bool guard_steers() const { return role_ != Role::Value && role_ != Role::Load; }

  bool steers_through(std::span<const Operand> operands, uint32_t index) const {
    const Operand& operand = operands[index];
    const bool is_last = index + 1 == operands.size();
    switch (role_) {
      case Role::Steers:
        return true;
      case Role::Collective:
        return is_last;
      case Role::Reduction:
        return !is_last;
      case Role::Product:
        // Descriptors; accumulators and a fragment of A are vectors, the scale is a predicate.
        return operand.kind == Kind::Register &&
               class_of(function_.regs[operand.index].type) == RegisterClass::Double;
      case Role::Value:
        return false;
      default:
        return operand.kind == Kind::Address;
    }
  }

  void judge(uint32_t i) {
    divide(function_.code[i]);
    for (const uint32_t reg : steering_) {
      reaching_[reg].for_each([&](size_t source) {
        uint32_t& steers = flow_.sources[source].steers;
        if (steers == PayloadFlow::kNone) steers = i;
      });
    }
    if (!stores(role_)) return;
    PayloadFlow::Step& step = flow_.steps[i];
    step.stores = true;
    step.keeps_payload = role_ != Role::Store;
    BitSet feeding(flow_.sources.size());
    for (const uint32_t reg : values_) feeding.merge(reaching_[reg]);
    feeding.for_each([&](size_t source) { step.fed_by.push_back(static_cast<uint32_t>(source)); });
  }

  const Function& function_;
  size_t carry_;  ///< the condition code, as one more register
  PayloadFlow flow_;
  std::vector<BitSet> reaching_;  ///< by register: sources whose payload it may hold
  // Of the instruction last divided.
  Role role_{};
  uint32_t guard_ = kNoRegister;
  std::vector<uint32_t> steering_, values_, written_;
  std::vector<Access> accesses_;
};

}  // namespace

PayloadFlow find_payload_flow(const Function& function) {
  return Analysis(function).run();
}

}  // namespace sluice::program
