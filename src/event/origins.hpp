// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of origins: where in the source the instructions of a kernel come from, and what its shared
// variables are called. Filled from a PTX module (src/ptx/origins.hpp), so that whoever receives events can
// name places without knowing PTX.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::event {

constexpr uint32_t kNoIndex = 0xffffffffu;

/// A place in a source file, with the chain of calls it was inlined through.
struct SourcePlace {
  uint32_t file = 0;  ///< into Origins::files
  uint32_t line = 0;
  uint32_t column = 0;
  uint32_t function = kNoIndex;    ///< into Origins::functions: the inlined function that the line belongs to
  uint32_t inlined_at = kNoIndex;  ///< into Origins::places: the call
};

/// One instruction.
struct Origin {
  uint32_t place = kNoIndex;  ///< into Origins::places; kNoIndex without line information
  uint32_t ptx_line = 0;      ///< of the PTX text, from 1
  uint32_t text_begin = 0;    ///< bytes of the statement in Origins::text
  uint32_t text_end = 0;
};

/// A variable in shared memory.
struct SharedSymbol {
  std::string name;     ///< mangled
  uint32_t offset = 0;  ///< in the CTA's shared memory
  uint64_t bytes = 0;   ///< 0 = up to the end (dynamic shared memory)
};

/// Origins of one kernel. Event::origin is an index into `instructions`; several instructions may lead to one
/// place.
struct Origins {
  std::vector<std::string> files;
  std::vector<std::string> functions;  ///< names of inlined functions, mangled
  std::vector<SourcePlace> places;
  std::vector<Origin> instructions;
  std::vector<SharedSymbol> shared;
  std::string module;     ///< what messages call the PTX text
  std::string_view text;  ///< the PTX text; lives as long as the module
};

}  // namespace sluice::event
