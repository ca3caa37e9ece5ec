// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Allocation, host memory, managed memory and pointer queries of the runtime API.
#include <climits>
#include <cstring>

#include "cuda/calls.hpp"
#include "cuda/pointer_queries.hpp"

using namespace sluice::cuda;

namespace {

constexpr size_t kPitch = 512;  // rows of pitched allocations begin at multiples of this

Status allocate(Process& process, size_t bytes, Origin origin, unsigned flags, void** out) {
  if (out == nullptr) return cudaErrorInvalidValue;
  if (const Status s = process.streams.forbid_while_capturing(); s != kOk) return s;
  return process.memory.allocate(bytes, origin, process.current_device(), flags, out);
}

// Frees are synchronisations too.
Status release(Process& process, const void* pointer, std::initializer_list<Origin> allowed) {
  if (pointer == nullptr) return kOk;
  if (const Status s = process.streams.forbid_while_capturing(); s != kOk) return s;
  if (const Status s = process.synchronise(); s != kOk) return s;
  return process.memory.release(pointer, allowed);
}

bool multiply(size_t a, size_t b, size_t* out) {
  return !__builtin_mul_overflow(a, b, out);
}

Status allocate_pitched(Process& process, size_t width, size_t height, size_t depth, void** pointer,
                        size_t* pitch) {
  if (pointer == nullptr || pitch == nullptr) return cudaErrorInvalidValue;
  size_t rows = 0, bytes = 0;
  if (width > SIZE_MAX - kPitch) return cudaErrorInvalidValue;
  *pitch = (width + kPitch - 1) / kPitch * kPitch;
  if (!multiply(height, depth, &rows) || !multiply(rows, *pitch, &bytes)) return cudaErrorMemoryAllocation;
  return allocate(process, bytes, Origin::Device, 0, pointer);
}

Status allocate_async(Process& process, void** out, size_t bytes, cudaMemPool_t pool, cudaStream_t handle) {
  if (out == nullptr) return cudaErrorInvalidValue;
  Stream* stream = process.streams.find(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (pool == nullptr) pool = process.current_pool(stream->device);
  return allocate_from_pool(process, *stream, pool, bytes, out);
}

}  // namespace

SLUICE_RUNTIME(cudaMalloc, void** pointer, size_t bytes) {
  return runtime_call("cudaMalloc",
                      [&](Process& p) { return allocate(p, bytes, Origin::Device, 0, pointer); });
}

SLUICE_RUNTIME(cudaFree, void* pointer) {
  return runtime_call("cudaFree", [&](Process& p) {
    return release(p, pointer, {Origin::Device, Origin::Managed, Origin::Pool});
  });
}

SLUICE_RUNTIME(cudaMallocPitch, void** pointer, size_t* pitch, size_t width, size_t height) {
  return runtime_call("cudaMallocPitch",
                      [&](Process& p) { return allocate_pitched(p, width, height, 1, pointer, pitch); });
}

SLUICE_RUNTIME(cudaMalloc3D, cudaPitchedPtr* out, cudaExtent extent) {
  return runtime_call("cudaMalloc3D", [&](Process& p) -> Status {
    if (out == nullptr) return cudaErrorInvalidValue;
    out->xsize = extent.width;
    out->ysize = extent.height;
    return allocate_pitched(p, extent.width, extent.height, extent.depth, &out->ptr, &out->pitch);
  });
}

SLUICE_RUNTIME(cudaMallocManaged, void** pointer, size_t bytes, unsigned flags) {
  return runtime_call("cudaMallocManaged", [&](Process& p) -> Status {
    if (bytes == 0 || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost))
      return cudaErrorInvalidValue;
    return allocate(p, bytes, Origin::Managed, flags, pointer);
  });
}

SLUICE_RUNTIME(cudaMallocHost, void** pointer, size_t bytes) {
  return runtime_call("cudaMallocHost", [&](Process& p) {
    return allocate(p, bytes, Origin::HostPinned, cudaHostAllocPortable | cudaHostAllocMapped, pointer);
  });
}

SLUICE_RUNTIME(cudaHostAlloc, void** pointer, size_t bytes, unsigned flags) {
  return runtime_call("cudaHostAlloc", [&](Process& p) -> Status {
    constexpr unsigned kKnown = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    if ((flags & ~kKnown) != 0) return cudaErrorInvalidValue;
    return allocate(p, bytes, Origin::HostPinned, flags, pointer);
  });
}

SLUICE_RUNTIME(cudaFreeHost, void* pointer) {
  return runtime_call("cudaFreeHost", [&](Process& p) { return release(p, pointer, {Origin::HostPinned}); });
}

SLUICE_RUNTIME(cudaHostRegister, void* pointer, size_t bytes, unsigned flags) {
  return runtime_call("cudaHostRegister",
                      [&](Process& p) { return p.memory.enter_host(pointer, bytes, flags); });
}

SLUICE_RUNTIME(cudaHostUnregister, void* pointer) {
  return runtime_call("cudaHostUnregister", [&](Process& p) { return p.memory.leave_host(pointer); });
}

