// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The few macros that every header of the library relies on: function annotations, the guard around PTX that
// exists from sm_90 on, and the two switches of a debugging build. Nothing else is configured anywhere.
//
//   SLUICE_CHECK          1: wrong roles, counts and stages are reported with a sentence, then the thread
//   traps.
//                         Default: 1 without NDEBUG, else 0. With 0 no instruction of a check exists.
//   SLUICE_WAIT_LIMIT_NS  a number of nanoseconds: a wait that takes longer prints what it waits for, and
//   traps one
//                         limit later. Default: not defined, and waits are bare.
#pragma once

#if __cplusplus < 201703L
#error "sluice needs C++17 (typed rings C++20): compile with -std=c++17 or -std=c++20"
#endif

#include <cstdint>

#if defined(__CUDACC__)
#define SLUICE_DEVICE __device__ __forceinline__
#define SLUICE_DEVICE_COLD __device__ __noinline__
#define SLUICE_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define SLUICE_DEVICE inline
#define SLUICE_DEVICE_COLD inline
#define SLUICE_HOST_DEVICE inline
#endif

#if !defined(SLUICE_CHECK)
#if defined(NDEBUG)
#define SLUICE_CHECK 0
#else
#define SLUICE_CHECK 1
#endif
#endif

// SLUICE_PTX(...) is an asm statement where the target has it (sm_90 and newer). Elsewhere it is a trap, so
// that a program built for several architectures compiles and an older GPU does not go on with wrong results.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define SLUICE_PTX(...) asm volatile(__VA_ARGS__)
#define SLUICE_PTX_PURE(...) asm(__VA_ARGS__)
#elif defined(__CUDA_ARCH__)
#define SLUICE_PTX(...) __trap()
#define SLUICE_PTX_PURE(...) __trap()
#else
#define SLUICE_PTX(...) ((void)0)
#define SLUICE_PTX_PURE(...) ((void)0)
#endif

// SLUICE_PTX_SM90A is the same for instructions that only the architecture-specific target sm_90a has.
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define SLUICE_PTX_SM90A(...) asm volatile(__VA_ARGS__)
#elif defined(__CUDA_ARCH__)
#define SLUICE_PTX_SM90A(...) __trap()
#else
#define SLUICE_PTX_SM90A(...) ((void)0)
#endif

namespace sluice {

/// Threads that execute one instruction together, and warps that issue one wgmma together.
inline constexpr uint32_t kThreadsPerWarp = 32;
inline constexpr uint32_t kThreadsPerWarpgroup = 128;

/// Largest cluster of sm_90 (16 needs the non-portable attribute at launch; 8 is portable).
inline constexpr uint32_t kMaxClusterSize = 16;

/// Largest arrival count of an mbarrier (PTX ISA, "Contents of the mbarrier object").
inline constexpr uint32_t kMaxArrivalCount = (1u << 20) - 1;

/// Largest tx-count of an mbarrier in either direction (PTX ISA, "Tracking asynchronous operations by the
/// mbarrier").
inline constexpr uint32_t kMaxTxCount = (1u << 20) - 1;

}  // namespace sluice
