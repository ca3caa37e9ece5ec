// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Locations of a module as a table of origins; indices stay what they are.
#include "ptx/origins.hpp"

namespace sluice::ptx {

static_assert(kNone == event::kNoIndex);

event::Origins origins_of(const Module& module) {
  event::Origins origins;
  for (const SourceFile& file : module.files) origins.files.push_back(file.path);
  origins.functions = module.names;
  for (const Location& l : module.locations)
    origins.places.push_back({l.file, l.line, l.column, l.function_name, l.inlined_at});
  origins.module = module.name;
  origins.text = module.text;
  return origins;
}

void append_origins(std::span<const Instruction> code, event::Origins& origins) {
  for (const Instruction& in : code)
    origins.instructions.push_back({in.loc, in.line, in.text_begin, in.text_end});
}

}  // namespace sluice::ptx
