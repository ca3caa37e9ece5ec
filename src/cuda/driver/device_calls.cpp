// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Initialisation, errors, devices and contexts of the driver API.
#include <cstring>

#include "cuda/calls.hpp"
#include "cuda/device_queries.hpp"
#include "cuda/entry_points.hpp"

using namespace sluice::cuda;

namespace {

constexpr int kDriverVersion = 13000;
constexpr unsigned kContextApiVersion = 3020;

// Runs `body` for a device that exists.
template <class Body>
CUresult with_device(const char* name, CUdevice device, Body body) {
  return driver_call(
      name,
      [&](Process& p) -> Status { return p.has_device(device) ? body(p) : Status{cudaErrorInvalidDevice}; },
      Gate::Query);
}

Status make_context(Process& p, CUcontext* out, unsigned flags, CUdevice device) {
  if (out == nullptr) return cudaErrorInvalidValue;
  if (!p.has_device(device)) return cudaErrorInvalidDevice;
  auto context = std::make_unique<Context>();
  context->device = device;
  context->flags = flags;
  Context* raw = context.get();
  *out = raw->handle = p.contexts.add<CUcontext>(std::move(context));
  p.context_stack().push_back(*out);
  return kOk;
}

// The current context, or null.
Context* current(Process& p) {
  auto& stack = p.context_stack();
  return stack.empty() ? nullptr : p.contexts.find(stack.back());
}

}  // namespace

SLUICE_DRIVER(cuInit, unsigned flags) {
  return driver_call(
      "cuInit",
      [&](Process& p) -> Status {
        if (flags != 0) return cudaErrorInvalidValue;
        if (p.device_count() == 0) return cudaErrorNoDevice;
        p.driver_initialised = true;
        return kOk;
      },
      Gate::Open);
}
SLUICE_DRIVER(cuDriverGetVersion, int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = kDriverVersion;
  return CUDA_SUCCESS;
}
SLUICE_DRIVER(cuGetErrorName, CUresult error, const char** out) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = driver_error_name(error);
  return *out != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
SLUICE_DRIVER(cuGetErrorString, CUresult error, const char** out) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = driver_error_name(error) == nullptr ? nullptr : error_text(error);
  return *out != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// --- devices
// --------------------------------------------------------------------------------------------------------

