// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory of the driver API: allocation, pools, pointer queries. Copies and fills are in copy_calls.cpp.
#include <cstring>

#include "cuda/calls.hpp"
#include "cuda/pointer_queries.hpp"

using namespace sluice::cuda;

namespace {

void* pointer_of(CUdeviceptr address) {
  return reinterpret_cast<void*>(address);
}

Status allocate(Process& p, size_t bytes, Origin origin, unsigned flags, void** out) {
  if (out == nullptr || bytes == 0) return cudaErrorInvalidValue;
  if (const Status s = p.streams.forbid_while_capturing(); s != kOk) return s;
  return p.memory.allocate(bytes, origin, p.current_device(), flags, out);
}

Status allocate(Process& p, size_t bytes, Origin origin, unsigned flags, CUdeviceptr* out) {
  void* pointer = nullptr;
  const Status status =
      out == nullptr ? Status{cudaErrorInvalidValue} : allocate(p, bytes, origin, flags, &pointer);
  if (status == kOk) *out = reinterpret_cast<CUdeviceptr>(pointer);
  return status;
}

Status release(Process& p, const void* pointer, std::initializer_list<Origin> allowed) {
  if (pointer == nullptr) return kOk;
  if (const Status s = p.streams.forbid_while_capturing(); s != kOk) return s;
  if (const Status s = p.synchronise(); s != kOk) return s;
  return p.memory.release(pointer, allowed);
}

Status allocate_async(Process& p, CUdeviceptr* out, size_t bytes, CUmemoryPool pool, CUstream handle) {
  Stream* stream = p.streams.find(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (out == nullptr || bytes == 0) return cudaErrorInvalidValue;
  void* pointer = nullptr;
  const Status status = allocate_from_pool(
      p, *stream, pool == nullptr ? p.current_pool(stream->device) : pool, bytes, &pointer);
  *out = reinterpret_cast<CUdeviceptr>(pointer);
  return status;
}

}  // namespace

SLUICE_DRIVER(cuMemGetInfo_v2, size_t* free, size_t* total) {
  return driver_call("cuMemGetInfo", [&](Process& p) -> Status {
    if (free == nullptr || total == nullptr) return cudaErrorInvalidValue;
    *total = p.memory.capacity();
    *free = *total - p.memory.used(p.current_device());
    return kOk;
  });
}
SLUICE_DRIVER(cuMemAlloc_v2, CUdeviceptr* out, size_t bytes) {
  return driver_call("cuMemAlloc", [&](Process& p) { return allocate(p, bytes, Origin::Device, 0, out); });
}
SLUICE_DRIVER(cuMemAllocPitch_v2, CUdeviceptr* out, size_t* pitch, size_t width, size_t height,
              unsigned element) {
  return driver_call("cuMemAllocPitch", [&](Process& p) -> Status {
    if (pitch == nullptr || (element != 4 && element != 8 && element != 16)) return cudaErrorInvalidValue;
    *pitch = (width + 511) / 512 * 512;
    size_t bytes = 0;
    if (__builtin_mul_overflow(*pitch, height, &bytes)) return cudaErrorMemoryAllocation;
    return allocate(p, bytes, Origin::Device, 0, out);
  });
}
SLUICE_DRIVER(cuMemFree_v2, CUdeviceptr address) {
  return driver_call("cuMemFree", [&](Process& p) {
    return release(p, pointer_of(address), {Origin::Device, Origin::Managed, Origin::Pool});
  });
}
SLUICE_DRIVER(cuMemGetAddressRange_v2, CUdeviceptr* base, size_t* bytes, CUdeviceptr address) {
  return driver_call("cuMemGetAddressRange", [&](Process& p) -> Status {
    const Buffer* buffer = p.memory.find(pointer_of(address));
    if (buffer == nullptr) return cudaErrorSymbolNotFound;
    if (base != nullptr) *base = buffer->first;
    if (bytes != nullptr) *bytes = buffer->bytes;
    return kOk;
  });
}
SLUICE_DRIVER(cuMemAllocHost_v2, void** out, size_t bytes) {
  return driver_call("cuMemAllocHost", [&](Process& p) {
    return allocate(p, bytes, Origin::HostPinned, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP, out);
  });
}
SLUICE_DRIVER(cuMemHostAlloc, void** out, size_t bytes, unsigned flags) {
  return driver_call("cuMemHostAlloc",
                     [&](Process& p) { return allocate(p, bytes, Origin::HostPinned, flags, out); });
}
SLUICE_DRIVER(cuMemFreeHost, void* pointer) {
  return driver_call("cuMemFreeHost", [&](Process& p) { return release(p, pointer, {Origin::HostPinned}); });
}
SLUICE_DRIVER(cuMemHostRegister_v2, void* pointer, size_t bytes, unsigned flags) {
  return driver_call("cuMemHostRegister",
                     [&](Process& p) { return p.memory.enter_host(pointer, bytes, flags); });
}
SLUICE_DRIVER_OLD(cuMemHostRegister, void* pointer, size_t bytes, unsigned flags) {
  return sluice_drv_cuMemHostRegister_v2(pointer, bytes, flags);
}
SLUICE_DRIVER(cuMemHostUnregister, void* pointer) {
  return driver_call("cuMemHostUnregister", [&](Process& p) { return p.memory.leave_host(pointer); });
}
SLUICE_DRIVER(cuMemHostGetDevicePointer_v2, CUdeviceptr* out, void* host, unsigned flags) {
  return driver_call("cuMemHostGetDevicePointer", [&](Process& p) -> Status {
    const Buffer* buffer = p.memory.find(host);
    if (out == nullptr || flags != 0 || buffer == nullptr || !buffer->on_host()) return cudaErrorInvalidValue;
    *out = reinterpret_cast<CUdeviceptr>(host);
    return kOk;
  });
}
SLUICE_DRIVER(cuMemHostGetFlags, unsigned* flags, void* host) {
  return driver_call("cuMemHostGetFlags", [&](Process& p) -> Status {
    const Buffer* buffer = p.memory.find(host);
    if (flags == nullptr || buffer == nullptr || !buffer->on_host()) return cudaErrorInvalidValue;
    *flags = buffer->flags;
    return kOk;
  });
}
SLUICE_DRIVER(cuMemAllocManaged, CUdeviceptr* out, size_t bytes, unsigned flags) {
  return driver_call("cuMemAllocManaged", [&](Process& p) -> Status {
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST) return cudaErrorInvalidValue;
    return allocate(p, bytes, Origin::Managed, flags, out);
  });
}
SLUICE_DRIVER(cuMemPrefetchAsync_v2, CUdeviceptr address, size_t bytes, CUmemLocation, unsigned,
              CUstream stream) {
  return driver_call("cuMemPrefetchAsync", [&](Process& p) -> Status {
    if (p.streams.find(stream) == nullptr) return cudaErrorInvalidResourceHandle;
    return p.memory.covers(pointer_of(address), bytes) ? cudaSuccess : cudaErrorInvalidValue;
  });
}
SLUICE_DRIVER_OLD(cuMemPrefetchAsync, CUdeviceptr address, size_t bytes, CUdevice, CUstream stream) {
  return sluice_drv_cuMemPrefetchAsync_v2(address, bytes, {}, 0, stream);
}
SLUICE_DRIVER(cuMemAdvise_v2, CUdeviceptr address, size_t bytes, CUmem_advise, CUmemLocation) {
  return driver_call("cuMemAdvise", [&](Process& p) -> Status {
    return p.memory.covers(pointer_of(address), bytes) ? cudaSuccess : cudaErrorInvalidValue;
  });
}
SLUICE_DRIVER_OLD(cuMemAdvise, CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice) {
  return sluice_drv_cuMemAdvise_v2(address, bytes, advice, {});
}
SLUICE_DRIVER(cuPointerGetAttribute, void* out, CUpointer_attribute attribute, CUdeviceptr address) {
  return driver_call("cuPointerGetAttribute",
                     [&](Process& p) { return pointer_attribute(p, attribute, address, out); });
}
SLUICE_DRIVER(cuPointerGetAttributes, unsigned count, CUpointer_attribute* attributes, void** out,
              CUdeviceptr address) {
  return driver_call("cuPointerGetAttributes", [&](Process& p) -> Status {
    if (count == 0 || attributes == nullptr || out == nullptr) return cudaErrorInvalidValue;
    for (unsigned i = 0; i < count; ++i) {
      // An unknown pointer gives null values, not an error. The largest value is 8 bytes; most are 4.
      if (pointer_attribute(p, attributes[i], address, out[i]) != kOk && out[i] != nullptr)
        std::memset(out[i], 0, 4);
    }
    return kOk;
  });
}
SLUICE_DRIVER(cuPointerSetAttribute, const void* value, CUpointer_attribute attribute, CUdeviceptr address) {
  return driver_call("cuPointerSetAttribute", [&](Process& p) -> Status {
    if (value == nullptr || p.memory.find(pointer_of(address)) == nullptr) return cudaErrorInvalidValue;
    return attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS ? cudaSuccess : cudaErrorInvalidValue;
  });
}

