// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Lets `SequenceLength` groups of threads take turns through `SequenceDepth` stages: at each stage group 0
// goes first, and group i + 1 may enter when group i has left.
#pragma once

#include <type_traits>

#include "sluice/arch/elect.hpp"
#include "sluice/pipeline/cluster_barrier.hpp"
#include "sluice/pipeline/diagnosis.hpp"
#include "sluice/pipeline/state.hpp"
#include "sluice/trace/not_traced.hpp"

namespace sluice {

/// One barrier per stage and group, 8 bytes each.
template <int SequenceDepth, int SequenceLength>
struct OrderedSequenceBarrierStorage {
  using Barrier = ClusterBarrier;
  Barrier barrier_[SequenceDepth][SequenceLength];
};

template <int SequenceDepth_, int SequenceLength_, class Trace_ = NotTraced>
class OrderedSequenceBarrier : private Trace_ {
 public:
  static_assert(SequenceDepth_ > 0 && SequenceLength_ > 0,
                "sluice: a sequence has at least one stage and one group");

  static constexpr int SequenceDepth = SequenceDepth_;
  static constexpr int SequenceLength = SequenceLength_;
  using SharedStorage = OrderedSequenceBarrierStorage<SequenceDepth, SequenceLength>;
  using Barrier = typename SharedStorage::Barrier;

  /// Tells this class from CUTLASS's of the same name.
  static constexpr bool kIsSluice = true;

  struct Params {
    /// This thread's group, 0 to SequenceLength - 1. A thread that never waits or arrives may have any
    /// number.
    uint32_t group_id;
    /// Threads of a group; each of them calls arrive.
    uint32_t group_size;
    /// The warp that makes the barriers.
    int initializing_warp = 0;
  };

  OrderedSequenceBarrier() = delete;
  OrderedSequenceBarrier(OrderedSequenceBarrier const&) = delete;
  OrderedSequenceBarrier(OrderedSequenceBarrier&&) = delete;
  OrderedSequenceBarrier& operator=(OrderedSequenceBarrier const&) = delete;
  OrderedSequenceBarrier& operator=(OrderedSequenceBarrier&&) = delete;

  /// Makes the barriers. All warps of the CTA; visible after pipeline_init_arrive_relaxed and
  /// pipeline_init_wait. Group 0 starts on the odd phase, so that its first wait returns at once.
  SLUICE_DEVICE OrderedSequenceBarrier(SharedStorage& storage, Params const& params)
      : params_(params), barriers_(&storage.barrier_[0][0]), stage_(0, params.group_id == 0, 0) {
    detail::expect_storage("OrderedSequenceBarrier", &storage, params.initializing_warp);
    if (ptx::warp_index_sync() == static_cast<uint32_t>(params.initializing_warp) && ptx::elect_one_sync()) {
      for (int i = 0; i < SequenceDepth * SequenceLength; ++i) barriers_[i].init(params.group_size);
    }
    fence_barrier_init();
  }

  /// Where a traced sequence notes what the calling threads do with it.
  template <class Recorder>
  SLUICE_DEVICE void record_in(Recorder& recorder) {
    static_assert(
        !std::is_same_v<Trace_, NotTraced>,
        "sluice: this sequence is not recorded: give it sluice::Traced as its last template argument");
    Trace_::record_in(recorder);
  }

  /// Blocks until it is this group's turn at the current stage.
  SLUICE_DEVICE void wait() {
    expect_group("OrderedSequenceBarrier::wait");
    // The first group's first turn is free: it waits for the phase before the first.
    Trace_::wait(barrier_of(params_.group_id), stage_.phase(), round() - (params_.group_id == 0),
                 detail::WaitSite{detail::WaitSite::Waiter::Group, detail::WaitSite::Barrier::Sequence,
                                  static_cast<uint32_t>(stage_.index())});
  }

  /// Leaves the current stage: the next group may enter it. Goes on to the next stage.
  SLUICE_DEVICE void arrive() {
    expect_group("OrderedSequenceBarrier::arrive");
    auto& next = barrier_of((params_.group_id + 1) % SequenceLength);
    Trace_::arrives(next, round());
    next.arrive();
    ++stage_;
  }

  /// Goes on to the next stage without a signal.
  SLUICE_DEVICE void advance() { ++stage_; }

 private:
  SLUICE_DEVICE int round() const { return static_cast<int>(stage_.count() / SequenceDepth); }

  SLUICE_DEVICE Barrier& barrier_of(uint32_t group) {
    return barriers_[stage_.index() * SequenceLength + group];
  }

  SLUICE_DEVICE void expect_group(char const* method) const {
    detail::expect(params_.group_id < SequenceLength, detail::Mistake::GroupOutOfRange, method,
                   params_.group_id, SequenceLength);
  }

  Params params_;
  Barrier* barriers_;
  PipelineState<SequenceDepth> stage_;
};

}  // namespace sluice
