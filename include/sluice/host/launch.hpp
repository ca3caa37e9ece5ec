// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Launches a kernel with clusters and large shared memory. The three attributes that are forgotten most often
// (dynamic shared memory above 48 KiB, the cluster shape, clusters above 8 CTAs) follow from one description,
// and what the device cannot do comes back as a sentence before the launch.
#pragma once

#include <cuda_runtime_api.h>
#include <cstddef>

#include "sluice/host/error.hpp"

namespace sluice {

/// What a launch breaks.
enum class LaunchRule {
  None,                   ///< nothing is wrong
  GridNotWhole,           ///< the grid is not made of whole clusters
  GridTooLarge,           ///< more CTAs along a dimension than a grid can have
  ClusterTooLarge,        ///< more than 16 CTAs in a cluster
  TooManyThreads,         ///< more than 1024 threads in a CTA
  TooMuchShared,          ///< more shared memory than the device gives one CTA
  ClusterNotSchedulable,  ///< the device cannot hold one cluster of this shape
  RuntimeCall,            ///< the CUDA runtime answered with an error
};

using LaunchError = host::Error<LaunchRule>;

/// How a kernel is started. Host only.
struct LaunchShape {
  dim3 grid{1, 1, 1};            ///< CTAs, not clusters
  dim3 cta{1, 1, 1};             ///< threads of a CTA
  std::size_t shared_bytes = 0;  ///< dynamic shared memory of a CTA
  dim3 cluster{1, 1, 1};         ///< CTAs of a cluster
  cudaStream_t stream = nullptr;
  bool after_previous_kernel_triggers = false;  ///< programmatic dependent launch
};

namespace host::detail {

/// As a number that does not overflow.
inline double volume(const dim3& extents) {
  return static_cast<double>(extents.x) * extents.y * extents.z;
}

inline bool check_launch(const LaunchShape& shape, LaunchError& error) {
  if (const double ctas = volume(shape.cluster); ctas < 1 || ctas > 16) {
    error.set(LaunchRule::ClusterTooLarge,
              "the cluster has %.0f CTAs, a cluster has 1 to 16: take a smaller shape", ctas);
    return false;
  }
  if (const double threads = volume(shape.cta); threads < 1 || threads > 1024 || shape.cta.z > 64) {
    error.set(LaunchRule::TooManyThreads,
              "the CTA has %u x %u x %u threads, a CTA has 1 to 1024, at most 64 along z: take fewer warps",
              shape.cta.x, shape.cta.y, shape.cta.z);
    return false;
  }
  if (shape.grid.x > 2147483647u || shape.grid.y > 65535u || shape.grid.z > 65535u) {
    error.set(
        LaunchRule::GridTooLarge,
        "the grid has %u x %u x %u CTAs, at most 2147483647 along x and 65535 along y and z: put the long "
        "dimension first, or loop in the kernel",
        shape.grid.x, shape.grid.y, shape.grid.z);
    return false;
  }
  const unsigned grid[3] = {shape.grid.x, shape.grid.y, shape.grid.z};
  const unsigned cluster[3] = {shape.cluster.x, shape.cluster.y, shape.cluster.z};
  for (int i = 0; i < 3; ++i) {
    if (grid[i] == 0 || grid[i] % cluster[i] != 0) {
      error.set(LaunchRule::GridNotWhole,
                "the grid has %u CTAs along %c and the cluster %u: make the grid a multiple of the cluster",
                grid[i], "xyz"[i], cluster[i]);
      return false;
    }
  }
  return true;
}

inline bool check_runtime(cudaError_t status, const char* call, LaunchError& error) {
  if (status == cudaSuccess) return true;
  error.set(LaunchRule::RuntimeCall, "%s answers %s (%s)", call, cudaGetErrorName(status),
            cudaGetErrorString(status));
  return false;
}

/// Sets the kernel's attributes and asks the device whether one CTA fits.
inline bool prepare_kernel(const void* kernel, const LaunchShape& shape, LaunchError& error) {
  int device = 0;
  int limit = 0;
  cudaFuncAttributes attributes{};
  if (!check_runtime(cudaGetDevice(&device), "cudaGetDevice", error) ||
      !check_runtime(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
                     "cudaDeviceGetAttribute", error) ||
      !check_runtime(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes", error)) {
    return false;
  }
  const auto most = static_cast<std::size_t>(limit);
  if (shape.shared_bytes > most || attributes.sharedSizeBytes > most - shape.shared_bytes) {
    error.set(LaunchRule::TooMuchShared,
              "the CTA needs %zu bytes of dynamic and %zu of static shared memory, this device gives a CTA "
              "%d: take fewer "
              "stages or smaller tiles",
              shape.shared_bytes, attributes.sharedSizeBytes, limit);
    return false;
  }
  if (shape.shared_bytes > 48 * 1024 &&
      !check_runtime(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          static_cast<int>(shape.shared_bytes)),
                     "cudaFuncSetAttribute(MaxDynamicSharedMemorySize)", error)) {
    return false;
  }
  if (shape.cluster.x * shape.cluster.y * shape.cluster.z > 8 &&
      !check_runtime(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
                     "cudaFuncSetAttribute(NonPortableClusterSizeAllowed)", error)) {
    return false;
  }
  return true;
}

}  // namespace host::detail

/// Starts `kernel` with `arguments`; does not wait for it. Returns an error that is false if the launch was
/// accepted. Arguments are converted to the kernel's parameter types.
template <class... Parameters, class... Arguments>
LaunchError launch(void (*kernel)(Parameters...), const LaunchShape& shape, Arguments&&... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments),
                "sluice: launch() needs as many arguments as the kernel has parameters");
  LaunchError error;
  const auto* entry = reinterpret_cast<const void*>(kernel);
  if (!host::detail::check_launch(shape, error) || !host::detail::prepare_kernel(entry, shape, error))
    return error;

  cudaLaunchAttribute attributes[2];
  cudaLaunchConfig_t config{};
  config.gridDim = shape.grid;
  config.blockDim = shape.cta;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = shape.stream;
  config.attrs = attributes;
  const bool clustered = shape.cluster.x * shape.cluster.y * shape.cluster.z > 1;
  if (clustered) {
    cudaLaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = shape.cluster.x;
    attribute.val.clusterDim.y = shape.cluster.y;
    attribute.val.clusterDim.z = shape.cluster.z;
  }
  if (shape.after_previous_kernel_triggers) {
    cudaLaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
  }
  if (clustered) {
    int clusters = 0;
    if (!host::detail::check_runtime(cudaOccupancyMaxActiveClusters(&clusters, entry, &config),
                                     "cudaOccupancyMaxActiveClusters", error)) {
      return error;
    }
    if (clusters == 0) {
      error.set(LaunchRule::ClusterNotSchedulable,
                "no cluster of %u x %u x %u CTAs fits this device with %zu bytes of shared memory each: take "
                "a smaller "
                "cluster or fewer stages",
                shape.cluster.x, shape.cluster.y, shape.cluster.z, shape.shared_bytes);
      return error;
    }
  }

  // The runtime takes one pointer per parameter.
  const auto start = [&](Parameters... values) {
    void* pointers[sizeof...(Parameters) + 1] = {
        const_cast<void*>(static_cast<const volatile void*>(&values))...};
    return cudaLaunchKernelExC(&config, entry, pointers);
  };
  host::detail::check_runtime(start(static_cast<Arguments&&>(arguments)...), "the kernel launch", error);
  return error;
}

}  // namespace sluice
