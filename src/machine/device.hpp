// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// One GPU: its memory, the modules loaded on it, their kernels, and launches. The runtime (src/cuda) and the
// tests talk to the machine through this class alone. Launches are synchronous: `launch` returns when every
// CTA has ended or the launch has failed. Not thread-safe; callers serialise.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "machine/device_memory.hpp"
#include "machine/kernel.hpp"
#include "machine/launch.hpp"
#include "ptx/ast.hpp"

namespace sluice::machine {

/// The numbers of a card that the machine itself needs.
struct DeviceLimits {
  uint64_t memory_bytes = uint64_t{150'109'880'320};  ///< H200, as its driver reports it
  uint32_t multiprocessors = 132;
  uint32_t threads_per_multiprocessor = 2048;
  uint32_t ctas_per_multiprocessor = 32;
  uint32_t registers_per_multiprocessor = 65536;
  uint32_t shared_per_multiprocessor = 233472;
  uint32_t shared_per_cta = 232448;  ///< opt-in limit, without the reserved part
  uint32_t max_cluster = 16;
};

/// How kernels are made.
struct KernelOptions {
  bool lazy_unsupported = false;  ///< an instruction that cannot be executed ends the launch that reaches it,
                                  ///< instead of refusing the kernel
  bool without_data = false;      ///< for launches with LaunchOptions::no_data; a kernel that payload
                                  ///< certainly steers is refused
};

struct ModuleVariable {
  uint64_t address = 0;
  uint64_t bytes = 0;
  bool constant = false;
};

class Device {
 public:
  explicit Device(DeviceLimits limits = {});
  ~Device();

  const DeviceLimits& limits() const { return limits_; }
  DeviceMemory& memory() { return memory_; }
  const DeviceMemory& memory() const { return memory_; }

  /// For kernels that are made from now on.
  void set_kernel_options(KernelOptions options) { options_ = options; }

  // --- modules
  // ----------------------------------------------------------------------------------------------------------
  using ModuleId = uint32_t;
  /// Places the module's variables, with initialisers and relocations applied. Kernels are lowered when first
  /// asked for.
  Result<ModuleId> load(ptx::Module module);
  void unload(ModuleId module);
  const ptx::Module& module(ModuleId module) const;
  std::optional<ModuleVariable> variable(ModuleId module, std::string_view name) const;
  bool has_kernel(ModuleId module, std::string_view name) const;

  /// Register counts known from machine code that came with the module (kernel name -> registers per thread).
  void set_registers(ModuleId module, std::string_view kernel, uint32_t registers, std::string source);

  /// The kernel, lowered and bound. The error says what the engine cannot execute, with the PTX line and,
  /// where known, the source line.
  Result<const Kernel*> kernel(ModuleId module, std::string_view name);

  // --- launches
  // -----------------------------------------------------------------------------------------------------------
  /// CTAs of the kernel that fit on one multiprocessor; 0 when even one does not.
  uint32_t ctas_per_multiprocessor(const Kernel& kernel, uint32_t threads, uint32_t dynamic_shared) const;
  /// Clusters that fit on the device together.
  uint64_t resident_clusters(const Kernel& kernel, const LaunchRequest& request) const;

  /// Runs the launch to its end. Preconditions (extents within the limits, parameter bytes of the right size)
  /// are the caller's to check; a launch that cannot fit is an Error.
  Result<LaunchResult> launch(const LaunchRequest& request);

  /// "file.cu:12" of an instruction, or the PTX line where there is no line table.
  std::string place(const Kernel& kernel, uint32_t function, uint32_t instruction) const;

 private:
  struct LoadedModule;
  class KernelSymbols;
  Result<std::unique_ptr<Kernel>> make_kernel(ModuleId id, LoadedModule& module, uint32_t function);
  const event::Origins& origins(const Kernel& kernel);
  void tell_begin(const LaunchContext& launch);
  void tell_end(const LaunchContext& launch);

  DeviceLimits limits_;
  KernelOptions options_;
  DeviceMemory memory_;
  std::vector<std::unique_ptr<LoadedModule>> modules_;
  std::map<const Kernel*, std::unique_ptr<event::Origins>> origins_;  ///< of kernels that someone listened to
  uint32_t launches_ = 0;
};

/// "file.cu:12" of an instruction, or the PTX line where there is no line table.
std::string place_of(const program::Function& function, uint32_t instruction);

}  // namespace sluice::machine
