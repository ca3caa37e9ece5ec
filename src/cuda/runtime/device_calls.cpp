// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Devices, limits, versions and errors of the runtime API.
#include <cstdlib>
#include <cstring>
#include <utility>

#include "cuda/calls.hpp"
#include "cuda/device_queries.hpp"
#include "cuda/runtime/properties_12.hpp"

using namespace sluice::cuda;

namespace {

/// What the engine says to be: the newest runtime whose calls it knows, and a driver of the same age.
constexpr int kVersion13 = 13000;
constexpr int kVersion12 = 12090;

}  // namespace

SLUICE_RUNTIME(cudaGetDeviceCount, int* count) {
  return runtime_call(
      "cudaGetDeviceCount",
      [&](Process& p) -> Status {
        if (count == nullptr) return cudaErrorInvalidValue;
        *count = p.device_count();
        // A child of fork and a host function may count.
        return p.start_runtime();
      },
      Gate::Open);
}

SLUICE_RUNTIME(cudaGetDevice, int* device) {
  return runtime_call(
      "cudaGetDevice",
      [&](Process& p) -> Status {
        if (device == nullptr) return cudaErrorInvalidValue;
        *device = p.current_device();
        return kOk;
      },
      Gate::Query);
}

SLUICE_RUNTIME(cudaSetDevice, int device) {
  return runtime_call(
      "cudaSetDevice",
      [&](Process& p) -> Status {
        if (!p.has_device(device)) return cudaErrorInvalidDevice;
        p.set_current_device(device);
        return kOk;
      },
      Gate::Query);
}

SLUICE_RUNTIME(cudaInitDevice, int device, unsigned, unsigned) {
  return runtime_call("cudaInitDevice", [&](Process& p) -> Status {
    return p.has_device(device) ? cudaSuccess : cudaErrorInvalidDevice;
  });
}

SLUICE_RUNTIME(cudaSetDeviceFlags, unsigned flags) {
  return runtime_call("cudaSetDeviceFlags", [&](Process& p) -> Status {
    if ((flags & ~unsigned{cudaDeviceMask}) != 0) return cudaErrorInvalidValue;
    p.primary_context(p.current_device())->flags = flags;
    return kOk;
  });
}

SLUICE_RUNTIME(cudaGetDeviceFlags, unsigned* flags) {
  return runtime_call("cudaGetDeviceFlags", [&](Process& p) -> Status {
    if (flags == nullptr) return cudaErrorInvalidValue;
    *flags = p.primary_context(p.current_device())->flags | cudaDeviceMapHost;
    return kOk;
  });
}

SLUICE_RUNTIME(cudaSetValidDevices, int* devices, int count) {
  return runtime_call("cudaSetValidDevices", [&](Process& p) -> Status {
    if (count != 0 && devices == nullptr) return cudaErrorInvalidValue;
    for (int i = 0; i < count; ++i) {
      if (!p.has_device(devices[i])) return cudaErrorInvalidDevice;
    }
    return kOk;
  });
}

SLUICE_RUNTIME(cudaChooseDevice, int* device, const cudaDeviceProp* wanted) {
  return runtime_call("cudaChooseDevice", [&](Process&) -> Status {
    if (device == nullptr || wanted == nullptr) return cudaErrorInvalidValue;
    *device = 0;
    return kOk;
  });
}

SLUICE_RUNTIME(cudaGetDeviceProperties, cudaDeviceProp* out, int device) {
  return runtime_call(
      "cudaGetDeviceProperties",
      [&](Process& p) -> Status {
        if (out == nullptr) return cudaErrorInvalidValue;
        if (!p.has_device(device)) return cudaErrorInvalidDevice;
        fill_properties(p.profile, device, out);
        return kOk;
      },
      Gate::Query);
}

SLUICE_RUNTIME_12(cudaGetDeviceProperties_v2, DeviceProperties12* out, int device) {
  return runtime_call(
      "cudaGetDeviceProperties",
      [&](Process& p) -> Status {
        if (out == nullptr) return cudaErrorInvalidValue;
        if (!p.has_device(device)) return cudaErrorInvalidDevice;
        fill_properties(p.profile, device, out);
        return kOk;
      },
      Gate::Query);
}

