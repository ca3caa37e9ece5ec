// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Attributes, parameters and occupancy of kernels.
#include "cuda/function_queries.hpp"

#include <algorithm>

#include "cuda/process.hpp"

namespace sluice::cuda {
namespace {

int optin_shared(const Process& process) {
  return process.profile.limit(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
}

int local_bytes(const machine::Kernel& kernel) {
  return kernel.functions.empty() ? 0 : static_cast<int>(kernel.functions.front()->local_bytes);
}

// Threads per CTA beyond which a launch fails, for bounds or for registers.
int max_threads(const Function& function) {
  const machine::Kernel& kernel = *function.kernel;
  int threads = static_cast<int>(std::min<uint32_t>(kernel.max_threads(), 1024));
  const int registers = resources_of(function, 1, 0).registers;
  threads = std::min(threads, 65536 / std::max(registers, 1) / 32 * 32);
  return threads;
}

}  // namespace

Status fill_attributes(Process& process, const Function& function, cudaFuncAttributes* out) {
  if (function.kernel == nullptr) return cudaErrorNotSupported;
  const machine::Kernel& kernel = *function.kernel;
  const ptx::Module& module = process.machine.module(function.module->machine_module);
  *out = {};
  out->sharedSizeBytes = kernel.static_shared;
  for (const ptx::Variable& variable : module.variables) {
    if (variable.space == ptx::Space::const_) out->constSizeBytes += variable.size;
  }
  out->localSizeBytes = static_cast<size_t>(local_bytes(kernel));
  out->maxThreadsPerBlock = max_threads(function);
  out->numRegs = resources_of(function, 1, 0).registers;
  out->ptxVersion = static_cast<int>(module.target.sm);
  out->binaryVersion = 90;
  out->maxDynamicSharedSizeBytes = static_cast<int>(function.max_dynamic_shared);
  out->preferredShmemCarveout = function.carveout;
  out->clusterDimMustBeSet = kernel.directives.explicitcluster && function.required_cluster[0] == 0;
  out->requiredClusterWidth = static_cast<int>(function.required_cluster[0]);
  out->requiredClusterHeight = static_cast<int>(function.required_cluster[1]);
  out->requiredClusterDepth = static_cast<int>(function.required_cluster[2]);
  out->clusterSchedulingPolicyPreference = function.cluster_policy;
  out->nonPortableClusterSizeAllowed = function.non_portable_cluster;
  return kOk;
}

Status function_attribute(Process& process, const Function& function, CUfunction_attribute attribute,
                          int* out) {
  if (out == nullptr) return cudaErrorInvalidValue;
  cudaFuncAttributes all{};
  if (const Status s = fill_attributes(process, function, &all); s != kOk) return s;
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *out = all.maxThreadsPerBlock;
      break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *out = static_cast<int>(all.sharedSizeBytes);
      break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      *out = static_cast<int>(all.constSizeBytes);
      break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *out = static_cast<int>(all.localSizeBytes);
      break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *out = all.numRegs;
      break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      *out = all.ptxVersion;
      break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *out = all.binaryVersion;
      break;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
      *out = all.cacheModeCA;
      break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *out = all.maxDynamicSharedSizeBytes;
      break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      *out = all.preferredShmemCarveout;
      break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
      *out = all.clusterDimMustBeSet;
      break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
      *out = all.requiredClusterWidth;
      break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
      *out = all.requiredClusterHeight;
      break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      *out = all.requiredClusterDepth;
      break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      *out = all.nonPortableClusterSizeAllowed;
      break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      *out = all.clusterSchedulingPolicyPreference;
      break;
    default:
      return cudaErrorInvalidValue;
  }
  return kOk;
}

Status set_function_attribute(Process& process, Function& function, CUfunction_attribute attribute,
                              int value) {
  if (function.kernel == nullptr) return cudaErrorNotSupported;
  const bool has_required = function.kernel->directives.reqnctapercluster[0] != 0;
  const auto set_extent = [&](int axis) -> Status {
    if (has_required) return cudaErrorNotPermitted;
    if (value < 0) return cudaErrorInvalidValue;
    function.required_cluster[axis] = static_cast<uint32_t>(value);
    return kOk;
  };
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      if (value < 0 || value + static_cast<int>(function.kernel->static_shared) > optin_shared(process)) {
        return cudaErrorInvalidValue;
      }
      function.max_dynamic_shared = static_cast<uint32_t>(value);
      return kOk;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      if (value < -1 || value > 100) return cudaErrorInvalidValue;
      function.carveout = value;
      return kOk;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      function.non_portable_cluster = value != 0;
      return kOk;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
      return set_extent(0);
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
      return set_extent(1);
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      return set_extent(2);
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      function.cluster_policy = value;
      return kOk;
    default:
      return cudaErrorInvalidValue;
  }
}