SLUICE_RUNTIME(cudaHostGetDevicePointer, void** device, void* host, unsigned flags) {
  return runtime_call("cudaHostGetDevicePointer", [&](Process& p) -> Status {
    if (device == nullptr || flags != 0) return cudaErrorInvalidValue;
    const Buffer* buffer = p.memory.find(host);
    if (buffer == nullptr || !buffer->on_host()) return cudaErrorInvalidValue;
    *device = host;
    return kOk;
  });
}

SLUICE_RUNTIME(cudaHostGetFlags, unsigned* flags, void* host) {
  return runtime_call("cudaHostGetFlags", [&](Process& p) -> Status {
    const Buffer* buffer = p.memory.find(host);
    if (flags == nullptr || buffer == nullptr || !buffer->on_host()) return cudaErrorInvalidValue;
    *flags = buffer->flags;
    return kOk;
  });
}

SLUICE_RUNTIME(cudaMemGetInfo, size_t* free, size_t* total) {
  return runtime_call("cudaMemGetInfo", [&](Process& p) -> Status {
    if (free == nullptr || total == nullptr) return cudaErrorInvalidValue;
    *total = p.memory.capacity();
    *free = *total - p.memory.used(p.current_device());
    return kOk;
  });
}

// --- stream-ordered memory
// ------------------------------------------------------------------------------------------

SLUICE_RUNTIME(cudaMallocAsync, void** pointer, size_t bytes, cudaStream_t stream) {
  return runtime_call("cudaMallocAsync",
                      [&](Process& p) { return allocate_async(p, pointer, bytes, nullptr, stream); });
}

SLUICE_RUNTIME(cudaMallocFromPoolAsync, void** pointer, size_t bytes, cudaMemPool_t pool,
               cudaStream_t stream) {
  return runtime_call("cudaMallocFromPoolAsync", [&](Process& p) -> Status {
    if (pool == nullptr) return cudaErrorInvalidValue;
    return allocate_async(p, pointer, bytes, pool, stream);
  });
}

