// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Pools and pointer attributes.
#include "cuda/pointer_queries.hpp"

#include <algorithm>

#include "cuda/process.hpp"

namespace sluice::cuda {

Status create_pool(Process& process, int device, CUmemoryPool* out) {
  if (!process.has_device(device)) return cudaErrorInvalidDevice;
  auto pool = std::make_unique<Pool>();
  pool->device = device;
  Pool* raw = pool.get();
  *out = raw->handle = process.pools.add<CUmemoryPool>(std::move(pool));
  return kOk;
}

Status destroy_pool(Process& process, CUmemoryPool pool) {
  const Pool* known = process.pools.find(pool);
  if (known == nullptr || process.default_pool(known->device) == pool) return cudaErrorInvalidValue;
  process.pools.take(pool);
  return kOk;
}

namespace {

uint64_t used_by(Process& process, CUmemoryPool pool) {
  uint64_t used = 0;
  process.memory.for_each([&](const Buffer& buffer) {
    if (buffer.pool == pool) used += buffer.bytes;
  });
  return used;
}

}  // namespace

Status set_pool_attribute(Process& process, CUmemoryPool handle, CUmemPool_attribute attribute,
                          const void* value) {
  Pool* pool = process.pools.find(handle);
  if (pool == nullptr || value == nullptr) return cudaErrorInvalidValue;
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      pool->attributes[attribute] = static_cast<uint64_t>(*static_cast<const int*>(value));
      return kOk;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      pool->release_threshold = *static_cast<const uint64_t*>(value);
      return kOk;
    // The high-water marks can be reset to zero and to nothing else.
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      if (*static_cast<const uint64_t*>(value) != 0) return cudaErrorInvalidValue;
      (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH ? pool->used_high : pool->reserved_high) =
          used_by(process, handle);
      return kOk;
    default:
      return cudaErrorInvalidValue;
  }
}

Status pool_attribute(Process& process, CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  const Pool* pool = process.pools.find(handle);
  if (pool == nullptr || value == nullptr) return cudaErrorInvalidValue;
  const auto number = [&](uint64_t n) {
    *static_cast<uint64_t*>(value) = n;
    return cudaSuccess;
  };
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES: {
      const auto set = pool->attributes.find(attribute);
      *static_cast<int*>(value) = set == pool->attributes.end() ? 1 : static_cast<int>(set->second);
      return kOk;
    }
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      return number(pool->release_threshold);
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
      return number(used_by(process, handle));
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      return number(pool->reserved_high);
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      return number(pool->used_high);
    default:
      return cudaErrorInvalidValue;
  }
}

Status allocate_from_pool(Process& process, Stream& stream, CUmemoryPool handle, size_t bytes, void** out) {
  Pool* pool = process.pools.find(handle);
  if (pool == nullptr) return cudaErrorInvalidValue;
  if (const Status s = process.memory.allocate(bytes, Origin::Pool, pool->device, 0, out, handle); s != kOk)
    return s;
  const uint64_t used = used_by(process, handle);
  pool->used_high = std::max(pool->used_high, used);
  pool->reserved_high = std::max(pool->reserved_high, used);
  if (stream.capture == nullptr) return kOk;
  process.memory.keep_for_graph(*out);
  return process.streams.submit(stream, GraphAllocation{bytes, pool->device, *out});
}

Status free_to_pool(Process& process, Stream& stream, void* pointer) {
  if (pointer == nullptr) return kOk;
  const Buffer* buffer = process.memory.find(pointer);
  const bool known = buffer != nullptr && buffer->first == reinterpret_cast<uint64_t>(pointer) &&
                     (buffer->origin == Origin::Pool || buffer->origin == Origin::Device);
  if (!known) return cudaErrorInvalidValue;
  if (stream.capture != nullptr) return process.streams.submit(stream, GraphFree{pointer});
  return process.memory.release(pointer, {Origin::Pool, Origin::Device});
}

Status pointer_attribute(Process& process, CUpointer_attribute attribute, CUdeviceptr pointer, void* out) {
  if (out == nullptr) return cudaErrorInvalidValue;
  const Buffer* buffer = process.memory.find(reinterpret_cast<const void*>(pointer));
  if (buffer == nullptr) return cudaErrorInvalidValue;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      *static_cast<CUcontext*>(out) = process.primary_context(buffer->device)->handle;
      return kOk;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<CUmemorytype*>(out) = buffer->on_host() ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
      return kOk;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      *static_cast<CUdeviceptr*>(out) = pointer;
      return kOk;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (!buffer->on_host() && buffer->origin != Origin::Managed) return cudaErrorInvalidValue;
      *static_cast<void**>(out) = reinterpret_cast<void*>(pointer);
      return kOk;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      *static_cast<unsigned*>(out) = 0;
      return kOk;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      *static_cast<unsigned long long*>(out) = buffer->id;
      return kOk;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      *static_cast<unsigned*>(out) = buffer->origin == Origin::Managed;
      return kOk;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *static_cast<int*>(out) = buffer->device;
      return kOk;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      *static_cast<unsigned*>(out) = 0;
      return kOk;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      *static_cast<CUdeviceptr*>(out) = buffer->first;
      return kOk;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      *static_cast<size_t*>(out) = buffer->bytes;
      return kOk;
    case CU_POINTER_ATTRIBUTE_MAPPED:
      *static_cast<unsigned*>(out) = 1;
      return kOk;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      *static_cast<unsigned long long*>(out) = 0;
      return kOk;
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
      *static_cast<unsigned*>(out) = 0;
      return kOk;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      *static_cast<CUmemoryPool*>(out) = static_cast<CUmemoryPool>(const_cast<void*>(buffer->pool));
      return kOk;
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace sluice::cuda
