// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
#include "machine/independence.hpp"

#include <fmt/format.h>

#include "machine/ops/system_call.hpp"

namespace sluice::machine {
namespace {

using ptx::Mod;
using ptx::Opcode;
using ptx::Space;

bool is_shared(Space space) {
  return space == Space::shared || space == Space::shared_cta || space == Space::shared_cluster;
}

bool shares(const program::Function& function, const ptx::Instruction& in) {
  const ptx::Mods& mods = in.mods;
  switch (in.op) {
    case Opcode::atom:
    case Opcode::red:
      return !is_shared(mods.space());
    case Opcode::cp_reduce_async_bulk:
    case Opcode::cp_reduce_async_bulk_tensor:
      // Into global memory unless the destination is shared::cluster, which comes first.
      return !is_shared(mods.space(0));
    case Opcode::ld:
    case Opcode::st: {
      if (is_shared(mods.space()) || mods.space() == Space::local) return false;
      return mods.has(Mod::volatile_) || mods.has(Mod::relaxed) || mods.has(Mod::acquire) ||
             mods.has(Mod::release) || mods.has(Mod::mmio);
    }
    case Opcode::membar:
    case Opcode::fence:
      return mods.has(Mod::gl) || mods.has(Mod::gpu) || mods.has(Mod::sys);
    case Opcode::multimem_ld_reduce:
    case Opcode::multimem_red:
    case Opcode::multimem_st:
      return true;
    case Opcode::call: {
      const ptx::Operand& target = function.operands_of(in)[1];
      return target.kind == ptx::Operand::Kind::Function &&
             is_system_call(function.module->functions[target.index].name) &&
             function.module->functions[target.index].name != "__assertfail";
    }
    default:
      return false;
  }
}

}  // namespace

std::string shares_global_memory(const Kernel& kernel) {
  for (const auto& bound : kernel.functions) {
    for (const ptx::Instruction& in : bound->lowered->code) {
      if (shares(*bound->lowered, in))
        return fmt::format("`{}` in PTX line {}", ptx::spelling(in.op), in.line);
    }
  }
  return {};
}

}  // namespace sluice::machine
