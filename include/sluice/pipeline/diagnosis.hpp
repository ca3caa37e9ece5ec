// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What the library says when it is used wrongly. All sentences stand here, in one function: what is wrong,
// the number and the bound, where (CTA, thread), what to do. Then the thread traps. With SLUICE_CHECK 0
// nothing of this file reaches the program.
#pragma once

#include "sluice/arch/config.hpp"

#if SLUICE_CHECK
#include <cstdio>
#endif

namespace sluice::detail {

/// Do calls check their arguments and callers?
inline constexpr bool kCheck = SLUICE_CHECK != 0;

/// What can be seen to be wrong from inside one call.
enum class Mistake {
  NotAProducer,
  NotAConsumer,
  TooManyLeaders,
  StageOutOfRange,
  PhaseNotABit,
  ZeroArrivals,
  TooManyArrivals,
  TooManyBytes,
  StorageMisaligned,
  ClusterTooLarge,
  ConsumersNotSpreadable,
  MoreConsumersThanThreads,
  RankOutOfCluster,
  WarpOutOfCta,
  NamedBarrierOutOfRange,
  NamedBarrierThreads,
  GroupOutOfRange,
};

#if SLUICE_CHECK && defined(__CUDACC__)

/// One lane speaks for all that stand here together; the others do not trap before it has.
template <class Speak>
SLUICE_DEVICE void speak_once_and_trap([[maybe_unused]] Speak speak) {
#if defined(__CUDA_ARCH__)
  uint32_t const lanes = __activemask();
  if (threadIdx.x % kThreadsPerWarp == static_cast<uint32_t>(__ffs(static_cast<int>(lanes)) - 1)) speak();
  __syncwarp(lanes);
#endif
  __trap();
}

/// Prints the sentence of `mistake` made in `method` and traps. `value` is the number that is wrong, `bound`
/// what it was held against.
static __device__ __noinline__ void report(Mistake mistake, char const* method, uint32_t value,
                                           uint32_t bound) {
  char const* what = "";
  char const* relation = "bound";
  char const* advice = "";
  switch (mistake) {
    case Mistake::NotAProducer:
      what = "the caller's role (0 none, 1 producer, 2 consumer, 3 both) is";
      relation = "needed is 3 or";
      advice = "set Params::role, or call this from a producer only";
      break;
    case Mistake::NotAConsumer:
      what = "the caller's role (0 none, 1 producer, 2 consumer, 3 both) is";
      relation = "needed is 3 or";
      advice = "set Params::role, or call this from a consumer only";
      break;
    case Mistake::TooManyLeaders:
      what = "threads of this warp with Params::is_leader:";
      relation = "but Params::num_producers is";
      advice = "each leader arrives, so elect as many as there are producers";
      break;
    case Mistake::StageOutOfRange:
      what = "the state stands at stage";
      relation = "but the number of stages is";
      advice = "use the pipeline's own PipelineState";
      break;
    case Mistake::PhaseNotABit:
      what = "the state waits for phase";
      relation = "but a phase is at most";
      advice = "take the phase from a PipelineState";
      break;
    case Mistake::ZeroArrivals:
      what = "arrivals that complete a phase:";
      relation = "but there must be at least";
      advice = "set the counts of producers and consumers in Params";
      break;
    case Mistake::TooManyArrivals:
      what = "arrivals that complete a phase:";
      relation = "but a barrier counts to";
      advice = "correct the counts of producers and consumers in Params";
      break;
    case Mistake::TooManyBytes:
      what = "bytes expected in one phase:";
      relation = "but a barrier counts to";
      advice = "make the stage smaller or correct Params::transaction_bytes";
      break;
    case Mistake::StorageMisaligned:
      what = "the barriers lie at shared address";
      relation = "which must be a multiple of";
      advice = "align the SharedStorage";
      break;
    case Mistake::ClusterTooLarge:
      what = "CTAs in the cluster shape:";
      relation = "but a cluster has at most";
      advice = "correct the cluster shape";
      break;
    case Mistake::ConsumersNotSpreadable:
      what = "consumer threads that share the release among the CTAs of a cluster:";
      relation = "but it takes 32 or a multiple of";
      advice = "correct Params::num_consumers";
      break;
    case Mistake::MoreConsumersThanThreads:
      what = "consumer threads of one CTA:";
      relation = "but the CTA's threads are";
      advice = "correct Params::num_consumers, which counts the threads that call consumer_release";
      break;
    case Mistake::RankOutOfCluster:
      what = "signals the CTA of rank";
      relation = "but the number of CTAs in the cluster is";
      advice = "correct Params::dst_blockid";
      break;
    case Mistake::WarpOutOfCta:
      what = "the barriers are initialised by warp";
      relation = "but the number of warps is";
      advice = "correct Params::initializing_warp";
      break;
    case Mistake::NamedBarrierOutOfRange:
      what = "the named barrier's number is";
      relation = "but there are";
      advice = "a user's ids are 0 to 7, since 8 are reserved";
      break;
    case Mistake::NamedBarrierThreads:
      what = "threads of a named barrier:";
      relation = "but it takes a multiple of 32, at most";
      advice = "count whole warps";
      break;
    case Mistake::GroupOutOfRange:
      what = "Params::group_id is";
      relation = "but the number of groups is";
      advice = "count groups from 0";
      break;
  }
  speak_once_and_trap([=] {
    printf("sluice: %s: %s %u, %s %u: CTA (%u,%u,%u) thread %u (warp %u): %s\n", method, what, value,
           relation, bound, blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.x / kThreadsPerWarp,
           advice);
  });
}

/// Reports `mistake` unless `holds`.
SLUICE_DEVICE void expect(bool holds, Mistake mistake, char const* method, uint32_t value, uint32_t bound) {
  if (!holds) report(mistake, method, value, bound);
}

#else

SLUICE_DEVICE void expect(bool, Mistake, char const*, uint32_t, uint32_t) {}

#endif

/// A count that a barrier is initialised with.
SLUICE_DEVICE void expect_arrivals(char const* method, uint32_t count) {
  expect(count > 0, Mistake::ZeroArrivals, method, count, 1);
  expect(count <= kMaxArrivalCount, Mistake::TooManyArrivals, method, count, kMaxArrivalCount);
}

/// The stage and phase of a state that is about to be waited for or signalled.
SLUICE_DEVICE void expect_position(char const* method, uint32_t stage, uint32_t phase, uint32_t stages) {
  expect(stage < stages, Mistake::StageOutOfRange, method, stage, stages);
  expect(phase <= 1, Mistake::PhaseNotABit, method, phase, 1);
}

/// The place of the barriers and the warp that initialises them.
SLUICE_DEVICE void expect_storage([[maybe_unused]] char const* method, [[maybe_unused]] void const* storage,
                                  [[maybe_unused]] int initializing_warp) {
#if SLUICE_CHECK && defined(__CUDA_ARCH__)
  uint32_t const address = static_cast<uint32_t>(__cvta_generic_to_shared(storage));
  uint32_t const warps = (blockDim.x + kThreadsPerWarp - 1) / kThreadsPerWarp;
  expect(address % 8 == 0, Mistake::StorageMisaligned, method, address, 8);
  expect(static_cast<uint32_t>(initializing_warp) < warps, Mistake::WarpOutOfCta, method,
         static_cast<uint32_t>(initializing_warp), warps);
#endif
}

}  // namespace sluice::detail
