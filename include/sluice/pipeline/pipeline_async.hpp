// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A ring of stages between threads: producers write a stage with ordinary stores or cp.async and commit it by
// arriving; consumers wait, use and release it. No bytes are counted.
#pragma once

#include "sluice/arch/cluster.hpp"
#include "sluice/pipeline/stage_pipeline.hpp"

namespace sluice {

/// PipelineAsync::Params.
struct PipelineAsyncParams {
  ThreadCategory role = ThreadCategory::NonParticipant;
  /// Threads that commit each stage.
  uint32_t producer_arv_count = 1;
  /// Threads that release each stage.
  uint32_t consumer_arv_count = 1;
  /// Rank of the CTA whose producer a release signals.
  uint32_t dst_blockid = ptx::cluster_ctarank();
  /// The warp that makes the barriers.
  int initializing_warp = 0;
};

template <int Stages_, class Trace_ = NotTraced>
class PipelineAsync : public detail::StagePipeline<ClusterBarrier, PipelineAsyncParams, Stages_, Trace_> {
  using Base = detail::StagePipeline<ClusterBarrier, PipelineAsyncParams, Stages_, Trace_>;
  using Base::barriers_;
  using Base::params_;

 public:
  using Base::Stages;
  using typename Base::Params;
  using typename Base::PipelineState;
  using typename Base::ProducerBarrierType;
  using typename Base::SharedStorage;

  /// Makes the barriers. All warps of the CTA; visible after pipeline_init_arrive_relaxed and
  /// pipeline_init_wait.
  SLUICE_DEVICE static void init_barriers(SharedStorage& storage, Params params) {
    detail::init_stage_barriers<SharedStorage, Stages>("PipelineAsync::init_barriers", storage,
                                                       params.producer_arv_count, params.consumer_arv_count,
                                                       params.initializing_warp);
  }

  /// All threads of the CTA. `InitBarriers` false leaves out init_barriers.
  template <class InitBarriers = std::true_type>
  SLUICE_DEVICE PipelineAsync(SharedStorage& storage, Params const& params, InitBarriers = {})
      : Base(storage, params) {
    detail::expect_rank("PipelineAsync", params.dst_blockid);
    if constexpr (InitBarriers::value) init_barriers(storage, params);
  }

  /// One producer thread and one consumer thread in the same CTA.
  SLUICE_DEVICE PipelineAsync(SharedStorage& storage) : PipelineAsync(storage, Params{}) {}

  /// Arrives once at the stage's full barrier: this thread's part is written.
  SLUICE_DEVICE void producer_commit(PipelineState state) {
    detail::expect_producer("producer_commit", params_.role);
    detail::expect_position("producer_commit", state.index(), state.phase(), Stages);
    barriers_.note_commit(state);
    barriers_.full(state.index()).arrive();
  }

  /// Calls `arrive_op` with the full barrier (cpasync_barrier_arrive, say), then commits.
  template <class ArriveOp>
  SLUICE_DEVICE void producer_commit(PipelineState state, ArriveOp&& arrive_op) {
    static_cast<ArriveOp&&>(arrive_op)(this->producer_get_barrier(state));
    producer_commit(state);
  }

  using Base::producer_get_barrier;
  /// The full barrier of the stage with this index.
  SLUICE_DEVICE ProducerBarrierType* producer_get_barrier(uint32_t stage) {
    return reinterpret_cast<ProducerBarrierType*>(&barriers_.full(stage));
  }

  /// Arrives once at the empty barrier of CTA dst_blockid: this thread is done with the stage.
  SLUICE_DEVICE void consumer_release(PipelineState state) {
    detail::expect_consumer("consumer_release", params_.role);
    detail::expect_position("consumer_release", state.index(), state.phase(), Stages);
    barriers_.note_release_at(state, params_.dst_blockid);
    barriers_.empty(state.index()).arrive(params_.dst_blockid);
  }
};

}  // namespace sluice
