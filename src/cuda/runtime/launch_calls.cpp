// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Launches, functions and occupancy of the runtime API.
#include "cuda/runtime/launch_calls.hpp"

#include <cstring>

#include "cuda/calls.hpp"
#include "cuda/function_queries.hpp"

namespace sluice::cuda {

Status prepared_function(Process& process, const void* symbol, int device, Function** out) {
  if (symbol == nullptr) return cudaErrorInvalidDeviceFunction;
  if (const Status s = process.code.function(symbol, device, out); s != kOk) return s;
  return process.code.prepare(**out);
}

Status launch_symbol(Process& process, const void* symbol, const LaunchShape& shape, void** arguments,
                     cudaStream_t handle) {
  Stream* stream = process.streams.find(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  Function* function = nullptr;
  if (const Status s = prepared_function(process, symbol, stream->device, &function); s != kOk) {
    // A launch takes a pointer that is no function's for a handle, as an H200's runtime does.
    const bool unknown = symbol != nullptr && s == cudaErrorInvalidDeviceFunction;
    return unknown ? Status(cudaErrorInvalidResourceHandle) : s;
  }
  KernelCall call;
  call.symbol = symbol;
  if (const Status s = prepare_launch(process, *function, shape, arguments, nullptr, &call); s != kOk)
    return s;
  if (const Status s = process.streams.submit(*stream, std::move(call)); s != kOk) return s;
  return record_launch_events(process, shape, *stream);
}

}  // namespace sluice::cuda

using namespace sluice::cuda;

SLUICE_RUNTIME(cudaLaunchKernel, const void* symbol, dim3 grid, dim3 block, void** arguments, size_t shared,
               cudaStream_t stream) {
  return runtime_call("cudaLaunchKernel", [&](Process& process) {
    return launch_symbol(process, symbol, plain_shape(grid, block, shared), arguments, stream);
  });
}

SLUICE_RUNTIME(cudaLaunchCooperativeKernel, const void* symbol, dim3 grid, dim3 block, void** arguments,
               size_t shared, cudaStream_t stream) {
  return runtime_call("cudaLaunchCooperativeKernel", [&](Process& process) {
    LaunchShape shape = plain_shape(grid, block, shared);
    shape.cooperative = true;
    return launch_symbol(process, symbol, shape, arguments, stream);
  });
}

SLUICE_RUNTIME(cudaLaunchKernelExC, const cudaLaunchConfig_t* config, const void* symbol, void** arguments) {
  return runtime_call("cudaLaunchKernelExC", [&](Process& process) -> Status {
    if (config == nullptr || (config->numAttrs != 0 && config->attrs == nullptr))
      return cudaErrorInvalidValue;
    // cudaLaunchAttribute and CUlaunchAttribute are one layout under two names.
    static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute));
    LaunchShape shape = plain_shape(config->gridDim, config->blockDim, config->dynamicSmemBytes);
    shape.attributes = reinterpret_cast<const CUlaunchAttribute*>(config->attrs);
    shape.attribute_count = config->numAttrs;
    return launch_symbol(process, symbol, shape, arguments, config->stream);
  });
}

