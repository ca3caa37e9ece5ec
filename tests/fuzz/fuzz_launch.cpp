// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer harness of launch descriptions: a JSON text, a line `%%`, the PTX that it launches. A description
// is read or refused with a place; its values are stored in their types, its tensor maps encoded, and the PTX
// is parsed and lowered. Nothing is launched and no file of the description is touched.
#include "cli/launch_memory.hpp"
#include "cli/launch_spec.hpp"
#include "machine/tensor_map.hpp"
#include "program/payload_flow.hpp"
#include "program/program.hpp"
#include "ptx/ast.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace {

void require(bool ok, const char* what) {
  if (ok) return;
  std::fprintf(stderr, "fuzz_launch: %s\n", what);
  std::abort();
}

void use(const sluice::cli::LaunchSpec& spec) {
  using namespace sluice;
  for (const cli::BufferSpec& buffer : spec.buffers) {
    require(buffer.count != 0, "a buffer without elements");
    require(buffer.values.size() <= buffer.count, "more values than elements");
    for (const uint64_t bits : buffer.values)
      require(!cli::text_of(buffer.element, &bits).empty(), "a value that cannot be told");
    constexpr uint64_t kMostFilled = 1 << 16;
    if (buffer.fill == cli::BufferSpec::Fill::File || buffer.bytes() > kMostFilled) continue;
    std::vector<uint8_t> memory(buffer.bytes());
    require(cli::fill_buffer(buffer, memory.data()).has_value(), "a buffer that cannot be filled");
  }
  for (cli::TensorMapSpec map : spec.tensor_maps) {
    map.info.address = map.offset & ~uint64_t{15};
    if (const auto words = machine::encode_tensor_map(map.info)) {
      const auto again = machine::decode_tensor_map(*words);
      require(again.has_value(), "an encoded tensor map that cannot be read");
    }
  }
  for (const cli::ArgumentSpec& argument : spec.arguments)
    require(argument.kind != cli::ArgumentSpec::Kind::Bytes || !argument.bytes.empty(), "an empty scalar");
}

void lower_all(std::string_view ptx) {
  using namespace sluice;
  const auto module = ptx::parse(ptx, "fuzz.ptx");
  if (!module) return;
  for (uint32_t f = 0; f < module->functions.size(); ++f) {
    if (!module->functions[f].is_defined) continue;
    const auto lowered = program::lower(*module, f);
    if (!lowered) continue;
    const program::PayloadFlow flow = program::find_payload_flow(*lowered);
    require(flow.steps.size() == lowered->code.size(), "a flow of another function");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr std::string_view kBorder = "\n%%\n";
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t border = input.find(kBorder);
  const auto spec = sluice::cli::parse_launch_spec(input.substr(0, border), "folder");
  if (spec)
    use(*spec);
  else
    require(!spec.error().message.empty(), "an error without a message");
  if (border != std::string_view::npos) lower_all(input.substr(border + kBorder.size()));
  return 0;
}