SLUICE_DRIVER(cuDeviceGet, CUdevice* device, int ordinal) {
  return with_device("cuDeviceGet", ordinal, [&](Process&) -> Status {
    if (device == nullptr) return cudaErrorInvalidValue;
    *device = ordinal;
    return kOk;
  });
}
SLUICE_DRIVER(cuDeviceGetCount, int* count) {
  return driver_call(
      "cuDeviceGetCount",
      [&](Process& p) -> Status {
        if (count == nullptr) return cudaErrorInvalidValue;
        *count = p.device_count();
        return kOk;
      },
      Gate::Query);
}
SLUICE_DRIVER(cuDeviceGetName, char* name, int bytes, CUdevice device) {
  return with_device("cuDeviceGetName", device, [&](Process& p) -> Status {
    if (name == nullptr || bytes <= 0) return cudaErrorInvalidValue;
    std::strncpy(name, p.profile.name(), static_cast<size_t>(bytes));
    name[bytes - 1] = '\0';
    return kOk;
  });
}
SLUICE_DRIVER(cuDeviceGetUuid_v2, CUuuid* uuid, CUdevice device) {
  return with_device("cuDeviceGetUuid", device, [&](Process& p) -> Status {
    if (uuid == nullptr) return cudaErrorInvalidValue;
    *uuid = p.profile.uuid(device);
    return kOk;
  });
}
SLUICE_DRIVER_OLD(cuDeviceGetUuid, CUuuid* uuid, CUdevice device) {
  return sluice_drv_cuDeviceGetUuid_v2(uuid, device);
}
SLUICE_DRIVER(cuDeviceTotalMem_v2, size_t* bytes, CUdevice device) {
  return with_device("cuDeviceTotalMem", device, [&](Process& p) -> Status {
    if (bytes == nullptr) return cudaErrorInvalidValue;
    *bytes = p.memory.capacity();
    return kOk;
  });
}
SLUICE_DRIVER(cuDeviceGetAttribute, int* value, CUdevice_attribute attribute, CUdevice device) {
  return with_device("cuDeviceGetAttribute", device, [&](Process& p) -> Status {
    const auto known = p.profile.attribute(attribute, device);
    if (value == nullptr || !known) return cudaErrorInvalidValue;
    *value = *known;
    return kOk;
  });
}
SLUICE_DRIVER(cuDeviceComputeCapability, int* major, int* minor, CUdevice device) {
  return with_device("cuDeviceComputeCapability", device, [&](Process& p) -> Status {
    if (major == nullptr || minor == nullptr) return cudaErrorInvalidValue;
    *major = p.profile.limit(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    *minor = p.profile.limit(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    return kOk;
  });
}
SLUICE_DRIVER(cuDeviceGetProperties, CUdevprop* out, CUdevice device) {
  return with_device("cuDeviceGetProperties", device, [&](Process& p) -> Status {
    if (out == nullptr) return cudaErrorInvalidValue;
    const auto get = [&](CUdevice_attribute a) { return p.profile.limit(a); };
    *out = {get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
            {get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X), get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
             get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)},
            {get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X), get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y),
             get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)},
            get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
            get(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY),
            get(CU_DEVICE_ATTRIBUTE_WARP_SIZE),
            get(CU_DEVICE_ATTRIBUTE_MAX_PITCH),
            get(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK),
            get(CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
            get(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT)};
    return kOk;
  });
}
SLUICE_DRIVER(cuDeviceGetPCIBusId, char* text, int bytes, CUdevice device) {
  return with_device("cuDeviceGetPCIBusId", device,
                     [&](Process& p) { return pci_bus_id(p.profile, device, text, bytes); });
}
SLUICE_DRIVER(cuDeviceGetByPCIBusId, CUdevice* device, const char* text) {
  return driver_call("cuDeviceGetByPCIBusId",
                     [&](Process& p) { return device_by_pci_bus_id(p, text, device); });
}
SLUICE_DRIVER(cuDeviceCanAccessPeer, int* can, CUdevice device, CUdevice peer) {
  return with_device("cuDeviceCanAccessPeer", device, [&](Process& p) -> Status {
    if (can == nullptr) return cudaErrorInvalidValue;
    if (!p.has_device(peer)) return cudaErrorInvalidDevice;
    *can = device != peer;
    return kOk;
  });
}
SLUICE_DRIVER(cuDeviceGetP2PAttribute, int* value, CUdevice_P2PAttribute attribute, CUdevice from,
              CUdevice to) {
  return with_device("cuDeviceGetP2PAttribute", from, [&](Process& p) -> Status {
    if (value == nullptr || from == to) return cudaErrorInvalidValue;
    if (!p.has_device(to)) return cudaErrorInvalidDevice;
    *value = attribute == CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED ||
             attribute == CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED;
    return kOk;
  });
}
SLUICE_DRIVER(cuDeviceGetExecAffinitySupport, int* supported, CUexecAffinityType, CUdevice device) {
  return with_device("cuDeviceGetExecAffinitySupport", device, [&](Process&) -> Status {
    if (supported == nullptr) return cudaErrorInvalidValue;
    *supported = 0;
    return kOk;
  });
}

// --- primary contexts
// -----------------------------------------------------------------------------------------------

SLUICE_DRIVER(cuDevicePrimaryCtxRetain, CUcontext* out, CUdevice device) {
  return with_device("cuDevicePrimaryCtxRetain", device, [&](Process& p) -> Status {
    if (out == nullptr) return cudaErrorInvalidValue;
    Context* context = p.primary_context(device);
    ++context->retained;
    *out = context->handle;
    return kOk;
  });
}
SLUICE_DRIVER(cuDevicePrimaryCtxRelease_v2, CUdevice device) {
  return with_device("cuDevicePrimaryCtxRelease", device, [&](Process& p) -> Status {
    Context* context = p.primary_context(device);
    if (context->retained == 0) return cudaErrorDeviceUninitialized;
    --context->retained;
    return kOk;
  });
}
SLUICE_DRIVER_OLD(cuDevicePrimaryCtxRelease, CUdevice device) {
  return sluice_drv_cuDevicePrimaryCtxRelease_v2(device);
}
SLUICE_DRIVER(cuDevicePrimaryCtxSetFlags_v2, CUdevice device, unsigned flags) {
  return with_device("cuDevicePrimaryCtxSetFlags", device, [&](Process& p) {
    p.primary_context(device)->flags = flags;
    return kOk;
  });
}
SLUICE_DRIVER_OLD(cuDevicePrimaryCtxSetFlags, CUdevice device, unsigned flags) {
  return sluice_drv_cuDevicePrimaryCtxSetFlags_v2(device, flags);
}
SLUICE_DRIVER(cuDevicePrimaryCtxGetState, CUdevice device, unsigned* flags, int* active) {
  return with_device("cuDevicePrimaryCtxGetState", device, [&](Process& p) -> Status {
    if (flags == nullptr || active == nullptr) return cudaErrorInvalidValue;
    const Context* context = p.primary_context(device);
    *flags = context->flags;
    *active = context->retained > 0 || current(p) == context;
    return kOk;
  });
}
SLUICE_DRIVER(cuDevicePrimaryCtxReset_v2, CUdevice device) {
  return with_device("cuDevicePrimaryCtxReset", device, [&](Process& p) { return p.reset(device); });
}
SLUICE_DRIVER_OLD(cuDevicePrimaryCtxReset, CUdevice device) {
  return sluice_drv_cuDevicePrimaryCtxReset_v2(device);
}

