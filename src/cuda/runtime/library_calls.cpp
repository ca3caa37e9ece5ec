// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Libraries loaded at run time, and entry points of the driver, in the runtime API.
#include <cstring>

#include "cuda/calls.hpp"
#include "cuda/entry_points.hpp"
#include "cuda/library.hpp"

using namespace sluice::cuda;

SLUICE_RUNTIME(cudaLibraryLoadData, cudaLibrary_t* out, const void* code, cudaJitOption*, void**, unsigned,
               cudaLibraryOption*, void**, unsigned) {
  return runtime_call("cudaLibraryLoadData", [&](Process& p) { return load_library(p, code, out); });
}
SLUICE_RUNTIME(cudaLibraryLoadFromFile, cudaLibrary_t* out, const char* file, cudaJitOption*, void**,
               unsigned, cudaLibraryOption*, void**, unsigned) {
  return runtime_call("cudaLibraryLoadFromFile", [&](Process& p) { return load_library_file(p, file, out); });
}
SLUICE_RUNTIME(cudaLibraryUnload, cudaLibrary_t library) {
  return runtime_call("cudaLibraryUnload", [&](Process& p) { return p.code.unload(module_of(library)); });
}
SLUICE_RUNTIME(cudaLibraryGetKernel, cudaKernel_t* out, cudaLibrary_t library, const char* name) {
  return runtime_call("cudaLibraryGetKernel", [&](Process& p) {
    return find_function(p, module_of(library), name, reinterpret_cast<CUfunction*>(out));
  });
}
SLUICE_RUNTIME(cudaLibraryGetKernelCount, unsigned* out, cudaLibrary_t library) {
  return runtime_call("cudaLibraryGetKernelCount",
                      [&](Process& p) { return function_count(p, module_of(library), out); });
}
SLUICE_RUNTIME(cudaLibraryEnumerateKernels, cudaKernel_t* out, unsigned count, cudaLibrary_t library) {
  return runtime_call("cudaLibraryEnumerateKernels", [&](Process& p) {
    return list_functions(p, module_of(library), reinterpret_cast<CUfunction*>(out), count);
  });
}
SLUICE_RUNTIME(cudaLibraryGetGlobal, void** out, size_t* bytes, cudaLibrary_t library, const char* name) {
  return runtime_call("cudaLibraryGetGlobal", [&](Process& p) {
    return find_variable(p, module_of(library), name, reinterpret_cast<CUdeviceptr*>(out), bytes);
  });
}
SLUICE_RUNTIME(cudaLibraryGetManaged, void** out, size_t* bytes, cudaLibrary_t library, const char* name) {
  return runtime_call("cudaLibraryGetManaged", [&](Process& p) {
    return find_managed(p, module_of(library), name, reinterpret_cast<CUdeviceptr*>(out), bytes);
  });
}

SLUICE_RUNTIME(cudaGetDriverEntryPoint, const char* symbol, void** out, unsigned long long flags,
               cudaDriverEntryPointQueryResult* result) {
  return runtime_call("cudaGetDriverEntryPoint", [&](Process&) {
    return runtime_entry_point(symbol, CUDA_VERSION, flags, out,
                               reinterpret_cast<CUdriverProcAddressQueryResult*>(result));
  });
}
SLUICE_RUNTIME(cudaGetDriverEntryPointByVersion, const char* symbol, void** out, unsigned version,
               unsigned long long flags, cudaDriverEntryPointQueryResult* result) {
  return runtime_call("cudaGetDriverEntryPointByVersion", [&](Process&) {
    return runtime_entry_point(symbol, static_cast<int>(version), flags, out,
                               reinterpret_cast<CUdriverProcAddressQueryResult*>(result));
  });
}
SLUICE_EXPORT cudaError_t sluice_rt_cudaGetDriverEntryPoint_ptsz(const char* symbol, void** out,
                                                                 unsigned long long flags,
                                                                 cudaDriverEntryPointQueryResult* result) {
  return sluice_rt_cudaGetDriverEntryPoint(symbol, out, flags | cudaEnablePerThreadDefaultStream, result);
}
SLUICE_EXPORT cudaError_t sluice_rt_cudaGetDriverEntryPointByVersion_ptsz(
    const char* symbol, void** out, unsigned version, unsigned long long flags,
    cudaDriverEntryPointQueryResult* result) {
  return sluice_rt_cudaGetDriverEntryPointByVersion(symbol, out, version,
                                                    flags | cudaEnablePerThreadDefaultStream, result);
}

// NVIDIA's own libraries ask for internal tables here; who has kernels is named, since it cannot go on
// without.
SLUICE_EXPORT cudaError_t sluice_rt_cudaGetExportTable(const void** table, const cudaUUID_t*) {
  if (table != nullptr) *table = nullptr;
  const void* const caller = __builtin_return_address(0);
  return runtime_call("cudaGetExportTable", [&](Process& p) {
    say_internal_table(p, caller);
    return cudaErrorNotSupported;
  });
}