// --- pools
// ----------------------------------------------------------------------------------------------------------

SLUICE_DRIVER(cuMemAllocAsync, CUdeviceptr* out, size_t bytes, CUstream stream) {
  return driver_call("cuMemAllocAsync",
                     [&](Process& p) { return allocate_async(p, out, bytes, nullptr, stream); });
}
SLUICE_DRIVER(cuMemAllocFromPoolAsync, CUdeviceptr* out, size_t bytes, CUmemoryPool pool, CUstream stream) {
  return driver_call("cuMemAllocFromPoolAsync", [&](Process& p) -> Status {
    if (pool == nullptr) return cudaErrorInvalidValue;
    return allocate_async(p, out, bytes, pool, stream);
  });
}
SLUICE_DRIVER(cuMemFreeAsync, CUdeviceptr address, CUstream handle) {
  return driver_call("cuMemFreeAsync", [&](Process& p) -> Status {
    Stream* stream = p.streams.find(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    return free_to_pool(p, *stream, pointer_of(address));
  });
}
SLUICE_DRIVER(cuMemPoolCreate, CUmemoryPool* out, const CUmemPoolProps* properties) {
  return driver_call("cuMemPoolCreate", [&](Process& p) -> Status {
    if (out == nullptr || properties == nullptr) return cudaErrorInvalidValue;
    if (properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
        properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE) {
      return cudaErrorNotSupported;
    }
    return create_pool(p, properties->location.id, out);
  });
}
SLUICE_DRIVER(cuMemPoolDestroy, CUmemoryPool pool) {
  return driver_call("cuMemPoolDestroy", [&](Process& p) { return destroy_pool(p, pool); });
}
SLUICE_DRIVER(cuMemPoolTrimTo, CUmemoryPool pool, size_t) {
  return driver_call("cuMemPoolTrimTo", [&](Process& p) -> Status {
    return p.pools.find(pool) == nullptr ? cudaErrorInvalidValue : cudaSuccess;
  });
}
SLUICE_DRIVER(cuMemPoolSetAttribute, CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return driver_call("cuMemPoolSetAttribute",
                     [&](Process& p) { return set_pool_attribute(p, pool, attribute, value); });
}
SLUICE_DRIVER(cuMemPoolGetAttribute, CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return driver_call("cuMemPoolGetAttribute",
                     [&](Process& p) { return pool_attribute(p, pool, attribute, value); });
}
SLUICE_DRIVER(cuMemPoolSetAccess, CUmemoryPool pool, const CUmemAccessDesc*, size_t) {
  return driver_call("cuMemPoolSetAccess", [&](Process& p) -> Status {
    return p.pools.find(pool) == nullptr ? cudaErrorInvalidValue : cudaSuccess;
  });
}
SLUICE_DRIVER(cuMemPoolGetAccess, CUmemAccess_flags* flags, CUmemoryPool pool, CUmemLocation*) {
  return driver_call("cuMemPoolGetAccess", [&](Process& p) -> Status {
    if (flags == nullptr || p.pools.find(pool) == nullptr) return cudaErrorInvalidValue;
    *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return kOk;
  });
}
SLUICE_DRIVER(cuDeviceGetDefaultMemPool, CUmemoryPool* out, CUdevice device) {
  return driver_call("cuDeviceGetDefaultMemPool", [&](Process& p) -> Status {
    if (!p.has_device(device)) return cudaErrorInvalidDevice;
    if (out == nullptr) return cudaErrorInvalidValue;
    *out = p.default_pool(device);
    return kOk;
  });
}
SLUICE_DRIVER(cuDeviceGetMemPool, CUmemoryPool* out, CUdevice device) {
  return driver_call("cuDeviceGetMemPool", [&](Process& p) -> Status {
    if (!p.has_device(device)) return cudaErrorInvalidDevice;
    if (out == nullptr) return cudaErrorInvalidValue;
    *out = p.current_pool(device);
    return kOk;
  });
}
SLUICE_DRIVER(cuDeviceSetMemPool, CUdevice device, CUmemoryPool pool) {
  return driver_call("cuDeviceSetMemPool", [&](Process& p) -> Status {
    if (!p.has_device(device)) return cudaErrorInvalidDevice;
    if (p.pools.find(pool) == nullptr) return cudaErrorInvalidValue;
    p.set_current_pool(device, pool);
    return kOk;
  });
}
