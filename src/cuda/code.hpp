// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Code: images (fat binaries and PTX texts) as programs hand them over, the modules that each device makes of
// them, and the functions and variables inside.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cuda/errors.hpp"
#include "cuda/handles.hpp"
#include "machine/kernel.hpp"
#include "report/diagnostic.hpp"

namespace sluice::cuda {

struct Module;

/// A kernel of a loaded module. Its handle serves as CUfunction, CUkernel, cudaFunction_t and cudaKernel_t
/// alike.
struct Function {
  CUfunction handle = nullptr;
  Module* module = nullptr;
  std::string name;      ///< mangled
  std::string readable;  ///< from the first launch on
  const machine::Kernel* kernel =
      nullptr;  ///< null before Code::prepare, and where the engine refuses the kernel
  std::optional<report::Diagnostic> refusal;
  bool refusal_said = false;

  // What programs may set.
  uint32_t max_dynamic_shared = 0;
  int carveout = -1;
  bool non_portable_cluster = false;
  uint32_t required_cluster[3] = {0, 0, 0};
  int cluster_policy = 0;
  CUfunc_cache cache = CU_FUNC_CACHE_PREFER_NONE;
};

struct Variable {
  std::string name;
  uint64_t address = 0;
  uint64_t bytes = 0;
  bool managed = false;
};

/// One device's instance of an image.
struct Module {
  CUmodule handle = nullptr;
  int device = 0;
  uint32_t machine_module = 0;
  std::vector<CUfunction> functions;  ///< in the order of the image
  std::map<std::string, CUfunction> by_name;
  std::map<std::string, Variable> variables;
};

/// Why an image could not be loaded.
struct LoadFailure {
  Status status = kOk;
  std::string log;                               ///< what the driver would put into the JIT error log
  std::optional<report::Diagnostic> diagnostic;  ///< the same for the report; not said yet
};

class Process;

/// An image as registered by the program's start-up code, loaded for a device at first use.
struct Image {
  const void* data = nullptr;  ///< the fat binary's wrapper
  std::string program;         ///< the file that it lies in, for messages
  std::optional<LoadFailure> failure;
  std::map<int, CUmodule> modules;        ///< by device
  std::map<std::string, void**> managed;  ///< variable -> where the host keeps its address
};

/// Every function expects the process's lock to be held.
class Code {
 public:
  explicit Code(Process& process) : process_(process) {}

  // --- start-up registration
  // ---------------------------------------------------------------------------------------
  void** register_image(const void* wrapper, const void* caller);
  void unregister_image(void** handle);
  void register_function(void** image, const void* host, const char* name);
  void register_variable(void** image, const void* host, const char* name, size_t bytes);
  void register_managed(void** image, void** host_pointer, const char* name, size_t bytes);
  /// Loads images with managed variables, whose addresses the host reads without a call.
  Status initialise_managed(void** image);

  // --- look-up
  // -----------------------------------------------------------------------------------------------------
  /// The function of a host symbol or a handle on a device; cudaErrorInvalidDeviceFunction and loading
  /// failures.
  Status function(const void* symbol, int device, Function** out);
  /// Has the machine make the kernel, which may refuse it: then Function::refusal says why.
  Status prepare(Function& function);
  Function* find(CUfunction handle) { return functions_.find(handle); }
  /// The variable of a host symbol on a device.
  Status variable(const void* symbol, int device, const Variable** out);
  Module* find_module(CUmodule handle) { return modules_.find(handle); }

  // --- explicit loading
  // --------------------------------------------------------------------------------------------
  /// A fat binary, its wrapper, or PTX text ending in NUL.
  Status load(const void* image, int device, CUmodule* out, LoadFailure* failure);
  Status load_texts(const std::vector<std::string>& texts, int device, CUmodule* out, LoadFailure* failure);
  /// The modules of one program, linked where they are several. The caller reports a failure.
  Status load_modules(std::vector<ptx::Module> parts, int device, CUmodule* out, LoadFailure* failure);
  Status unload(CUmodule module);
  void reset(int device);

 private:
  struct HostSymbol {
    void** image = nullptr;
    std::string name;
  };
  Status image_module(void** image, int device, Module** out);

  Process& process_;
  std::map<void**, std::unique_ptr<Image>> images_;
  std::map<const void*, HostSymbol> host_functions_;
  std::map<const void*, HostSymbol> host_variables_;
  HandleTable<Module, HandleKind::Module> modules_;
  HandleTable<Function, HandleKind::Function> functions_;
};

}  // namespace sluice::cuda