SLUICE_RUNTIME(cudaFreeAsync, void* pointer, cudaStream_t handle) {
  return runtime_call("cudaFreeAsync", [&](Process& p) -> Status {
    Stream* stream = p.streams.find(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    return free_to_pool(p, *stream, pointer);
  });
}

SLUICE_RUNTIME(cudaMemPoolCreate, cudaMemPool_t* out, const cudaMemPoolProps* properties) {
  return runtime_call("cudaMemPoolCreate", [&](Process& p) -> Status {
    if (out == nullptr || properties == nullptr) return cudaErrorInvalidValue;
    if (properties->location.type != cudaMemLocationTypeDevice) return cudaErrorNotSupported;
    if (properties->handleTypes != cudaMemHandleTypeNone) return cudaErrorNotSupported;
    return create_pool(p, properties->location.id, out);
  });
}

SLUICE_RUNTIME(cudaMemPoolDestroy, cudaMemPool_t pool) {
  return runtime_call("cudaMemPoolDestroy", [&](Process& p) { return destroy_pool(p, pool); });
}

SLUICE_RUNTIME(cudaMemPoolTrimTo, cudaMemPool_t pool, size_t) {
  return runtime_call("cudaMemPoolTrimTo", [&](Process& p) -> Status {
    return p.pools.find(pool) == nullptr ? cudaErrorInvalidValue : cudaSuccess;
  });
}

SLUICE_RUNTIME(cudaMemPoolSetAttribute, cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return runtime_call("cudaMemPoolSetAttribute", [&](Process& p) {
    return set_pool_attribute(p, pool, static_cast<CUmemPool_attribute>(attribute), value);
  });
}

SLUICE_RUNTIME(cudaMemPoolGetAttribute, cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return runtime_call("cudaMemPoolGetAttribute", [&](Process& p) {
    return pool_attribute(p, pool, static_cast<CUmemPool_attribute>(attribute), value);
  });
}

SLUICE_RUNTIME(cudaMemPoolSetAccess, cudaMemPool_t pool, const cudaMemAccessDesc* descriptions,
               size_t count) {
  return runtime_call("cudaMemPoolSetAccess", [&](Process& p) -> Status {
    if (p.pools.find(pool) == nullptr || (count != 0 && descriptions == nullptr))
      return cudaErrorInvalidValue;
    return kOk;  // every device of the engine reaches all device memory
  });
}

SLUICE_RUNTIME(cudaMemPoolGetAccess, cudaMemAccessFlags* flags, cudaMemPool_t pool,
               cudaMemLocation* location) {
  return runtime_call("cudaMemPoolGetAccess", [&](Process& p) -> Status {
    if (flags == nullptr || location == nullptr || p.pools.find(pool) == nullptr)
      return cudaErrorInvalidValue;
    *flags = cudaMemAccessFlagsProtReadWrite;
    return kOk;
  });
}

SLUICE_RUNTIME(cudaDeviceGetDefaultMemPool, cudaMemPool_t* out, int device) {
  return runtime_call("cudaDeviceGetDefaultMemPool", [&](Process& p) -> Status {
    if (out == nullptr) return cudaErrorInvalidValue;
    if (!p.has_device(device)) return cudaErrorInvalidDevice;
    *out = p.default_pool(device);
    return kOk;
  });
}

SLUICE_RUNTIME(cudaDeviceGetMemPool, cudaMemPool_t* out, int device) {
  return runtime_call("cudaDeviceGetMemPool", [&](Process& p) -> Status {
    if (out == nullptr) return cudaErrorInvalidValue;
    if (!p.has_device(device)) return cudaErrorInvalidDevice;
    *out = p.current_pool(device);
    return kOk;
  });
}

SLUICE_RUNTIME(cudaDeviceSetMemPool, int device, cudaMemPool_t pool) {
  return runtime_call("cudaDeviceSetMemPool", [&](Process& p) -> Status {
    if (!p.has_device(device)) return cudaErrorInvalidDevice;
    if (p.pools.find(pool) == nullptr) return cudaErrorInvalidValue;
    p.set_current_pool(device, pool);
    return kOk;
  });
}

// --- hints and pointer queries
// --------------------------------------------------------------------------------------

namespace {

Status managed_range(Process& process, const void* pointer, size_t bytes) {
  const Buffer* buffer = process.memory.find(pointer);
  const bool fits =
      buffer != nullptr && buffer->origin == Origin::Managed && process.memory.covers(pointer, bytes);
  return bytes != 0 && fits ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace

SLUICE_RUNTIME(cudaMemPrefetchAsync, const void* pointer, size_t bytes, cudaMemLocation, unsigned flags,
               cudaStream_t handle) {
  return runtime_call("cudaMemPrefetchAsync", [&](Process& p) -> Status {
    if (flags != 0) return cudaErrorInvalidValue;
    if (p.streams.find(handle) == nullptr) return cudaErrorInvalidResourceHandle;
    return managed_range(p, pointer, bytes);
  });
}

SLUICE_RUNTIME_12(cudaMemPrefetchAsync, const void* pointer, size_t bytes, int device, cudaStream_t handle) {
  return runtime_call("cudaMemPrefetchAsync", [&](Process& p) -> Status {
    if (device != cudaCpuDeviceId && !p.has_device(device)) return cudaErrorInvalidDevice;
    if (p.streams.find(handle) == nullptr) return cudaErrorInvalidResourceHandle;
    return managed_range(p, pointer, bytes);
  });
}

SLUICE_RUNTIME_12(cudaMemPrefetchAsync_v2, const void* pointer, size_t bytes, cudaMemLocation location,
                  unsigned flags, cudaStream_t handle) {
  return sluice_rt_cudaMemPrefetchAsync(pointer, bytes, location, flags, handle);
}

SLUICE_RUNTIME(cudaMemAdvise, const void* pointer, size_t bytes, cudaMemoryAdvise, cudaMemLocation) {
  return runtime_call("cudaMemAdvise", [&](Process& p) { return managed_range(p, pointer, bytes); });
}

SLUICE_RUNTIME_12(cudaMemAdvise, const void* pointer, size_t bytes, cudaMemoryAdvise, int) {
  return runtime_call("cudaMemAdvise", [&](Process& p) { return managed_range(p, pointer, bytes); });
}

SLUICE_RUNTIME_12(cudaMemAdvise_v2, const void* pointer, size_t bytes, cudaMemoryAdvise advice,
                  cudaMemLocation location) {
  return sluice_rt_cudaMemAdvise(pointer, bytes, advice, location);
}

SLUICE_RUNTIME(cudaStreamAttachMemAsync, cudaStream_t handle, void* pointer, size_t, unsigned) {
  return runtime_call("cudaStreamAttachMemAsync", [&](Process& p) -> Status {
    if (p.streams.find(handle) == nullptr) return cudaErrorInvalidResourceHandle;
    return managed_range(p, pointer, 1);
  });
}

SLUICE_RUNTIME(cudaPointerGetAttributes, cudaPointerAttributes* out, const void* pointer) {
  const auto body = [&](Process& p) -> Status {
    if (out == nullptr) return cudaErrorInvalidValue;
    *out = {};
    const Buffer* buffer = p.memory.find(pointer);
    if (buffer == nullptr) {
      out->type = cudaMemoryTypeUnregistered;
      out->device = -2;
      out->hostPointer = const_cast<void*>(pointer);
      return kOk;
    }
    out->device = buffer->device;
    out->devicePointer = const_cast<void*>(pointer);
    out->type = buffer->origin == Origin::Managed ? cudaMemoryTypeManaged
                : buffer->on_host()               ? cudaMemoryTypeHost
                                                  : cudaMemoryTypeDevice;
    if (out->type != cudaMemoryTypeDevice) out->hostPointer = const_cast<void*>(pointer);
    return kOk;
  };
  return runtime_call("cudaPointerGetAttributes", body, Gate::Query);
}
