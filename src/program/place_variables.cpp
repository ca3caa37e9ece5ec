// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Offsets of `.local` variables and of the `.param` variables of calls in the thread's local frame.
// Parameters of an entry function are not here: they lie in the launch's parameter buffer.
#include <algorithm>

#include "program/program.hpp"

namespace sluice::program {

void place_variables(Function& function) {
  const ptx::Function& source = *function.source;
  function.variable_offset.assign(source.variables.size(), 0);
  std::vector<bool> in_buffer(source.variables.size(), false);
  if (source.is_entry) {
    for (const ptx::Param& param : source.params) {
      if (!param.is_reg) in_buffer[param.index] = true;
    }
  }
  uint64_t next = 0;
  for (size_t i = 0; i < source.variables.size(); ++i) {
    const ptx::Variable& variable = source.variables[i];
    if (in_buffer[i]) continue;
    if (variable.space != ptx::Space::local && variable.space != ptx::Space::param &&
        variable.space != ptx::Space::param_func) {
      continue;
    }
    const uint64_t align = std::max<uint64_t>(variable.align, 1);
    next = (next + align - 1) / align * align;
    function.variable_offset[i] = static_cast<uint32_t>(next);
    next += variable.size;
  }
  function.local_bytes = static_cast<uint32_t>((next + 15) / 16 * 16);
}

}  // namespace sluice::program
