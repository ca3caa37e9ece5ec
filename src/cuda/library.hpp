// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Modules and libraries loaded by the program itself. A CUlibrary is the module of the current device.
#pragma once

#include <cuda.h>

#include <cstddef>

#include "cuda/code.hpp"
#include "cuda/errors.hpp"

namespace sluice::cuda {

inline CUmodule module_of(const void* library) {
  return static_cast<CUmodule>(const_cast<void*>(library));
}

/// JIT options of a load that want an answer.
struct JitOptions {
  unsigned count = 0;
  CUjit_option* keys = nullptr;
  void** values = nullptr;
};

Status load_module(Process& process, const void* image, const JitOptions& options, CUmodule* out);
Status load_module_file(Process& process, const char* file, const JitOptions& options, CUmodule* out);

/// `Library` is CUlibrary or cudaLibrary_t.
template <class Library>
Status load_library(Process& process, const void* image, Library* out) {
  return load_module(process, image, {}, reinterpret_cast<CUmodule*>(out));
}
template <class Library>
Status load_library_file(Process& process, const char* file, Library* out) {
  return load_module_file(process, file, {}, reinterpret_cast<CUmodule*>(out));
}

/// CUDA_ERROR_NOT_FOUND (cudaErrorSymbolNotFound) where the name is unknown.
Status find_function(Process& process, CUmodule module, const char* name, CUfunction* out);
Status function_count(Process& process, CUmodule module, unsigned* out);
Status list_functions(Process& process, CUmodule module, CUfunction* out, unsigned count);
Status find_variable(Process& process, CUmodule module, const char* name, CUdeviceptr* out, size_t* bytes);
Status find_managed(Process& process, CUmodule module, const char* name, CUdeviceptr* out, size_t* bytes);

}  // namespace sluice::cuda
