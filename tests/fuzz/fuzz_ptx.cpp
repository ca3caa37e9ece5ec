// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer harness of the PTX parser: any text gives a module whose indices all lie inside their tables, or
// an error with a place, never a crash; and what parses can be printed.
#include "ptx/ast.hpp"
#include "ptx/print.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

void require(bool ok, const char* what) {
  if (ok) return;
  std::fprintf(stderr, "fuzz_ptx: %s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sluice::ptx;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto module = parse(text, "fuzz.ptx");
  if (!module.has_value()) {
    require(!module.error().message.empty(), "an error without a message");
    require(module.error().place.starts_with("fuzz.ptx"), "an error without a place");
    return 0;
  }
  // Very large arrays would only make long text.
  uint64_t elements = 0;
  for (const Variable& v : module->variables) elements += v.is_initialised ? v.size : 0;
  if (elements > 1u << 16) return 0;
  for (const Function& f : module->functions) {
    for (const Instruction& i : f.code) {
      require(i.first_operand + size_t(i.operand_count) <= f.operands.size(), "operands outside the pool");
      for (const Operand& o : f.operands_of(i))
        require(o.first + size_t(o.count) <= f.operands.size(), "parts outside the pool");
      require(i.loc == kNone || i.loc < module->locations.size(), "a location outside the table");
    }
    for (const Label& l : f.labels) require(l.target <= f.code.size(), "a label outside the code");
  }
  (void)print(*module);
  return 0;
}