// The form of CUDA 11 ends before the members that CUDA 12 added; its size is what the caller has reserved.
SLUICE_RUNTIME_12(cudaGetDeviceProperties, void* out, int device) {
  return runtime_call(
      "cudaGetDeviceProperties",
      [&](Process& p) -> Status {
        if (out == nullptr) return cudaErrorInvalidValue;
        if (!p.has_device(device)) return cudaErrorInvalidDevice;
        DeviceProperties12 properties;
        fill_properties(p.profile, device, &properties);
        std::memcpy(out, &properties, kDeviceProperties11Bytes);
        return kOk;
      },
      Gate::Query);
}

SLUICE_RUNTIME(cudaDeviceGetAttribute, int* value, cudaDeviceAttr attribute, int device) {
  return runtime_call(
      "cudaDeviceGetAttribute",
      [&](Process& p) -> Status {
        if (value == nullptr) return cudaErrorInvalidValue;
        if (!p.has_device(device)) return cudaErrorInvalidDevice;
        const auto known = p.profile.attribute(static_cast<CUdevice_attribute>(attribute), device);
        if (!known) return cudaErrorInvalidValue;
        *value = *known;
        return kOk;
      },
      Gate::Query);
}

SLUICE_RUNTIME(cudaDeviceGetPCIBusId, char* text, int bytes, int device) {
  return runtime_call(
      "cudaDeviceGetPCIBusId",
      [&](Process& p) -> Status {
        if (!p.has_device(device)) return cudaErrorInvalidDevice;
        return pci_bus_id(p.profile, device, text, bytes);
      },
      Gate::Query);
}

SLUICE_RUNTIME(cudaDeviceGetByPCIBusId, int* device, const char* text) {
  return runtime_call(
      "cudaDeviceGetByPCIBusId", [&](Process& p) { return device_by_pci_bus_id(p, text, device); },
      Gate::Query);
}

SLUICE_RUNTIME(cudaDeviceSynchronize) {
  return runtime_call("cudaDeviceSynchronize", [](Process& p) -> Status {
    if (const Status s = p.streams.forbid_while_capturing(); s != kOk) return s;
    return p.synchronise();
  });
}

SLUICE_RUNTIME(cudaDeviceReset) {
  return runtime_call(
      "cudaDeviceReset", [](Process& p) { return p.reset(p.current_device()); }, Gate::Query);
}

SLUICE_RUNTIME(cudaDeviceGetLimit, size_t* value, cudaLimit limit) {
  return runtime_call("cudaDeviceGetLimit",
                      [&](Process& p) { return device_limit(p, static_cast<CUlimit>(limit), value); });
}

SLUICE_RUNTIME(cudaDeviceSetLimit, cudaLimit limit, size_t value) {
  return runtime_call("cudaDeviceSetLimit",
                      [&](Process& p) { return set_device_limit(p, static_cast<CUlimit>(limit), value); });
}

SLUICE_RUNTIME(cudaDeviceGetCacheConfig, cudaFuncCache* config) {
  return runtime_call("cudaDeviceGetCacheConfig", [&](Process&) -> Status {
    if (config == nullptr) return cudaErrorInvalidValue;
    *config = cudaFuncCachePreferNone;
    return kOk;
  });
}

SLUICE_RUNTIME(cudaDeviceSetCacheConfig, cudaFuncCache) {
  return runtime_call("cudaDeviceSetCacheConfig", [](Process&) { return kOk; });
}

SLUICE_RUNTIME(cudaDeviceGetSharedMemConfig, cudaSharedMemConfig* config) {
  return runtime_call("cudaDeviceGetSharedMemConfig", [&](Process&) -> Status {
    if (config == nullptr) return cudaErrorInvalidValue;
    *config = cudaSharedMemBankSizeFourByte;
    return kOk;
  });
}

SLUICE_RUNTIME(cudaDeviceSetSharedMemConfig, cudaSharedMemConfig) {
  return runtime_call("cudaDeviceSetSharedMemConfig", [](Process&) { return kOk; });
}

