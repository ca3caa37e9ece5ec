// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// See replay.hpp.
#include <algorithm>
#include <cstring>

#include "machine/device.hpp"
#include "replay.hpp"

namespace sluice::parity {
namespace {

constexpr uint64_t kOutBytes = 1 << 20;

void run_module(machine::Device& device, const std::vector<const Case*>& cases, uint64_t in, uint64_t out,
                uint64_t scratch, std::vector<Ran>& results) {
  Result<ptx::Module> parsed = ptx::parse(module_text(cases), "parity.ptx");
  const auto refuse_all = [&](const Error& error) {
    for (size_t i = 0; i < cases.size(); ++i) results.push_back({true, error.text(), {}});
  };
  if (!parsed) return refuse_all(parsed.error());
  Result<machine::Device::ModuleId> module = device.load(std::move(*parsed));
  if (!module) return refuse_all(module.error());
  for (const Case* c : cases) {
    const auto kernel = device.kernel(*module, c->entry);
    if (!kernel) {
      results.push_back({true, kernel.error().text(), {}});
      continue;
    }
    std::memcpy(reinterpret_cast<void*>(in), c->inputs.data(), c->inputs.size());
    std::memset(reinterpret_cast<void*>(out), 0, size_t{c->out_stride} * kThreads);
    std::memset(reinterpret_cast<void*>(scratch), 0, kScratchBytes);
    machine::LaunchRequest request;
    request.kernel = *kernel;
    request.block[0] = kThreads;
    request.options.parallel = false;
    request.parameters.resize((*kernel)->parameter_bytes);
    const uint64_t pointers[3] = {in, out, scratch};
    std::memcpy(request.parameters.data(), pointers, sizeof pointers);
    const std::vector<uint8_t> bytes = blob();
    std::memcpy(request.parameters.data() + (*kernel)->parameters[3].offset, bytes.data(), bytes.size());
    const auto launched = device.launch(request);
    if (!launched) {
      results.push_back({true, launched.error().text(), {}});
      continue;
    }
    if (launched->fault.kind != machine::FaultKind::None) {
      results.push_back({true, "fault: " + launched->fault.message, {}});
      continue;
    }
    Ran ran;
    const auto* const first = reinterpret_cast<const uint8_t*>(out);
    ran.outputs.assign(first, first + size_t{c->out_stride} * kThreads);
    results.push_back(std::move(ran));
  }
  device.unload(*module);
}

}  // namespace

std::vector<Ran> run_on_engine(const std::vector<const Case*>& cases) {
  std::vector<Ran> results;
  machine::Device device;
  const auto get = [&](uint64_t bytes) {
    Result<uint64_t> at = device.memory().allocate(bytes, 256, machine::AllocationKind::Device);
    return at ? *at : uint64_t{0};
  };
  size_t most = 0;
  for (const Case* c : cases) most = std::max(most, c->inputs.size());
  const uint64_t in = get(most + 16), out = get(kOutBytes), scratch = get(kScratchBytes);
  if (in == 0 || out == 0 || scratch == 0) return results;
  for (const std::vector<const Case*>& module : modules_of(cases))
    run_module(device, module, in, out, scratch, results);
  return results;
}

}  // namespace sluice::parity
