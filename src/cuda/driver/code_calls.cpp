// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Modules, libraries, functions, launches and occupancy of the driver API.
#include <cstring>

#include "cuda/calls.hpp"
#include "cuda/device_queries.hpp"
#include "cuda/function_queries.hpp"
#include "cuda/library.hpp"

using namespace sluice::cuda;

namespace {

// Runs `body(Process&, Function&)` on a function that the machine has prepared. Host symbols are no driver
// handles, but the runtime hands them out as cudaKernel_t.
template <class Body>
CUresult with_function(const char* name, const void* handle, Body body) {
  return driver_call(name, [&](Process& p) -> Status {
    Function* function = nullptr;
    if (handle == nullptr || p.code.function(handle, p.current_device(), &function) != kOk) {
      return cudaErrorInvalidResourceHandle;
    }
    if (const Status s = p.code.prepare(*function); s != kOk) return s;
    return body(p, *function);
  });
}

CUresult launch(const char* name, CUfunction handle, const LaunchShape& shape, CUstream stream_handle,
                void** arguments, void** extra) {
  return with_function(name, handle, [&](Process& p, Function& function) -> Status {
    Stream* stream = p.streams.find(stream_handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (arguments != nullptr && extra != nullptr) return cudaErrorInvalidValue;
    KernelCall call;
    call.symbol = handle;
    if (const Status s = prepare_launch(p, function, shape, arguments, extra, &call); s != kOk) return s;
    if (const Status s = p.streams.submit(*stream, std::move(call)); s != kOk) return s;
    return record_launch_events(p, shape, *stream);
  });
}

LaunchShape shape_of(const CUlaunchConfig& config) {
  return {{config.gridDimX, config.gridDimY, config.gridDimZ},
          {config.blockDimX, config.blockDimY, config.blockDimZ},
          config.sharedMemBytes,
          false,
          config.attrs,
          config.numAttrs};
}

}  // namespace

// --- modules
// --------------------------------------------------------------------------------------------------------

SLUICE_DRIVER(cuModuleLoad, CUmodule* out, const char* file) {
  return driver_call("cuModuleLoad", [&](Process& p) { return load_module_file(p, file, {}, out); });
}
SLUICE_DRIVER(cuModuleLoadData, CUmodule* out, const void* image) {
  return driver_call("cuModuleLoadData", [&](Process& p) { return load_module(p, image, {}, out); });
}
SLUICE_DRIVER(cuModuleLoadDataEx, CUmodule* out, const void* image, unsigned count, CUjit_option* options,
              void** values) {
  return driver_call("cuModuleLoadDataEx", [&](Process& p) {
    return load_module(p, image, {count, options, values}, out);
  });
}
SLUICE_DRIVER(cuModuleLoadFatBinary, CUmodule* out, const void* image) {
  return driver_call("cuModuleLoadFatBinary", [&](Process& p) { return load_module(p, image, {}, out); });
}
SLUICE_DRIVER(cuModuleUnload, CUmodule module) {
  return driver_call("cuModuleUnload", [&](Process& p) { return p.code.unload(module); });
}
SLUICE_DRIVER(cuModuleGetLoadingMode, CUmoduleLoadingMode* mode) {
  return driver_call("cuModuleGetLoadingMode", [&](Process&) -> Status {
    if (mode == nullptr) return cudaErrorInvalidValue;
    *mode = CU_MODULE_LAZY_LOADING;
    return kOk;
  });
}
SLUICE_DRIVER(cuModuleGetFunction, CUfunction* out, CUmodule module, const char* name) {
  return driver_call("cuModuleGetFunction", [&](Process& p) { return find_function(p, module, name, out); });
}
SLUICE_DRIVER(cuModuleGetFunctionCount, unsigned* count, CUmodule module) {
  return driver_call("cuModuleGetFunctionCount",
                     [&](Process& p) { return function_count(p, module, count); });
}
SLUICE_DRIVER(cuModuleEnumerateFunctions, CUfunction* out, unsigned count, CUmodule module) {
  return driver_call("cuModuleEnumerateFunctions",
                     [&](Process& p) { return list_functions(p, module, out, count); });
}
SLUICE_DRIVER(cuModuleGetGlobal_v2, CUdeviceptr* out, size_t* bytes, CUmodule module, const char* name) {
  return driver_call("cuModuleGetGlobal",
                     [&](Process& p) { return find_variable(p, module, name, out, bytes); });
}

// --- libraries
// ------------------------------------------------------------------------------------------------------

SLUICE_DRIVER(cuLibraryLoadData, CUlibrary* out, const void* code, CUjit_option* options, void** values,
              unsigned count, CUlibraryOption*, void**, unsigned) {
  return driver_call("cuLibraryLoadData", [&](Process& p) {
    return load_module(p, code, {count, options, values}, reinterpret_cast<CUmodule*>(out));
  });
}
SLUICE_DRIVER(cuLibraryLoadFromFile, CUlibrary* out, const char* file, CUjit_option* options, void** values,
              unsigned count, CUlibraryOption*, void**, unsigned) {
  return driver_call("cuLibraryLoadFromFile", [&](Process& p) {
    return load_module_file(p, file, {count, options, values}, reinterpret_cast<CUmodule*>(out));
  });
}
SLUICE_DRIVER(cuLibraryUnload, CUlibrary library) {
  return driver_call("cuLibraryUnload", [&](Process& p) { return p.code.unload(module_of(library)); });
}
SLUICE_DRIVER(cuLibraryGetKernel, CUkernel* out, CUlibrary library, const char* name) {
  return driver_call("cuLibraryGetKernel", [&](Process& p) {
    return find_function(p, module_of(library), name, reinterpret_cast<CUfunction*>(out));
  });
}
SLUICE_DRIVER(cuLibraryGetKernelCount, unsigned* count, CUlibrary library) {
  return driver_call("cuLibraryGetKernelCount",
                     [&](Process& p) { return function_count(p, module_of(library), count); });
}
SLUICE_DRIVER(cuLibraryEnumerateKernels, CUkernel* out, unsigned count, CUlibrary library) {
  return driver_call("cuLibraryEnumerateKernels", [&](Process& p) {
    return list_functions(p, module_of(library), reinterpret_cast<CUfunction*>(out), count);
  });
}
SLUICE_DRIVER(cuLibraryGetModule, CUmodule* out, CUlibrary library) {
  return driver_call("cuLibraryGetModule", [&](Process& p) -> Status {
    if (out == nullptr) return cudaErrorInvalidValue;
    if (p.code.find_module(module_of(library)) == nullptr) return cudaErrorInvalidResourceHandle;
    *out = module_of(library);
    return kOk;
  });
}
SLUICE_DRIVER(cuLibraryGetGlobal, CUdeviceptr* out, size_t* bytes, CUlibrary library, const char* name) {
  return driver_call("cuLibraryGetGlobal",
                     [&](Process& p) { return find_variable(p, module_of(library), name, out, bytes); });
}
SLUICE_DRIVER(cuLibraryGetManaged, CUdeviceptr* out, size_t* bytes, CUlibrary library, const char* name) {
  return driver_call("cuLibraryGetManaged",
                     [&](Process& p) { return find_managed(p, module_of(library), name, out, bytes); });
}
SLUICE_DRIVER(cuKernelGetFunction, CUfunction* out, CUkernel kernel) {
  return with_function("cuKernelGetFunction", kernel, [&](Process&, Function& function) -> Status {
    if (out == nullptr) return cudaErrorInvalidValue;
    *out = function.handle;
    return kOk;
  });
}
SLUICE_DRIVER(cuKernelGetLibrary, CUlibrary* out, CUkernel kernel) {
  return with_function("cuKernelGetLibrary", kernel, [&](Process&, Function& function) -> Status {
    if (out == nullptr) return cudaErrorInvalidValue;
    *out = reinterpret_cast<CUlibrary>(function.module->handle);
    return kOk;
  });
}
SLUICE_DRIVER(cuKernelGetName, const char** out, CUkernel kernel) {
  return with_function("cuKernelGetName", kernel, [&](Process&, Function& function) -> Status {
    if (out == nullptr) return cudaErrorInvalidValue;
    *out = function.name.c_str();
    return kOk;
  });
}
SLUICE_DRIVER(cuKernelGetAttribute, int* out, CUfunction_attribute attribute, CUkernel kernel, CUdevice) {
  return with_function("cuKernelGetAttribute", kernel, [&](Process& p, Function& function) {
    return function_attribute(p, function, attribute, out);
  });
}
SLUICE_DRIVER(cuKernelSetAttribute, CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice) {
  return with_function("cuKernelSetAttribute", kernel, [&](Process& p, Function& function) {
    return set_function_attribute(p, function, attribute, value);
  });
}
SLUICE_DRIVER(cuKernelSetCacheConfig, CUkernel kernel, CUfunc_cache config, CUdevice) {
  return with_function("cuKernelSetCacheConfig", kernel, [&](Process&, Function& function) {
    function.cache = config;
    return kOk;
  });
}
SLUICE_DRIVER(cuKernelGetParamInfo, CUkernel kernel, size_t index, size_t* offset, size_t* bytes) {
  return with_function("cuKernelGetParamInfo", kernel, [&](Process&, Function& function) {
    return parameter_info(function, index, offset, bytes);
  });
}

// --- functions
// ------------------------------------------------------------------------------------------------------

SLUICE_DRIVER(cuFuncGetAttribute, int* out, CUfunction_attribute attribute, CUfunction handle) {
  return with_function("cuFuncGetAttribute", handle, [&](Process& p, Function& function) {
    return function_attribute(p, function, attribute, out);
  });
}
SLUICE_DRIVER(cuFuncSetAttribute, CUfunction handle, CUfunction_attribute attribute, int value) {
  return with_function("cuFuncSetAttribute", handle, [&](Process& p, Function& function) {
    return set_function_attribute(p, function, attribute, value);
  });
}
SLUICE_DRIVER(cuFuncSetCacheConfig, CUfunction handle, CUfunc_cache config) {
  return with_function("cuFuncSetCacheConfig", handle, [&](Process&, Function& function) {
    function.cache = config;
    return kOk;
  });
}
SLUICE_DRIVER(cuFuncSetSharedMemConfig, CUfunction handle, CUsharedconfig) {
  return with_function("cuFuncSetSharedMemConfig", handle, [](Process&, Function&) { return kOk; });
}
SLUICE_DRIVER(cuFuncGetModule, CUmodule* out, CUfunction handle) {
  return with_function("cuFuncGetModule", handle, [&](Process&, Function& function) -> Status {
    if (out == nullptr) return cudaErrorInvalidValue;
    *out = function.module->handle;
    return kOk;
  });
}
SLUICE_DRIVER(cuFuncGetName, const char** out, CUfunction handle) {
  return with_function("cuFuncGetName", handle, [&](Process&, Function& function) -> Status {
    if (out == nullptr) return cudaErrorInvalidValue;
    *out = function.name.c_str();
    return kOk;
  });
}
SLUICE_DRIVER(cuFuncGetParamInfo, CUfunction handle, size_t index, size_t* offset, size_t* bytes) {
  return with_function("cuFuncGetParamInfo", handle, [&](Process&, Function& function) {
    return parameter_info(function, index, offset, bytes);
  });
}
SLUICE_DRIVER(cuFuncIsLoaded, CUfunctionLoadingState* state, CUfunction handle) {
  return driver_call("cuFuncIsLoaded", [&](Process& p) -> Status {
    const Function* function = p.code.find(handle);
    if (function == nullptr) return cudaErrorInvalidResourceHandle;
    if (state == nullptr) return cudaErrorInvalidValue;
    *state =
        function->kernel != nullptr ? CU_FUNCTION_LOADING_STATE_LOADED : CU_FUNCTION_LOADING_STATE_UNLOADED;
    return kOk;
  });
}
SLUICE_DRIVER(cuFuncLoad, CUfunction handle) {
  return with_function("cuFuncLoad", handle, [](Process&, Function&) { return kOk; });
}

// --- launches
// -------------------------------------------------------------------------------------------------------

SLUICE_DRIVER(cuLaunchKernel, CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
              unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared, CUstream stream,
              void** arguments, void** extra) {
  return launch("cuLaunchKernel", function,
                {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, false, nullptr, 0}, stream,
                arguments, extra);
}
SLUICE_DRIVER(cuLaunchCooperativeKernel, CUfunction function, unsigned grid_x, unsigned grid_y,
              unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
              CUstream stream, void** arguments) {
  return launch("cuLaunchCooperativeKernel", function,
                {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, true, nullptr, 0}, stream,
                arguments, nullptr);
}
SLUICE_DRIVER(cuLaunchKernelEx, const CUlaunchConfig* config, CUfunction function, void** arguments,
              void** extra) {
  if (config == nullptr || (config->numAttrs != 0 && config->attrs == nullptr))
    return CUDA_ERROR_INVALID_VALUE;
  return launch("cuLaunchKernelEx", function, shape_of(*config), config->hStream, arguments, extra);
}
SLUICE_DRIVER(cuLaunchHostFunc, CUstream handle, CUhostFn function, void* data) {
  return driver_call("cuLaunchHostFunc", [&](Process& p) -> Status {
    Stream* stream = p.streams.find(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (function == nullptr) return cudaErrorInvalidValue;
    return p.streams.submit(*stream, HostCall{function, data});
  });
}

// --- occupancy
// ------------------------------------------------------------------------------------------------------

SLUICE_DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessor, int* out, CUfunction handle, int threads,
              size_t shared) {
  return with_function(
      "cuOccupancyMaxActiveBlocksPerMultiprocessor", handle,
      [&](Process& p, Function& function) { return active_ctas(p, function, threads, shared, out); });
}
SLUICE_DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, int* out, CUfunction handle, int threads,
              size_t shared, unsigned) {
  return with_function(
      "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", handle,
      [&](Process& p, Function& function) { return active_ctas(p, function, threads, shared, out); });
}
SLUICE_DRIVER(cuOccupancyMaxPotentialBlockSizeWithFlags, int* grid, int* block, CUfunction handle,
              CUoccupancyB2DSize shared_of, size_t shared, int limit, unsigned) {
  return with_function(
      "cuOccupancyMaxPotentialBlockSize", handle, [&](Process& p, Function& function) -> Status {
        if (grid == nullptr || block == nullptr) return cudaErrorInvalidValue;
        int most = 0;
        if (const Status s = function_attribute(p, function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &most);
            s != kOk)
          return s;
        if (limit > 0 && limit < most) most = limit;
        int best_threads = 0;
        *grid = *block = 0;
        for (int threads = most; threads > 0; threads = (threads - 1) / 32 * 32) {
          int ctas = 0;
          const size_t dynamic = shared_of != nullptr ? shared_of(threads) : shared;
          if (const Status s = active_ctas(p, function, threads, dynamic, &ctas); s != kOk) return s;
          if (ctas * threads <= best_threads) continue;
          best_threads = ctas * threads;
          *block = threads;
          *grid = ctas * p.profile.limit(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
        }
        return kOk;
      });
}
SLUICE_DRIVER(cuOccupancyMaxPotentialBlockSize, int* grid, int* block, CUfunction handle,
              CUoccupancyB2DSize shared_of, size_t shared, int limit) {
  return sluice_drv_cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, handle, shared_of, shared, limit,
                                                              0);
}
SLUICE_DRIVER(cuOccupancyAvailableDynamicSMemPerBlock, size_t* out, CUfunction handle, int ctas,
              int threads) {
  return with_function("cuOccupancyAvailableDynamicSMemPerBlock", handle,
                       [&](Process& p, Function& function) {
                         return available_dynamic_shared(p, function, ctas, threads, out);
                       });
}
SLUICE_DRIVER(cuOccupancyMaxPotentialClusterSize, int* out, CUfunction handle, const CUlaunchConfig* config) {
  return with_function(
      "cuOccupancyMaxPotentialClusterSize", handle, [&](Process& p, Function& function) -> Status {
        if (config == nullptr) return cudaErrorInvalidValue;
        const int threads = static_cast<int>(config->blockDimX * config->blockDimY * config->blockDimZ);
        return potential_cluster(p, function, threads, config->sharedMemBytes, out);
      });
}
SLUICE_DRIVER(cuOccupancyMaxActiveClusters, int* out, CUfunction handle, const CUlaunchConfig* config) {
  return with_function("cuOccupancyMaxActiveClusters", handle, [&](Process& p, Function& function) -> Status {
    if (config == nullptr || (config->numAttrs != 0 && config->attrs == nullptr))
      return cudaErrorInvalidValue;
    return resident_clusters(p, function, shape_of(*config), out);
  });
}
