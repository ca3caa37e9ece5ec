// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The calls that nvcc's start-up and launch stubs make, in the forms of CUDA 12 and 13.
#include <vector>

#include "base/lifetime.hpp"
#include "cuda/calls.hpp"
#include "cuda/runtime/launch_calls.hpp"

namespace sluice::cuda {
namespace {

struct CallConfiguration {
  dim3 grid, block;
  size_t shared = 0;
  cudaStream_t stream = nullptr;
};

/// Those of this thread that a stub has still to take.
std::vector<CallConfiguration>& configurations() {
  static const PerThread<std::vector<CallConfiguration>> pushed;
  return *pushed;
}

}  // namespace
}  // namespace sluice::cuda

using namespace sluice::cuda;

// These have no header that declares them for host compilers; the signatures are those of crt/host_runtime.h.

SLUICE_EXPORT void** sluice_rt___cudaRegisterFatBinary(void* wrapper) {
  void** handle = nullptr;
  const void* const caller = __builtin_return_address(0);
  runtime_call(
      "__cudaRegisterFatBinary",
      [&](Process& process) {
        handle = process.code.register_image(wrapper, caller);
        return kOk;
      },
      Gate::Open);
  return handle;
}

SLUICE_EXPORT void sluice_rt___cudaRegisterFatBinaryEnd(void**) {}

SLUICE_EXPORT void sluice_rt___cudaUnregisterFatBinary(void** handle) {
  runtime_call(
      "__cudaUnregisterFatBinary",
      [&](Process& process) {
        if (process.is_forked()) return kOk;
        process.flush_printed();
        process.code.unregister_image(handle);
        return kOk;
      },
      Gate::Open);
}

SLUICE_EXPORT void sluice_rt___cudaRegisterFunction(void** handle, const char* host, char*, const char* name,
                                                    int, uint3*, uint3*, dim3*, dim3*, int*) {
  runtime_call(
      "__cudaRegisterFunction",
      [&](Process& process) {
        process.code.register_function(handle, host, name);
        return kOk;
      },
      Gate::Open);
}

SLUICE_EXPORT void sluice_rt___cudaRegisterVar(void** handle, char* host, char*, const char* name, int,
                                               size_t bytes, int, int) {
  runtime_call(
      "__cudaRegisterVar",
      [&](Process& process) {
        process.code.register_variable(handle, host, name, bytes);
        return kOk;
      },
      Gate::Open);
}

SLUICE_EXPORT void sluice_rt___cudaRegisterHostVar(void** handle, const char* name, char* host,
                                                   size_t bytes) {
  runtime_call(
      "__cudaRegisterHostVar",
      [&](Process& process) {
        process.code.register_variable(handle, host, name, bytes);
        return kOk;
      },
      Gate::Open);
}

SLUICE_EXPORT void sluice_rt___cudaRegisterManagedVar(void** handle, void** host_pointer, char*,
                                                      const char* name, int, size_t bytes, int, int) {
  runtime_call(
      "__cudaRegisterManagedVar",
      [&](Process& process) {
        process.code.register_managed(handle, host_pointer, name, bytes);
        return kOk;
      },
      Gate::Open);
}

SLUICE_EXPORT void sluice_rt___cudaRegisterUnifiedTable(void**, void*) {}

SLUICE_EXPORT char sluice_rt___cudaInitModule(void** handle) {
  const cudaError_t status = runtime_call(
      "__cudaInitModule", [&](Process& process) { return process.code.initialise_managed(handle); });
  return status == cudaSuccess ? 1 : 0;
}

SLUICE_EXPORT unsigned sluice_rt___cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                                             cudaStream_t stream) {
  configurations().push_back({grid, block, shared, stream});
  return 0;
}

SLUICE_EXPORT cudaError_t sluice_rt___cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared,
                                                               void* stream) {
  auto& pushed = configurations();
  if (pushed.empty()) {
    last_error() = cudaErrorMissingConfiguration;
    return cudaErrorMissingConfiguration;
  }
  const CallConfiguration& top = pushed.back();
  *grid = top.grid;
  *block = top.block;
  *shared = top.shared;
  *static_cast<cudaStream_t*>(stream) = top.stream;
  pushed.pop_back();
  return cudaSuccess;
}

SLUICE_EXPORT cudaError_t sluice_rt___cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  // The kernel is looked up at the launch, for the device that is current then. The stub hands this value
  // back to
  // __cudaLaunchKernel, which takes host symbols and handles alike.
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(host));
  return cudaSuccess;
}

SLUICE_EXPORT cudaError_t sluice_rt___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
                                                       void** arguments, size_t shared, cudaStream_t stream) {
  return runtime_call("__cudaLaunchKernel", [&](Process& process) {
    return launch_symbol(process, kernel, plain_shape(grid, block, shared), arguments, stream);
  });
}
