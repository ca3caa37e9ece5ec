// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Explicit loading and look-up.
#include "cuda/library.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "cuda/process.hpp"

namespace sluice::cuda {
namespace {

// Fills the log buffers that the options name.
void answer_options(const JitOptions& options, const std::string& log) {
  const auto number = [&](unsigned i) { return reinterpret_cast<uintptr_t>(options.values[i]); };
  size_t error_bytes = 0, info_bytes = 0;
  for (unsigned i = 0; i < options.count; ++i) {
    if (options.keys[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) error_bytes = number(i);
    if (options.keys[i] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES) info_bytes = number(i);
  }
  for (unsigned i = 0; i < options.count; ++i) {
    char* buffer = static_cast<char*>(options.values[i]);
    if (options.keys[i] == CU_JIT_ERROR_LOG_BUFFER && buffer != nullptr && error_bytes != 0) {
      const size_t n = std::min(log.size(), error_bytes - 1);
      std::memcpy(buffer, log.data(), n);
      buffer[n] = '\0';
    } else if (options.keys[i] == CU_JIT_INFO_LOG_BUFFER && buffer != nullptr && info_bytes != 0) {
      buffer[0] = '\0';
    }
  }
}

}  // namespace

Status load_module(Process& process, const void* image, const JitOptions& options, CUmodule* out) {
  if (out == nullptr || image == nullptr) return cudaErrorInvalidValue;
  if (options.count != 0 && (options.keys == nullptr || options.values == nullptr))
    return cudaErrorInvalidValue;
  LoadFailure failure;
  const Status status = process.code.load(image, process.current_device(), out, &failure);
  answer_options(options, failure.log);
  return status;
}

Status load_module_file(Process& process, const char* file, const JitOptions& options, CUmodule* out) {
  if (file == nullptr) return cudaErrorInvalidValue;
  std::ifstream in(file, std::ios::binary);
  if (!in) return cudaErrorFileNotFound;
  // A NUL behind the bytes ends a PTX text.
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  return load_module(process, bytes.c_str(), options, out);
}

Status find_function(Process& process, CUmodule handle, const char* name, CUfunction* out) {
  if (out == nullptr || name == nullptr) return cudaErrorInvalidValue;
  const Module* module = process.code.find_module(handle);
  if (module == nullptr) return cudaErrorInvalidResourceHandle;
  const auto it = module->by_name.find(name);
  if (it == module->by_name.end()) return cudaErrorSymbolNotFound;
  *out = it->second;
  return kOk;
}

Status function_count(Process& process, CUmodule handle, unsigned* out) {
  const Module* module = process.code.find_module(handle);
  if (module == nullptr) return cudaErrorInvalidResourceHandle;
  if (out == nullptr) return cudaErrorInvalidValue;
  *out = static_cast<unsigned>(module->functions.size());
  return kOk;
}

Status list_functions(Process& process, CUmodule handle, CUfunction* out, unsigned count) {
  const Module* module = process.code.find_module(handle);
  if (module == nullptr) return cudaErrorInvalidResourceHandle;
  if (out == nullptr || count == 0) return cudaErrorInvalidValue;
  std::copy_n(module->functions.begin(), std::min<size_t>(count, module->functions.size()), out);
  return kOk;
}

Status find_variable(Process& process, CUmodule handle, const char* name, CUdeviceptr* out, size_t* bytes) {
  if (name == nullptr) return cudaErrorInvalidValue;
  const Module* module = process.code.find_module(handle);
  if (module == nullptr) return cudaErrorInvalidResourceHandle;
  const auto it = module->variables.find(name);
  if (it == module->variables.end()) return cudaErrorSymbolNotFound;
  if (out != nullptr) *out = it->second.address;
  if (bytes != nullptr) *bytes = it->second.bytes;
  return kOk;
}

Status find_managed(Process& process, CUmodule handle, const char* name, CUdeviceptr* out, size_t* bytes) {
  if (const Status s = find_variable(process, handle, name, out, bytes); s != kOk) return s;
  const Module* module = process.code.find_module(handle);
  return module->variables.at(name).managed ? cudaSuccess : cudaErrorSymbolNotFound;
}

}  // namespace sluice::cuda
