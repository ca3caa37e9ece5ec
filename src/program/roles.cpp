// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Roles by opcode.
#include "program/roles.hpp"

namespace sluice::program {

using Kind = ptx::Operand::Kind;
using ptx::Opcode;
using ptx::Operand;

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

bool steers_through(const Function& function, const ptx::Instruction& instruction, uint32_t index) {
  const auto operands = function.operands_of(instruction);
  const Operand& operand = operands[index];
  const bool is_last = index + 1 == operands.size();
  switch (role_of(instruction.op)) {
    case Role::Steers:
      return true;
    case Role::Collective:
      return is_last;
    case Role::Reduction:
      return !is_last;
    case Role::Product:
      // Descriptors; accumulators and a fragment of A are vectors, the scale is a predicate.
      return operand.kind == Kind::Register &&
             class_of(function.regs[operand.index].type) == RegisterClass::Double;
    case Role::Value:
      return false;
    default:
      return operand.kind == Kind::Address;
  }
}

}  // namespace sluice::program
