// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What a recording thread asks the hardware: clocks, which lanes act together with it, and who it is.
#pragma once

#include "sluice/arch/shared_address.hpp"
#include "sluice/trace/record.hpp"

namespace sluice::trace {

namespace detail {

SLUICE_DEVICE uint64_t sm_clock() {
  uint64_t now = 0;
  SLUICE_PTX("mov.u64 %0, %%clock64;" : "=l"(now)::"memory");
  return now;
}

SLUICE_DEVICE uint64_t global_timer() {
  uint64_t now = 0;
  SLUICE_PTX("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
  return now;
}

/// A moment at which the timer has just stepped on: it counts in steps of many cycles.
SLUICE_DEVICE Moment moment() {
  constexpr int kMostTries = 256;
  uint64_t const before = global_timer();
  Moment now{sm_clock(), before};
#pragma unroll 1
  for (int i = 0; i < kMostTries && now.time == before; ++i) {
    now.time = global_timer();
    now.clock = sm_clock();
  }
  return now;
}

SLUICE_DEVICE uint32_t active_lanes() {
#if defined(__CUDA_ARCH__)
  return __activemask();
#else
  return 1;
#endif
}

/// These lanes, which all call it, go on as one.
SLUICE_DEVICE void meet([[maybe_unused]] uint32_t lanes) {
#if defined(__CUDA_ARCH__)
  // Not a statement in PTX: the compiler might write that twice. A constant mask costs next to nothing.
  if (lanes == 0xffffffff) {
    __syncwarp();
  } else if ((lanes & (lanes - 1)) != 0) {
    __syncwarp(lanes);
  }
#endif
}

SLUICE_DEVICE uint32_t count_lanes(uint32_t lanes) {
#if defined(__CUDA_ARCH__)
  return static_cast<uint32_t>(__popc(lanes));
#else
  return lanes;
#endif
}

/// The lanes of `lanes`, which all call it, where `holds` does; and the bits that any of them has.
SLUICE_DEVICE uint32_t lanes_where([[maybe_unused]] uint32_t lanes, bool holds) {
#if defined(__CUDA_ARCH__)
  return __ballot_sync(lanes, holds);
#else
  return holds;
#endif
}
SLUICE_DEVICE uint32_t or_over_lanes([[maybe_unused]] uint32_t lanes, uint32_t bits) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_or_sync(lanes, bits);
#else
  return bits;
#endif
}

/// The lanes of `lanes`, which all call it, that have the calling lane's key; all of them where they are
/// known to be in step.
template <bool kInStep>
SLUICE_DEVICE uint32_t lanes_alike(uint32_t lanes, [[maybe_unused]] uint32_t key) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
  if (!kInStep && (lanes & (lanes - 1)) != 0) return __match_any_sync(lanes, key);
#endif
  return lanes;
}

/// The lanes that come here together, and go on together when the object's life ends: one of them may have
/// had more to do.
class Meeting {
 public:
  Meeting() = default;
  Meeting(Meeting const&) = delete;
  Meeting& operator=(Meeting const&) = delete;
  SLUICE_DEVICE ~Meeting() { meet(lanes_); }

  SLUICE_DEVICE uint32_t lanes() const { return lanes_; }

 private:
  uint32_t lanes_ = active_lanes();
};

/// Those of them that do the same as the calling lane, as the key has it: lanes that have come apart may meet
/// in different laps of a loop.
template <bool kInStep>
class Together {
 public:
  SLUICE_DEVICE explicit Together(uint32_t key) : alike_(lanes_alike<kInStep>(meeting_.lanes(), key)) {}

  SLUICE_DEVICE uint32_t alike() const { return alike_; }
  SLUICE_DEVICE uint32_t count() const { return count_lanes(alike_); }

 private:
  Meeting meeting_;
  uint32_t alike_;
};

SLUICE_DEVICE bool is_lowest_of(uint32_t lanes) {
  uint32_t lower = 0;
  SLUICE_PTX_PURE("mov.u32 %0, %%lanemask_lt;" : "=r"(lower));
  return (lanes & lower) == 0;
}

SLUICE_DEVICE uint32_t linear_thread() {
#if defined(__CUDA_ARCH__)
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
#else
  return 0;
#endif
}

SLUICE_DEVICE uint32_t linear_cta() {
#if defined(__CUDA_ARCH__)
  return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
#else
  return 0;
#endif
}

SLUICE_DEVICE uint32_t sm_number() {
  uint32_t number = 0;
  SLUICE_PTX_PURE("mov.u32 %0, %%smid;" : "=r"(number));
  return number;
}

/// Stores to global memory, by way of lines that the L2 cache gives up last: memory that is read at full
/// speed loses far more to a line written between the reads than the line's bytes.
SLUICE_DEVICE void store_cached([[maybe_unused]] uint64_t* to, [[maybe_unused]] uint64_t value) {
  uint64_t policy = 0;
  SLUICE_PTX_PURE("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  SLUICE_PTX("st.global.L2::cache_hint.u64 [%0], %1, %2;" ::"l"(to), "l"(value), "l"(policy) : "memory");
}

/// The place of a barrier in a record.
SLUICE_DEVICE uint16_t barrier_place(void const* barrier) {
  return static_cast<uint16_t>((ptx::shared_address(barrier) & 0xffffff) / 8);
}

/// Letters `first` to `first + count - 1` of a name as a number.
template <int Size>
SLUICE_DEVICE constexpr uint32_t letters(char const (&name)[Size], int first, int count) {
  uint32_t packed = 0;
  for (int i = 0; i < count && first + i < Size; ++i)
    packed |= static_cast<uint32_t>(static_cast<unsigned char>(name[first + i])) << (8 * i);
  return packed;
}

}  // namespace detail

}  // namespace sluice::trace