SLUICE_RUNTIME(cudaLaunchHostFunc, cudaStream_t handle, cudaHostFn_t function, void* data) {
  return runtime_call("cudaLaunchHostFunc", [&](Process& process) -> Status {
    Stream* stream = process.streams.find(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (function == nullptr) return cudaErrorInvalidValue;
    return process.streams.submit(*stream, HostCall{function, data});
  });
}

// --- functions
// ------------------------------------------------------------------------------------------------------

SLUICE_RUNTIME(cudaFuncGetAttributes, cudaFuncAttributes* out, const void* symbol) {
  return runtime_call("cudaFuncGetAttributes", [&](Process& process) -> Status {
    if (out == nullptr) return cudaErrorInvalidValue;
    Function* function = nullptr;
    if (const Status s = prepared_function(process, symbol, process.current_device(), &function); s != kOk)
      return s;
    return fill_attributes(process, *function, out);
  });
}

SLUICE_RUNTIME(cudaFuncSetAttribute, const void* symbol, cudaFuncAttribute attribute, int value) {
  return runtime_call("cudaFuncSetAttribute", [&](Process& process) -> Status {
    Function* function = nullptr;
    if (const Status s = prepared_function(process, symbol, process.current_device(), &function); s != kOk)
      return s;
    return set_function_attribute(process, *function, static_cast<CUfunction_attribute>(attribute), value);
  });
}

SLUICE_RUNTIME(cudaFuncSetCacheConfig, const void* symbol, cudaFuncCache config) {
  return runtime_call("cudaFuncSetCacheConfig", [&](Process& process) -> Status {
    Function* function = nullptr;
    if (const Status s = prepared_function(process, symbol, process.current_device(), &function); s != kOk)
      return s;
    function->cache = static_cast<CUfunc_cache>(config);
    return kOk;
  });
}

SLUICE_RUNTIME(cudaFuncSetSharedMemConfig, const void* symbol, cudaSharedMemConfig) {
  return runtime_call("cudaFuncSetSharedMemConfig", [&](Process& process) -> Status {
    Function* function = nullptr;
    return prepared_function(process, symbol, process.current_device(), &function);
  });
}

SLUICE_RUNTIME(cudaFuncGetName, const char** name, const void* symbol) {
  return runtime_call("cudaFuncGetName", [&](Process& process) -> Status {
    if (name == nullptr) return cudaErrorInvalidValue;
    Function* function = nullptr;
    if (const Status s = process.code.function(symbol, process.current_device(), &function); s != kOk)
      return s;
    *name = function->name.c_str();
    return kOk;
  });
}

SLUICE_RUNTIME(cudaFuncGetParamInfo, const void* symbol, size_t index, size_t* offset, size_t* bytes) {
  return runtime_call("cudaFuncGetParamInfo", [&](Process& process) -> Status {
    Function* function = nullptr;
    if (const Status s = prepared_function(process, symbol, process.current_device(), &function); s != kOk)
      return s;
    return parameter_info(*function, index, offset, bytes);
  });
}

SLUICE_RUNTIME(cudaGetFuncBySymbol, cudaFunction_t* out, const void* symbol) {
  return runtime_call("cudaGetFuncBySymbol", [&](Process& process) -> Status {
    if (out == nullptr) return cudaErrorInvalidValue;
    Function* function = nullptr;
    if (const Status s = prepared_function(process, symbol, process.current_device(), &function); s != kOk)
      return s;
    *out = function->handle;
    return kOk;
  });
}

SLUICE_RUNTIME(cudaGetKernel, cudaKernel_t* out, const void* symbol) {
  return runtime_call("cudaGetKernel", [&](Process& process) -> Status {
    if (out == nullptr) return cudaErrorInvalidValue;
    Function* function = nullptr;
    if (const Status s = prepared_function(process, symbol, process.current_device(), &function); s != kOk)
      return s;
    *out = reinterpret_cast<cudaKernel_t>(function->handle);
    return kOk;
  });
}

SLUICE_RUNTIME(cudaKernelSetAttributeForDevice, cudaKernel_t kernel, cudaFuncAttribute attribute, int value,
               int device) {
  return runtime_call("cudaKernelSetAttributeForDevice", [&](Process& process) -> Status {
    if (!process.has_device(device)) return cudaErrorInvalidDevice;
    Function* function = nullptr;
    if (const Status s = prepared_function(process, kernel, device, &function); s != kOk) return s;
    return set_function_attribute(process, *function, static_cast<CUfunction_attribute>(attribute), value);
  });
}

// --- occupancy
// ------------------------------------------------------------------------------------------------------

SLUICE_RUNTIME(cudaOccupancyMaxActiveBlocksPerMultiprocessor, int* out, const void* symbol, int threads,
               size_t shared) {
  return runtime_call("cudaOccupancyMaxActiveBlocksPerMultiprocessor", [&](Process& process) -> Status {
    Function* function = nullptr;
    if (const Status s = prepared_function(process, symbol, process.current_device(), &function); s != kOk)
      return s;
    return active_ctas(process, *function, threads, shared, out);
  });
}

SLUICE_RUNTIME(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, int* out, const void* symbol,
               int threads, size_t shared, unsigned flags) {
  return runtime_call(
      "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", [&](Process& process) -> Status {
        if ((flags & ~unsigned{cudaOccupancyDisableCachingOverride}) != 0) return cudaErrorInvalidValue;
        Function* function = nullptr;
        if (const Status s = prepared_function(process, symbol, process.current_device(), &function);
            s != kOk)
          return s;
        return active_ctas(process, *function, threads, shared, out);
      });
}

SLUICE_RUNTIME(cudaOccupancyAvailableDynamicSMemPerBlock, size_t* out, const void* symbol, int ctas,
               int threads) {
  return runtime_call("cudaOccupancyAvailableDynamicSMemPerBlock", [&](Process& process) -> Status {
    Function* function = nullptr;
    if (const Status s = prepared_function(process, symbol, process.current_device(), &function); s != kOk)
      return s;
    return available_dynamic_shared(process, *function, ctas, threads, out);
  });
}

SLUICE_RUNTIME(cudaOccupancyMaxPotentialClusterSize, int* out, const void* symbol,
               const cudaLaunchConfig_t* config) {
  return runtime_call("cudaOccupancyMaxPotentialClusterSize", [&](Process& process) -> Status {
    if (config == nullptr) return cudaErrorInvalidValue;
    Function* function = nullptr;
    if (const Status s = prepared_function(process, symbol, process.current_device(), &function); s != kOk)
      return s;
    const dim3 block = config->blockDim;
    return potential_cluster(process, *function, int(block.x * block.y * block.z), config->dynamicSmemBytes,
                             out);
  });
}

SLUICE_RUNTIME(cudaOccupancyMaxActiveClusters, int* out, const void* symbol,
               const cudaLaunchConfig_t* config) {
  return runtime_call("cudaOccupancyMaxActiveClusters", [&](Process& process) -> Status {
    if (config == nullptr || (config->numAttrs != 0 && config->attrs == nullptr))
      return cudaErrorInvalidValue;
    Function* function = nullptr;
    if (const Status s = prepared_function(process, symbol, process.current_device(), &function); s != kOk)
      return s;
    LaunchShape shape = plain_shape(config->gridDim, config->blockDim, config->dynamicSmemBytes);
    shape.attributes = reinterpret_cast<const CUlaunchAttribute*>(config->attrs);
    shape.attribute_count = config->numAttrs;
    return resident_clusters(process, *function, shape, out);
  });
}