// --- contexts
// -------------------------------------------------------------------------------------------------------

SLUICE_DRIVER(cuCtxCreate_v4, CUcontext* out, CUctxCreateParams* parameters, unsigned flags,
              CUdevice device) {
  return driver_call("cuCtxCreate", [&](Process& p) -> Status {
    if (parameters != nullptr && parameters->numExecAffinityParams != 0) return cudaErrorNotSupported;
    return make_context(p, out, flags, device);
  });
}
SLUICE_DRIVER_OLD(cuCtxCreate_v3, CUcontext* out, CUexecAffinityParam*, int count, unsigned flags,
                  CUdevice device) {
  return driver_call("cuCtxCreate", [&](Process& p) -> Status {
    if (count != 0) return cudaErrorNotSupported;
    return make_context(p, out, flags, device);
  });
}
SLUICE_DRIVER_OLD(cuCtxCreate_v2, CUcontext* out, unsigned flags, CUdevice device) {
  return driver_call("cuCtxCreate", [&](Process& p) { return make_context(p, out, flags, device); });
}
SLUICE_DRIVER(cuCtxDestroy_v2, CUcontext handle) {
  return driver_call("cuCtxDestroy", [&](Process& p) -> Status {
    const Context* context = p.contexts.find(handle);
    if (context == nullptr || context->primary) return cudaErrorDeviceUninitialized;
    const Status status = p.synchronise();
    auto& stack = p.context_stack();
    if (!stack.empty() && stack.back() == handle) stack.pop_back();
    p.contexts.take(handle);
    return status;
  });
}
SLUICE_DRIVER_OLD(cuCtxDestroy, CUcontext handle) {
  return sluice_drv_cuCtxDestroy_v2(handle);
}
SLUICE_DRIVER(cuCtxPushCurrent_v2, CUcontext handle) {
  return driver_call("cuCtxPushCurrent", [&](Process& p) -> Status {
    if (p.contexts.find(handle) == nullptr) return cudaErrorDeviceUninitialized;
    p.context_stack().push_back(handle);
    return kOk;
  });
}
SLUICE_DRIVER(cuCtxPopCurrent_v2, CUcontext* out) {
  return driver_call("cuCtxPopCurrent", [&](Process& p) -> Status {
    auto& stack = p.context_stack();
    if (stack.empty()) return cudaErrorDeviceUninitialized;
    if (out != nullptr) *out = stack.back();
    stack.pop_back();
    return kOk;
  });
}
SLUICE_DRIVER(cuCtxSetCurrent, CUcontext handle) {
  return driver_call("cuCtxSetCurrent", [&](Process& p) -> Status {
    auto& stack = p.context_stack();
    if (handle != nullptr && p.contexts.find(handle) == nullptr) return cudaErrorDeviceUninitialized;
    if (!stack.empty()) stack.pop_back();
    if (handle != nullptr) stack.push_back(handle);
    return kOk;
  });
}
SLUICE_DRIVER(cuCtxGetCurrent, CUcontext* out) {
  return driver_call("cuCtxGetCurrent", [&](Process& p) -> Status {
    if (out == nullptr) return cudaErrorInvalidValue;
    const Context* context = current(p);
    *out = context == nullptr ? nullptr : context->handle;
    return kOk;
  });
}
SLUICE_DRIVER(cuCtxGetDevice, CUdevice* out) {
  return driver_call("cuCtxGetDevice", [&](Process& p) -> Status {
    const Context* context = current(p);
    if (context == nullptr) return cudaErrorDeviceUninitialized;
    if (out == nullptr) return cudaErrorInvalidValue;
    *out = context->device;
    return kOk;
  });
}
SLUICE_DRIVER(cuCtxGetFlags, unsigned* out) {
  return driver_call("cuCtxGetFlags", [&](Process& p) -> Status {
    const Context* context = current(p);
    if (context == nullptr) return cudaErrorDeviceUninitialized;
    if (out == nullptr) return cudaErrorInvalidValue;
    *out = context->flags;
    return kOk;
  });
}
SLUICE_DRIVER(cuCtxGetId, CUcontext handle, unsigned long long* id) {
  return driver_call("cuCtxGetId", [&](Process& p) -> Status {
    const Context* context = handle == nullptr ? current(p) : p.contexts.find(handle);
    if (context == nullptr) return cudaErrorDeviceUninitialized;
    if (id == nullptr) return cudaErrorInvalidValue;
    *id = (reinterpret_cast<uint64_t>(context->handle) & 0xffff'ffff) / 16;
    return kOk;
  });
}
SLUICE_DRIVER(cuCtxGetApiVersion, CUcontext handle, unsigned* version) {
  return driver_call("cuCtxGetApiVersion", [&](Process& p) -> Status {
    if (handle != nullptr && p.contexts.find(handle) == nullptr) return cudaErrorDeviceUninitialized;
    if (version == nullptr) return cudaErrorInvalidValue;
    *version = kContextApiVersion;
    return kOk;
  });
}
SLUICE_DRIVER(cuCtxSynchronize) {
  return driver_call("cuCtxSynchronize", [](Process& p) -> Status {
    if (current(p) == nullptr) return cudaErrorDeviceUninitialized;
    if (const Status s = p.streams.forbid_while_capturing(); s != kOk) return s;
    return p.synchronise();
  });
}
SLUICE_DRIVER(cuCtxGetLimit, size_t* value, CUlimit limit) {
  return driver_call("cuCtxGetLimit", [&](Process& p) { return device_limit(p, limit, value); });
}
SLUICE_DRIVER(cuCtxSetLimit, CUlimit limit, size_t value) {
  return driver_call("cuCtxSetLimit", [&](Process& p) { return set_device_limit(p, limit, value); });
}
SLUICE_DRIVER(cuCtxGetCacheConfig, CUfunc_cache* config) {
  return driver_call("cuCtxGetCacheConfig", [&](Process&) -> Status {
    if (config == nullptr) return cudaErrorInvalidValue;
    *config = CU_FUNC_CACHE_PREFER_NONE;
    return kOk;
  });
}
SLUICE_DRIVER(cuCtxSetCacheConfig, CUfunc_cache) {
  return driver_call("cuCtxSetCacheConfig", [](Process&) { return kOk; });
}
SLUICE_DRIVER(cuCtxGetStreamPriorityRange, int* least, int* greatest) {
  return driver_call("cuCtxGetStreamPriorityRange", [&](Process&) {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = kGreatestPriority;
    return kOk;
  });
}
SLUICE_DRIVER(cuCtxResetPersistingL2Cache) {
  return driver_call("cuCtxResetPersistingL2Cache", [](Process&) { return kOk; });
}
SLUICE_DRIVER(cuCtxEnablePeerAccess, CUcontext peer, unsigned flags) {
  return driver_call("cuCtxEnablePeerAccess", [&](Process& p) -> Status {
    const Context* other = p.contexts.find(peer);
    if (other == nullptr) return cudaErrorDeviceUninitialized;
    if (flags != 0) return cudaErrorInvalidValue;
    return enable_peer_access(p, p.current_device(), other->device);
  });
}
SLUICE_DRIVER(cuCtxDisablePeerAccess, CUcontext peer) {
  return driver_call("cuCtxDisablePeerAccess", [&](Process& p) -> Status {
    const Context* other = p.contexts.find(peer);
    if (other == nullptr) return cudaErrorDeviceUninitialized;
    return disable_peer_access(p, p.current_device(), other->device);
  });
}

// --- entry points
// ---------------------------------------------------------------------------------------------------

SLUICE_DRIVER(cuGetProcAddress_v2, const char* name, void** out, int version, cuuint64_t flags,
              CUdriverProcAddressQueryResult* result) {
  note_lookup(__builtin_return_address(0));
  return driver_call(
      "cuGetProcAddress",
      [&](Process&) -> Status {
        if (name == nullptr || out == nullptr) return cudaErrorInvalidValue;
        CUdriverProcAddressQueryResult found{};
        *out =
            entry_point(name, version, (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0, &found);
        if (result != nullptr) *result = found;
        return *out != nullptr ? cudaSuccess : cudaErrorSymbolNotFound;
      },
      Gate::Open);
}
SLUICE_DRIVER_OLD(cuGetProcAddress, const char* name, void** out, int version, cuuint64_t flags) {
  note_lookup(__builtin_return_address(0));
  return sluice_drv_cuGetProcAddress_v2(name, out, version, flags, nullptr);
}
// A runtime inside a library cannot go on without its tables. A compiler (NVRTC, nvJitLink) asks for a
// profiler's and can.
SLUICE_DRIVER(cuGetExportTable, const void** table, const CUuuid*) {
  if (table != nullptr) *table = nullptr;
  const void* const caller = __builtin_return_address(0);
  return driver_call(
      "cuGetExportTable",
      [&](Process& p) {
        if (has_looked_up(caller)) say_internal_table(p, caller);
        return cudaErrorNotSupported;
      },
      Gate::Open);
}
SLUICE_DRIVER(cuProfilerStart) {
  return driver_call("cuProfilerStart", [](Process&) { return kOk; });
}
SLUICE_DRIVER(cuProfilerStop) {
  return driver_call("cuProfilerStop", [](Process&) { return kOk; });
}
