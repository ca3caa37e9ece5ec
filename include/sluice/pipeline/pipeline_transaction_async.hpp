// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A ring of stages whose full barriers count bytes, with arming and committing as separate calls: acquire a
// stage, one thread expects the bytes, copies are issued, and each producer thread commits by arriving.
// Producers and consumers may be in different CTAs of the cluster.
#pragma once

#include "sluice/arch/cluster.hpp"
#include "sluice/pipeline/stage_pipeline.hpp"

namespace sluice {

/// PipelineTransactionAsync::Params.
struct PipelineTransactionAsyncParams {
  ThreadCategory role = ThreadCategory::NonParticipant;
  /// Bytes that producer_expect_transaction announces.
  uint32_t transaction_bytes = 0;
  /// Threads that commit each stage.
  uint32_t producer_arv_count = 1;
  /// Threads that release each stage.
  uint32_t consumer_arv_count = 1;
  /// Rank of the CTA whose barriers commit and release signal.
  uint32_t dst_blockid = ptx::cluster_ctarank();
  /// The warp that makes the barriers.
  int initializing_warp = 0;
};

template <int Stages_, class Trace_ = NotTraced>
class PipelineTransactionAsync
    : public detail::StagePipeline<ClusterTransactionBarrier, PipelineTransactionAsyncParams, Stages_,
                                   Trace_> {
  using Base =
      detail::StagePipeline<ClusterTransactionBarrier, PipelineTransactionAsyncParams, Stages_, Trace_>;
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
  SLUICE_DEVICE static void init_barriers(SharedStorage& storage, Params const& params) {
    detail::init_stage_barriers<SharedStorage, Stages>("PipelineTransactionAsync::init_barriers", storage,
                                                       params.producer_arv_count, params.consumer_arv_count,
                                                       params.initializing_warp);
  }

  /// All threads of the CTA. `InitBarriers` false leaves out init_barriers.
  template <class InitBarriers = std::true_type>
  SLUICE_DEVICE PipelineTransactionAsync(SharedStorage& storage, Params const& params, InitBarriers = {})
      : Base(storage, params) {
    detail::expect_rank("PipelineTransactionAsync", params.dst_blockid);
    if constexpr (InitBarriers::value) init_barriers(storage, params);
  }

  /// Adds transaction_bytes to the bytes due of this CTA's full barrier. One thread.
  SLUICE_DEVICE void producer_expect_transaction(PipelineState state) {
    detail::expect_producer("producer_expect_transaction", params_.role);
    barriers_.note_expect(state, params_.transaction_bytes);
    barriers_.full(state.index()).expect_transaction(params_.transaction_bytes);
  }

  /// Arrives once at the full barrier of CTA dst_blockid.
  SLUICE_DEVICE void producer_commit(PipelineState state) {
    detail::expect_producer("producer_commit", params_.role);
    detail::expect_position("producer_commit", state.index(), state.phase(), Stages);
    barriers_.note_commit_at(state, params_.dst_blockid);
    barriers_.full(state.index()).arrive(params_.dst_blockid);
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