SLUICE_RUNTIME(cudaCtxResetPersistingL2Cache) {
  return runtime_call("cudaCtxResetPersistingL2Cache", [](Process&) { return kOk; });
}

SLUICE_RUNTIME(cudaDeviceGetStreamPriorityRange, int* least, int* greatest) {
  return runtime_call("cudaDeviceGetStreamPriorityRange", [&](Process&) {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = kGreatestPriority;
    return kOk;
  });
}

SLUICE_RUNTIME(cudaDeviceCanAccessPeer, int* can, int device, int peer) {
  return runtime_call("cudaDeviceCanAccessPeer", [&](Process& p) -> Status {
    if (can == nullptr) return cudaErrorInvalidValue;
    if (!p.has_device(device) || !p.has_device(peer)) return cudaErrorInvalidDevice;
    *can = device != peer;
    return kOk;
  });
}

SLUICE_RUNTIME(cudaDeviceEnablePeerAccess, int peer, unsigned flags) {
  return runtime_call("cudaDeviceEnablePeerAccess", [&](Process& p) -> Status {
    if (flags != 0) return cudaErrorInvalidValue;
    return enable_peer_access(p, p.current_device(), peer);
  });
}

SLUICE_RUNTIME(cudaDeviceDisablePeerAccess, int peer) {
  return runtime_call("cudaDeviceDisablePeerAccess",
                      [&](Process& p) { return disable_peer_access(p, p.current_device(), peer); });
}

SLUICE_RUNTIME(cudaDeviceGetP2PAttribute, int* value, cudaDeviceP2PAttr attribute, int from, int to) {
  return runtime_call("cudaDeviceGetP2PAttribute", [&](Process& p) -> Status {
    if (value == nullptr || from == to) return cudaErrorInvalidValue;
    if (!p.has_device(from) || !p.has_device(to)) return cudaErrorInvalidDevice;
    *value = attribute == cudaDevP2PAttrAccessSupported || attribute == cudaDevP2PAttrNativeAtomicSupported;
    return kOk;
  });
}

SLUICE_RUNTIME(cudaDeviceGetTexture1DLinearMaxWidth, size_t* width, const cudaChannelFormatDesc*,
               int device) {
  return runtime_call("cudaDeviceGetTexture1DLinearMaxWidth", [&](Process& p) -> Status {
    if (width == nullptr) return cudaErrorInvalidValue;
    if (!p.has_device(device)) return cudaErrorInvalidDevice;
    *width = static_cast<size_t>(p.profile.limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH));
    return kOk;
  });
}

// --- versions and errors
// --------------------------------------------------------------------------------------------

SLUICE_RUNTIME(cudaRuntimeGetVersion, int* version) {
  if (version == nullptr) return cudaErrorInvalidValue;
  *version = kVersion13;
  return cudaSuccess;
}

SLUICE_RUNTIME_12(cudaRuntimeGetVersion, int* version) {
  if (version == nullptr) return cudaErrorInvalidValue;
  *version = kVersion12;
  return cudaSuccess;
}

SLUICE_RUNTIME(cudaDriverGetVersion, int* version) {
  if (version == nullptr) return cudaErrorInvalidValue;
  *version = kVersion13;
  return cudaSuccess;
}

SLUICE_RUNTIME(cudaGetLastError) {
  return static_cast<cudaError_t>(std::exchange(last_error(), kOk));
}

SLUICE_RUNTIME(cudaPeekAtLastError) {
  return static_cast<cudaError_t>(last_error());
}

SLUICE_EXPORT const char* sluice_rt_cudaGetErrorName(cudaError_t error) {
  const char* name = runtime_error_name(error);
  return name != nullptr ? name : "unrecognized error code";
}

SLUICE_EXPORT const char* sluice_rt_cudaGetErrorString(cudaError_t error) {
  const char* text = runtime_error_name(error) == nullptr ? nullptr : error_text(error);
  return text != nullptr ? text : "unrecognized error code";
}

SLUICE_RUNTIME(cudaProfilerStart) {
  return runtime_call("cudaProfilerStart", [](Process&) { return kOk; });
}

SLUICE_RUNTIME(cudaProfilerStop) {
  return runtime_call("cudaProfilerStop", [](Process&) { return kOk; });
}
