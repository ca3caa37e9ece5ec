// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer harness of execution: a launch description, a line `%%`, the PTX that it launches. The kernel is
// bound and executed on a device of a few multiprocessors and for a moment, with the checkers listening; any
// kernel ends, faults or runs out of time, and the engine stays whole. No file of the description is touched.
#include "check/checker.hpp"
#include "cli/launch_arguments.hpp"
#include "cli/launch_memory.hpp"
#include "cli/launch_spec.hpp"
#include "machine/device.hpp"
#include "ptx/ast.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

using namespace sluice;

constexpr uint64_t kMostBufferBytes = 1 << 20, kMostModuleBytes = 1 << 20;
constexpr uint32_t kMostThreads = 256, kMostCtas = 8, kMostCluster = 4;
constexpr double kSeconds = 0.1;

void require(bool ok, const char* what) {
  if (ok) return;
  std::fprintf(stderr, "fuzz_run: %s\n", what);
  std::abort();
}

uint64_t volume(const uint32_t (&extent)[3]) {
  return uint64_t{extent[0]} * extent[1] * extent[2];
}

// Whether running it is quick, and no matter of files.
bool is_small(const cli::LaunchSpec& spec, const ptx::Module& module) {
  uint64_t bytes = 0;
  for (const cli::BufferSpec& buffer : spec.buffers) {
    if (buffer.fill == cli::BufferSpec::Fill::File || buffer.bytes() > kMostBufferBytes) return false;
    bytes += buffer.bytes();
  }
  for (const ptx::Variable& variable : module.variables) {
    if (variable.size > kMostModuleBytes) return false;
    bytes += variable.size;
  }
  return bytes <= kMostBufferBytes + kMostModuleBytes;
}

/// The device of the process, whose memory has fixed addresses. What an input takes is given back.
class Bench {
 public:
  Bench() : device_({.memory_bytes = 64 << 20, .multiprocessors = 4}) {}

  void run(const cli::LaunchSpec& spec, ptx::Module module) {
    const auto id = device_.load(std::move(module));
    if (!id) return;
    if (const machine::Kernel* kernel = find_kernel(*id, spec.kernel)) launch(spec, *kernel);
    for (const auto& [name, memory] : memory_)
      require(device_.memory().release(reinterpret_cast<uint64_t>(memory)), "a buffer is gone");
    memory_.clear();
    device_.unload(*id);
  }

 private:
  const machine::Kernel* find_kernel(machine::Device::ModuleId id, const std::string& name) {
    for (const ptx::Function& function : device_.module(id).functions) {
      if (!function.is_entry || !function.is_defined || (!name.empty() && function.name != name)) continue;
      const auto kernel = device_.kernel(id, function.name);
      if (kernel) return *kernel;
      require(!kernel.error().message.empty(), "a refusal without a reason");
    }
    return nullptr;
  }

  void launch(const cli::LaunchSpec& spec, const machine::Kernel& kernel) {
    for (const cli::BufferSpec& buffer : spec.buffers) {
      const auto address =
          device_.memory().allocate(buffer.bytes(), 256, machine::AllocationKind::Device, buffer.name);
      if (!address) return;
      memory_[buffer.name] = reinterpret_cast<uint8_t*>(*address);
      require(fill_buffer(buffer, memory_[buffer.name]).has_value(), "a buffer that cannot be filled");
    }
    const auto values = cli::argument_values(spec, memory_);
    if (!values) return;
    machine::LaunchRequest request;
    if (!take_shape(spec, kernel, request)) return;
    request.kernel = &kernel;
    request.parameters.resize(kernel.parameter_bytes);
    // What the description leaves out is zero.
    for (size_t i = 0; i < std::min(values->size(), kernel.parameters.size()); ++i)
      std::copy_n((*values)[i].data(), std::min<size_t>((*values)[i].size(), kernel.parameters[i].bytes),
                  request.parameters.data() + kernel.parameters[i].offset);
    request.print = [](std::string_view) {};
    request.options.workers = 1;
    request.options.timeout_seconds = kSeconds;
    check::Checker checker;
    run_each_way(request, checker);
  }

  // Early with the checkers, then late and without them.
  void run_each_way(machine::LaunchRequest& request, check::Checker& checker) {
    request.listener = &checker;
    if (!device_.launch(request)) return;
    for (const report::Diagnostic& finding : checker.take())
      require(!report::render_text(finding).empty(), "a finding without words");
    request.listener = nullptr;
    request.options.timing = machine::CopyTiming::Late;
    if (const auto late = device_.launch(request)) {
      const bool has_fault = late->fault.kind != machine::FaultKind::None;
      require(!has_fault || !late->fault.message.empty(), "a fault without a message");
    }
  }

  // The launch calls' own checks stand before the machine; these are the same, with smaller limits.
  bool take_shape(const cli::LaunchSpec& spec, const machine::Kernel& kernel,
                  machine::LaunchRequest& request) {
    std::copy(std::begin(spec.grid), std::end(spec.grid), request.grid);
    std::copy(std::begin(spec.block), std::end(spec.block), request.block);
    const auto& required = kernel.directives.reqnctapercluster;
    if (spec.cluster[0] != 0)
      std::copy(std::begin(spec.cluster), std::end(spec.cluster), request.cluster);
    else if (required[0] != 0)
      std::copy(required.begin(), required.end(), request.cluster);
    for (int i = 0; i < 3; ++i) {
      if (request.grid[i] > kMostCtas || request.block[i] > kMostThreads || request.cluster[i] == 0)
        return false;
      if (request.grid[i] % request.cluster[i] != 0) return false;
    }
    request.cooperative = spec.cooperative;
    request.dynamic_shared = static_cast<uint32_t>(spec.shared);
    return volume(request.grid) <= kMostCtas && volume(request.block) <= kMostThreads &&
           volume(request.cluster) <= kMostCluster && volume(request.block) <= kernel.max_threads() &&
           kernel.static_shared + spec.shared <= device_.limits().shared_per_cta;
  }

  machine::Device device_;
  cli::BufferMemory memory_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Bench bench;
  constexpr std::string_view kBorder = "\n%%\n";
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t border = input.find(kBorder);
  if (border == std::string_view::npos) return 0;
  const auto spec = cli::parse_launch_spec(input.substr(0, border), "spec.json");
  if (!spec) return 0;
  auto module = ptx::parse(input.substr(border + kBorder.size()), "fuzz.ptx");
  if (module && is_small(*spec, *module)) bench.run(*spec, *std::move(module));
  return 0;
}
