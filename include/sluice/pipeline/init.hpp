// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Between making the barriers and using them: every thread arrives, and waits before its first use. Work that
// needs no barrier fits in between. In a single CTA both are __syncthreads.
#pragma once

#include "sluice/arch/cluster.hpp"

namespace sluice {

/// All threads of the CTA (of the cluster, if it has more than one CTA), after the pipelines' constructors.
SLUICE_DEVICE void pipeline_init_arrive_relaxed(int cluster_size) {
  if (cluster_size > 1) {
    ptx::barrier_cluster_arrive_relaxed();
  } else {
#if defined(__CUDA_ARCH__)
    __syncthreads();
#endif
  }
}

/// Blocks until all threads have arrived: the barriers can be used.
SLUICE_DEVICE void pipeline_init_wait(int cluster_size) {
  if (cluster_size > 1) {
    ptx::barrier_cluster_wait();
  } else {
#if defined(__CUDA_ARCH__)
    __syncthreads();
#endif
  }
}

}  // namespace sluice
