// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Questions to the table of origins: through which calls an instruction was inlined, which of these frames
// the person wrote, what a variable in shared memory is called.
#pragma once

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "event/origins.hpp"

namespace sluice::event {

/// The readable form of a C++ symbol; the symbol itself where it is not one.
inline std::string readable(const std::string& symbol) {
  int status = 0;
  char* const text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string result = status == 0 && text != nullptr ? text : symbol;
  std::free(text);
  return result;
}

/// Whether people who read about a program want to see this file: not a header of the toolkit or of a
/// library.
inline bool is_own_file(const std::string& path) {
  for (const char* part :
       {"/include/cuda/", "/include/cccl/", "/include/cute/", "/include/cutlass/", "/include/sluice/",
        "/targets/", "/include/crt/", "/include/cooperative_groups", "/include/sm_", "/include/device_"}) {
    if (path.find(part) != std::string::npos) return false;
  }
  return path.rfind("/usr/include/", 0) != 0 && path.rfind("/usr/local/cuda", 0) != 0;
}

/// The place of an instruction and the calls around it, innermost first; empty without line information.
inline std::vector<SourcePlace> frames_of(const Origins& origins, uint32_t origin) {
  std::vector<SourcePlace> frames;
  if (origin >= origins.instructions.size()) return frames;
  for (uint32_t at = origins.instructions[origin].place; at != kNoIndex; at = origins.places[at].inlined_at)
    frames.push_back(origins.places[at]);
  return frames;
}

/// Which of the frames is the innermost that the person wrote; the innermost of all where none is.
inline size_t own_frame(const Origins& origins, const std::vector<SourcePlace>& frames) {
  const auto own = std::find_if(frames.begin(), frames.end(), [&](const SourcePlace& frame) {
    return is_own_file(origins.files[frame.file]);
  });
  return own == frames.end() ? 0 : static_cast<size_t>(own - frames.begin());
}

/// The variable of known size that has this offset in shared memory, or null (dynamic shared memory).
inline const SharedSymbol* symbol_at(const Origins& origins, uint32_t offset) {
  const auto found = std::find_if(origins.shared.begin(), origins.shared.end(), [&](const SharedSymbol& s) {
    return s.bytes != 0 && offset >= s.offset && offset < s.offset + s.bytes;
  });
  return found == origins.shared.end() ? nullptr : &*found;
}

/// Of `kernel(int*)::full` the last part.
inline std::string short_name(const SharedSymbol& symbol) {
  std::string name = readable(symbol.name);
  const size_t colons = name.rfind("::");
  return colons == std::string::npos ? name : name.substr(colons + 2);
}

/// What the program calls the mbarrier at this offset: "full[1]", "storage+0x18"; empty without a variable.
inline std::string barrier_name(const Origins& origins, uint32_t offset) {
  const SharedSymbol* const symbol = symbol_at(origins, offset);
  if (symbol == nullptr) return "";
  const uint32_t inside = offset - symbol->offset;
  if (symbol->bytes == 8) return short_name(*symbol);
  if (symbol->bytes % 8 == 0 && inside % 8 == 0 && symbol->bytes <= 256)
    return fmt::format("{}[{}]", short_name(*symbol), inside / 8);
  return fmt::format("{}+0x{:x}", short_name(*symbol), inside);
}

}  // namespace sluice::event