Status parameter_info(const Function& function, size_t index, size_t* offset, size_t* bytes) {
  if (function.kernel == nullptr) return cudaErrorNotSupported;
  const auto& parameters = function.kernel->parameters;
  if (offset == nullptr || index >= parameters.size()) return cudaErrorInvalidValue;
  *offset = parameters[index].offset;
  if (bytes != nullptr) *bytes = parameters[index].bytes;
  return kOk;
}

Status active_ctas(Process& process, const Function& function, int threads, size_t shared, int* out) {
  if (out == nullptr || threads <= 0) return cudaErrorInvalidValue;
  if (function.kernel == nullptr) return cudaErrorNotSupported;
  const bool fits = function.kernel->static_shared + shared <= static_cast<size_t>(optin_shared(process)) &&
                    threads <= max_threads(function);
  *out = fits ? ctas_per_multiprocessor(process.profile, resources_of(function, threads, shared)) : 0;
  return kOk;
}

Status available_dynamic_shared(Process& process, const Function& function, int ctas, int threads,
                                size_t* out) {
  if (out == nullptr || ctas <= 0 || threads <= 0) return cudaErrorInvalidValue;
  if (function.kernel == nullptr) return cudaErrorNotSupported;
  const int capacity = process.profile.limit(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  // As on an H200, the part that the system reserves in each CTA is not taken off.
  const int used = static_cast<int>(function.kernel->static_shared);
  const int share = std::min(capacity / ctas / 128 * 128, optin_shared(process));
  *out = share > used ? static_cast<size_t>(share - used) : 0;
  return kOk;
}

Status potential_cluster(Process& process, const Function& function, int threads, size_t shared, int* out) {
  if (out == nullptr || threads <= 0) return cudaErrorInvalidValue;
  if (function.kernel == nullptr) return cudaErrorNotSupported;
  const int limit =
      function.non_portable_cluster ? static_cast<int>(process.machine.limits().max_cluster) : 8;
  const KernelResources resources = resources_of(function, threads, shared);
  *out = 0;
  for (int size = 1; size <= limit; size *= 2) {
    if (active_clusters(process.profile, resources, size) > 0) *out = size;
  }
  return kOk;
}

Status resident_clusters(Process& process, const Function& function, const LaunchShape& shape, int* out) {
  if (out == nullptr) return cudaErrorInvalidValue;
  if (function.kernel == nullptr) return cudaErrorNotSupported;
  const auto& required = function.required_cluster;
  uint32_t ctas = required[0] != 0 ? required[0] * required[1] * required[2] : 1;
  for (size_t i = 0; i < shape.attribute_count; ++i) {
    if (shape.attributes[i].id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) continue;
    const auto& cluster = shape.attributes[i].value.clusterDim;
    ctas = cluster.x * cluster.y * cluster.z;
  }
  const uint32_t limit = function.non_portable_cluster ? process.machine.limits().max_cluster : 8;
  if (ctas == 0 || ctas > limit) return cudaErrorInvalidClusterSize;
  const int threads = static_cast<int>(shape.block[0] * shape.block[1] * shape.block[2]);
  *out = active_clusters(process.profile, resources_of(function, threads, shape.dynamic_shared),
                         static_cast<int>(ctas));
  return kOk;
}

Status record_launch_events(Process& process, const LaunchShape& shape, Stream& stream) {
  for (size_t i = 0; i < shape.attribute_count; ++i) {
    const CUlaunchAttribute& attribute = shape.attributes[i];
    CUevent event = nullptr;
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT)
      event = attribute.value.programmaticEvent.event;
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
      event = attribute.value.launchCompletionEvent.event;
    if (event == nullptr) continue;
    if (const Status s = process.streams.submit(stream, EventRecord{event}); s != kOk) return s;
  }
  return kOk;
}

}  // namespace sluice::cuda
