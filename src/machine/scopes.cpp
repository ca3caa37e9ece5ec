// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
#include "machine/scopes.hpp"

#include <algorithm>

namespace sluice::machine {
namespace {

using ptx::Mod;
using ptx::Opcode;
using ptx::Space;

bool is_narrow(const ptx::Instruction& in) {
  const ptx::Mods& mods = in.mods;
  if (!mods.has(Mod::cta) && !mods.has(Mod::cluster)) return false;
  switch (in.op) {
    case Opcode::membar:
    case Opcode::fence:
      return true;
    case Opcode::ld:
    case Opcode::st:
    case Opcode::atom:
    case Opcode::red: {
      const Space space = mods.space();
      return space == Space::none || space == Space::global;
    }
    default:
      return false;
  }
}

}  // namespace

bool has_narrow_scopes(const Kernel& kernel) {
  return std::any_of(kernel.functions.begin(), kernel.functions.end(), [](const auto& function) {
    const auto& code = function->lowered->code;
    return std::any_of(code.begin(), code.end(), is_narrow);
  });
}

}  // namespace sluice::machine
