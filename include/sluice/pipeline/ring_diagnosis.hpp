// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What a typed ring says in a debugging build about the few mistakes that types cannot see: where its storage
// lies, how the kernel was launched, and slots that are loaded twice or never. With SLUICE_CHECK 0 nothing of
// it reaches the program.
#pragma once

#include "sluice/pipeline/diagnosis.hpp"

namespace sluice::detail {

#if SLUICE_CHECK && defined(__CUDACC__)

static __device__ __noinline__ void report_ring(const char* what, uint32_t value, uint32_t bound) {
  speak_once_and_trap([=] {
    printf("sluice: ring: %s (%u, needed %u): CTA (%u,%u,%u) thread %u (warp %u)\n", what, value, bound,
           blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.x / kThreadsPerWarp);
  });
}

SLUICE_DEVICE void expect_ring(bool holds, const char* what, uint32_t value, uint32_t bound) {
  if (!holds) report_ring(what, value, bound);
}

#else

SLUICE_DEVICE void expect_ring(bool, const char*, uint32_t, uint32_t) {}

#endif

/// A slot's life ends: it must have been loaded, or its consumers wait for ever.
SLUICE_DEVICE void expect_loaded(bool is_loaded) {
  expect_ring(is_loaded, "a slot was acquired but never loaded: call load() once for each", 0, 1);
}

/// A slot is about to be loaded: it must not have been.
SLUICE_DEVICE void expect_not_loaded(bool is_loaded) {
  expect_ring(!is_loaded, "a slot was loaded a second time: acquire the next one", 2, 1);
}

/// Storage (of `bytes` without the padding at its end) and launch against the ring's statement.
template <class Facts, int WarpsNeeded>
SLUICE_DEVICE void expect_ring_fits([[maybe_unused]] const void* storage, [[maybe_unused]] uint32_t bytes) {
#if SLUICE_CHECK && defined(__CUDA_ARCH__)
  const uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(storage));
  expect_ring(address % Facts::kAlignment == 0,
              "the storage lies off its alignment: take it from shared_memory<T>()", address,
              Facts::kAlignment);
  uint32_t begin = 0, given = 0;
  asm("mov.b32 %0, %%reserved_smem_offset_cap;" : "=r"(begin));
  asm("mov.u32 %0, %%total_smem_size;" : "=r"(given));
  const uint32_t needed =
      address % (1u << 24) - begin + bytes;  // above them stands the CTA's rank in its cluster
  expect_ring(needed <= given, "the launch gives the CTA too little shared memory: pass Ring::kSharedBytes",
              given, needed);
  expect_ring(blockDim.y * blockDim.z == 1, "the CTA is not one-dimensional, so warps cannot be told",
              blockDim.y, 1);
  expect_ring(blockDim.x >= 32u * WarpsNeeded, "the CTA has fewer threads than the ring's warps need",
              blockDim.x, 32u * WarpsNeeded);
  uint32_t ctas = 0;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(ctas));
  expect_ring(Facts::Extent::kSize == 1 || ctas == Facts::Extent::kSize,
              "the launch has another cluster shape than the ring", ctas, Facts::Extent::kSize);
#endif
}

}  // namespace sluice::detail
