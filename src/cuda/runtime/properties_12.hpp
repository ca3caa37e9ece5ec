// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// cudaDeviceProp as CUDA 12 lays it out (CUDA 13 removed members), and the filling of both layouts.
#pragma once

#include <cuda.h>
#include <driver_types.h>

#include <cstddef>
#include <cstring>

#include "cuda/device_profile.hpp"

namespace sluice::cuda {

struct DeviceProperties12 {
  char name[256];
  cudaUUID_t uuid;
  char luid[8];
  unsigned luidDeviceNodeMask;
  size_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize;
  size_t memPitch;
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
  size_t totalConstMem;
  int major, minor;
  size_t textureAlignment, texturePitchAlignment;
  int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory, computeMode;
  int maxTexture1D, maxTexture1DMipmap, maxTexture1DLinear;
  int maxTexture2D[2], maxTexture2DMipmap[2], maxTexture2DLinear[3], maxTexture2DGather[2];
  int maxTexture3D[3], maxTexture3DAlt[3], maxTextureCubemap;
  int maxTexture1DLayered[2], maxTexture2DLayered[3], maxTextureCubemapLayered[2];
  int maxSurface1D, maxSurface2D[2], maxSurface3D[3];
  int maxSurface1DLayered[2], maxSurface2DLayered[3], maxSurfaceCubemap, maxSurfaceCubemapLayered[2];
  size_t surfaceAlignment;
  int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount;
  int unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize;
  int maxThreadsPerMultiProcessor, streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;
  size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported;
  int singleToDoublePrecisionPerfRatio, pageableMemoryAccess, concurrentManagedAccess,
      computePreemptionSupported;
  int canUseHostPointerForRegisteredMem, cooperativeLaunch, cooperativeMultiDeviceLaunch;
  size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor;
  int accessPolicyMaxWindowSize;
  size_t reservedSharedMemPerBlock;
  // From here on new in CUDA 12.
  int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported,
      timelineSemaphoreInteropSupported;
  int memoryPoolsSupported, gpuDirectRDMASupported;
  unsigned gpuDirectRDMAFlushWritesOptions;
  int gpuDirectRDMAWritesOrdering;
  unsigned memoryPoolSupportedHandleTypes;
  int deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch, unifiedFunctionPointers;
  int reserved[63];
};
static_assert(sizeof(DeviceProperties12) == 1032);

constexpr size_t kDeviceProperties11Bytes = offsetof(DeviceProperties12, hostRegisterSupported);

namespace detail {

/// Members that both layouts have, under the same names.
template <class Properties>
void fill_common_properties(const DeviceProfile& device, int ordinal, Properties* out) {
  const auto get = [&](CUdevice_attribute a) { return device.attribute(a, ordinal).value_or(0); };
  const auto set3 = [&](int(&to)[3], CUdevice_attribute a, CUdevice_attribute b, CUdevice_attribute c) {
    to[0] = get(a), to[1] = get(b), to[2] = get(c);
  };
  const auto set2 = [&](int(&to)[2], CUdevice_attribute a, CUdevice_attribute b) {
    to[0] = get(a), to[1] = get(b);
  };
  std::memset(static_cast<void*>(out), 0, sizeof *out);
  std::strncpy(out->name, device.name(), sizeof out->name - 1);
  const CUuuid uuid = device.uuid(ordinal);
  std::memcpy(&out->uuid, &uuid, sizeof uuid);
  out->totalGlobalMem = device.total_memory();

#define SLUICE_FILL(member, attribute) \
  out->member = static_cast<decltype(out->member)>(get(CU_DEVICE_ATTRIBUTE_##attribute))
  SLUICE_FILL(sharedMemPerBlock, MAX_SHARED_MEMORY_PER_BLOCK);
  SLUICE_FILL(regsPerBlock, MAX_REGISTERS_PER_BLOCK);
  SLUICE_FILL(warpSize, WARP_SIZE);
  SLUICE_FILL(memPitch, MAX_PITCH);
  SLUICE_FILL(maxThreadsPerBlock, MAX_THREADS_PER_BLOCK);
  SLUICE_FILL(totalConstMem, TOTAL_CONSTANT_MEMORY);
  SLUICE_FILL(major, COMPUTE_CAPABILITY_MAJOR);
  SLUICE_FILL(minor, COMPUTE_CAPABILITY_MINOR);
  SLUICE_FILL(textureAlignment, TEXTURE_ALIGNMENT);
  SLUICE_FILL(texturePitchAlignment, TEXTURE_PITCH_ALIGNMENT);
  SLUICE_FILL(multiProcessorCount, MULTIPROCESSOR_COUNT);
  SLUICE_FILL(integrated, INTEGRATED);
  SLUICE_FILL(canMapHostMemory, CAN_MAP_HOST_MEMORY);
  SLUICE_FILL(maxTexture1D, MAXIMUM_TEXTURE1D_WIDTH);
  SLUICE_FILL(maxTexture1DMipmap, MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH);
  SLUICE_FILL(maxTextureCubemap, MAXIMUM_TEXTURECUBEMAP_WIDTH);
  SLUICE_FILL(maxSurface1D, MAXIMUM_SURFACE1D_WIDTH);
  SLUICE_FILL(maxSurfaceCubemap, MAXIMUM_SURFACECUBEMAP_WIDTH);
  SLUICE_FILL(surfaceAlignment, SURFACE_ALIGNMENT);
  SLUICE_FILL(concurrentKernels, CONCURRENT_KERNELS);
  SLUICE_FILL(ECCEnabled, ECC_ENABLED);
  SLUICE_FILL(pciBusID, PCI_BUS_ID);
  SLUICE_FILL(pciDeviceID, PCI_DEVICE_ID);
  SLUICE_FILL(pciDomainID, PCI_DOMAIN_ID);
  SLUICE_FILL(tccDriver, TCC_DRIVER);
  SLUICE_FILL(asyncEngineCount, ASYNC_ENGINE_COUNT);
  SLUICE_FILL(unifiedAddressing, UNIFIED_ADDRESSING);
  SLUICE_FILL(memoryBusWidth, GLOBAL_MEMORY_BUS_WIDTH);
  SLUICE_FILL(l2CacheSize, L2_CACHE_SIZE);
  SLUICE_FILL(persistingL2CacheMaxSize, MAX_PERSISTING_L2_CACHE_SIZE);
  SLUICE_FILL(maxThreadsPerMultiProcessor, MAX_THREADS_PER_MULTIPROCESSOR);
  SLUICE_FILL(streamPrioritiesSupported, STREAM_PRIORITIES_SUPPORTED);
  SLUICE_FILL(globalL1CacheSupported, GLOBAL_L1_CACHE_SUPPORTED);
  SLUICE_FILL(localL1CacheSupported, LOCAL_L1_CACHE_SUPPORTED);
  SLUICE_FILL(sharedMemPerMultiprocessor, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  SLUICE_FILL(regsPerMultiprocessor, MAX_REGISTERS_PER_MULTIPROCESSOR);
  SLUICE_FILL(managedMemory, MANAGED_MEMORY);
  SLUICE_FILL(isMultiGpuBoard, MULTI_GPU_BOARD);
  SLUICE_FILL(multiGpuBoardGroupID, MULTI_GPU_BOARD_GROUP_ID);
  SLUICE_FILL(hostNativeAtomicSupported, HOST_NATIVE_ATOMIC_SUPPORTED);
  SLUICE_FILL(pageableMemoryAccess, PAGEABLE_MEMORY_ACCESS);
  SLUICE_FILL(concurrentManagedAccess, CONCURRENT_MANAGED_ACCESS);
  SLUICE_FILL(computePreemptionSupported, COMPUTE_PREEMPTION_SUPPORTED);
  SLUICE_FILL(canUseHostPointerForRegisteredMem, CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM);
  SLUICE_FILL(cooperativeLaunch, COOPERATIVE_LAUNCH);
  SLUICE_FILL(sharedMemPerBlockOptin, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  SLUICE_FILL(pageableMemoryAccessUsesHostPageTables, PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES);
  SLUICE_FILL(directManagedMemAccessFromHost, DIRECT_MANAGED_MEM_ACCESS_FROM_HOST);
  SLUICE_FILL(maxBlocksPerMultiProcessor, MAX_BLOCKS_PER_MULTIPROCESSOR);
  SLUICE_FILL(accessPolicyMaxWindowSize, MAX_ACCESS_POLICY_WINDOW_SIZE);
  SLUICE_FILL(reservedSharedMemPerBlock, RESERVED_SHARED_MEMORY_PER_BLOCK);
  SLUICE_FILL(hostRegisterSupported, HOST_REGISTER_SUPPORTED);
  SLUICE_FILL(sparseCudaArraySupported, SPARSE_CUDA_ARRAY_SUPPORTED);
  SLUICE_FILL(hostRegisterReadOnlySupported, READ_ONLY_HOST_REGISTER_SUPPORTED);
  SLUICE_FILL(timelineSemaphoreInteropSupported, TIMELINE_SEMAPHORE_INTEROP_SUPPORTED);
  SLUICE_FILL(memoryPoolsSupported, MEMORY_POOLS_SUPPORTED);
  SLUICE_FILL(gpuDirectRDMASupported, GPU_DIRECT_RDMA_SUPPORTED);
  SLUICE_FILL(gpuDirectRDMAFlushWritesOptions, GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS);
  SLUICE_FILL(gpuDirectRDMAWritesOrdering, GPU_DIRECT_RDMA_WRITES_ORDERING);
  SLUICE_FILL(memoryPoolSupportedHandleTypes, MEMPOOL_SUPPORTED_HANDLE_TYPES);
  SLUICE_FILL(deferredMappingCudaArraySupported, DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED);
  SLUICE_FILL(ipcEventSupported, IPC_EVENT_SUPPORTED);
  SLUICE_FILL(clusterLaunch, CLUSTER_LAUNCH);
  SLUICE_FILL(unifiedFunctionPointers, UNIFIED_FUNCTION_POINTERS);
#undef SLUICE_FILL

#define SLUICE_A(name) CU_DEVICE_ATTRIBUTE_##name
  set3(out->maxThreadsDim, SLUICE_A(MAX_BLOCK_DIM_X), SLUICE_A(MAX_BLOCK_DIM_Y), SLUICE_A(MAX_BLOCK_DIM_Z));
  set3(out->maxGridSize, SLUICE_A(MAX_GRID_DIM_X), SLUICE_A(MAX_GRID_DIM_Y), SLUICE_A(MAX_GRID_DIM_Z));
  set2(out->maxTexture2D, SLUICE_A(MAXIMUM_TEXTURE2D_WIDTH), SLUICE_A(MAXIMUM_TEXTURE2D_HEIGHT));
  set2(out->maxTexture2DMipmap, SLUICE_A(MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH),
       SLUICE_A(MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT));
  set3(out->maxTexture2DLinear, SLUICE_A(MAXIMUM_TEXTURE2D_LINEAR_WIDTH),
       SLUICE_A(MAXIMUM_TEXTURE2D_LINEAR_HEIGHT), SLUICE_A(MAXIMUM_TEXTURE2D_LINEAR_PITCH));
  set2(out->maxTexture2DGather, SLUICE_A(MAXIMUM_TEXTURE2D_GATHER_WIDTH),
       SLUICE_A(MAXIMUM_TEXTURE2D_GATHER_HEIGHT));
  set3(out->maxTexture3D, SLUICE_A(MAXIMUM_TEXTURE3D_WIDTH), SLUICE_A(MAXIMUM_TEXTURE3D_HEIGHT),
       SLUICE_A(MAXIMUM_TEXTURE3D_DEPTH));
  set3(out->maxTexture3DAlt, SLUICE_A(MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE),
       SLUICE_A(MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE), SLUICE_A(MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE));
  set2(out->maxTexture1DLayered, SLUICE_A(MAXIMUM_TEXTURE1D_LAYERED_WIDTH),
       SLUICE_A(MAXIMUM_TEXTURE1D_LAYERED_LAYERS));
  set3(out->maxTexture2DLayered, SLUICE_A(MAXIMUM_TEXTURE2D_LAYERED_WIDTH),
       SLUICE_A(MAXIMUM_TEXTURE2D_LAYERED_HEIGHT), SLUICE_A(MAXIMUM_TEXTURE2D_LAYERED_LAYERS));
  set2(out->maxTextureCubemapLayered, SLUICE_A(MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH),
       SLUICE_A(MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS));
  set2(out->maxSurface2D, SLUICE_A(MAXIMUM_SURFACE2D_WIDTH), SLUICE_A(MAXIMUM_SURFACE2D_HEIGHT));
  set3(out->maxSurface3D, SLUICE_A(MAXIMUM_SURFACE3D_WIDTH), SLUICE_A(MAXIMUM_SURFACE3D_HEIGHT),
       SLUICE_A(MAXIMUM_SURFACE3D_DEPTH));
  set2(out->maxSurface1DLayered, SLUICE_A(MAXIMUM_SURFACE1D_LAYERED_WIDTH),
       SLUICE_A(MAXIMUM_SURFACE1D_LAYERED_LAYERS));
  set3(out->maxSurface2DLayered, SLUICE_A(MAXIMUM_SURFACE2D_LAYERED_WIDTH),
       SLUICE_A(MAXIMUM_SURFACE2D_LAYERED_HEIGHT), SLUICE_A(MAXIMUM_SURFACE2D_LAYERED_LAYERS));
  set2(out->maxSurfaceCubemapLayered, SLUICE_A(MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH),
       SLUICE_A(MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS));
#undef SLUICE_A
}

}  // namespace detail

inline void fill_properties(const DeviceProfile& device, int ordinal, DeviceProperties12* out) {
  detail::fill_common_properties(device, ordinal, out);
  out->clockRate = device.limit(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  out->deviceOverlap = device.limit(CU_DEVICE_ATTRIBUTE_GPU_OVERLAP);
  out->kernelExecTimeoutEnabled = device.limit(CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT);
  out->computeMode = device.limit(CU_DEVICE_ATTRIBUTE_COMPUTE_MODE);
  out->maxTexture1DLinear = device.limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH);
  out->memoryClockRate = device.limit(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  out->singleToDoublePrecisionPerfRatio =
      device.limit(CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO);
  out->cooperativeMultiDeviceLaunch = device.limit(CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH);
}

inline void fill_properties(const DeviceProfile& device, int ordinal, cudaDeviceProp* out) {
  detail::fill_common_properties(device, ordinal, out);
  out->deviceNumaConfig = device.limit(CU_DEVICE_ATTRIBUTE_NUMA_CONFIG);
  out->deviceNumaId = device.limit(CU_DEVICE_ATTRIBUTE_NUMA_ID);
  out->mpsEnabled = device.limit(CU_DEVICE_ATTRIBUTE_MPS_ENABLED);
  out->hostNumaId = device.limit(CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID);
  out->gpuPciDeviceID = static_cast<unsigned>(device.limit(CU_DEVICE_ATTRIBUTE_GPU_PCI_DEVICE_ID));
  out->gpuPciSubsystemID = static_cast<unsigned>(device.limit(CU_DEVICE_ATTRIBUTE_GPU_PCI_SUBSYSTEM_ID));
  out->hostNumaMultinodeIpcSupported = device.limit(CU_DEVICE_ATTRIBUTE_HOST_NUMA_MULTINODE_IPC_SUPPORTED);
}

}  // namespace sluice::cuda
