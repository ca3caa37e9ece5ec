// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A ring of stages whose full barriers count bytes, with arming and committing as separate calls: acquire a
// stage, one thread expects the bytes, copies are issued, and each producer thread commits by arriving.
// Producers and consumers may be in different CTAs of the cluster.
#pragma once

#include "sluice/arch/cluster.hpp"
#include "sluice/pipeline/stage_barriers.hpp"

namespace sluice {

template <int Stages_>
class PipelineTransactionAsync {
 public:
  static_assert(Stages_ >= 0, "sluice: a PipelineTransactionAsync has no negative number of stages");

  using FullBarrier = ClusterTransactionBarrier;
  using EmptyBarrier = ClusterBarrier;
  using ProducerBarrierType = FullBarrier::ValueType;
  using ConsumerBarrierType = EmptyBarrier::ValueType;
  static constexpr uint32_t Stages = Stages_;
  using PipelineState = sluice::PipelineState<Stages>;
  using SharedStorage = StageBarrierStorage<FullBarrier, EmptyBarrier, Stages>;
  using ThreadCategory = sluice::ThreadCategory;

  /// Tells this class from CUTLASS's of the same name.
  static constexpr bool kIsSluice = true;

  struct Params {
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
      : params_(params), barriers_(storage) {
    if constexpr (detail::kCheck) {
      uint32_t const ctas = ptx::cluster_nctarank();
      detail::expect(params.dst_blockid < ctas, detail::Mistake::RankOutOfCluster, "PipelineTransactionAsync",
                     params.dst_blockid, ctas);
    }
    if constexpr (InitBarriers::value) init_barriers(storage, params);
  }

  /// Is the stage free? May sleep shortly. With `skip_wait` the answer is yes.
  SLUICE_DEVICE ProducerToken producer_try_acquire(PipelineState state, uint32_t skip_wait = false) {
    detail::expect_producer("producer_try_acquire", params_.role);
    return barriers_.try_empty(state.index(), state.phase(), skip_wait);
  }

  /// Blocks until the stage is free, unless `token` says that it is. Arms nothing.
  SLUICE_DEVICE void producer_acquire(PipelineState state, ProducerToken token = {BarrierStatus::WaitAgain}) {
    detail::expect_producer("producer_acquire", params_.role);
    if (token == BarrierStatus::WaitAgain) barriers_.wait_empty(state.index(), state.phase());
  }

  /// Adds transaction_bytes to the bytes due of this CTA's full barrier. One thread.
  SLUICE_DEVICE void producer_expect_transaction(PipelineState state) {
    detail::expect_producer("producer_expect_transaction", params_.role);
    barriers_.full(state.index()).expect_transaction(params_.transaction_bytes);
  }

  /// Arrives once at the full barrier of CTA dst_blockid.
  SLUICE_DEVICE void producer_commit(PipelineState state) {
    detail::expect_producer("producer_commit", params_.role);
    detail::expect_position("producer_commit", state.index(), state.phase(), Stages);
    barriers_.full(state.index()).arrive(params_.dst_blockid);
  }

  /// Blocks until every stage has been released.
  SLUICE_DEVICE void producer_tail(PipelineState state) {
    detail::expect_producer("producer_tail", params_.role);
    barriers_.wait_all_empty(state);
  }

  /// The barrier that the stage's copies name.
  SLUICE_DEVICE ProducerBarrierType* producer_get_barrier(PipelineState state) {
    return reinterpret_cast<ProducerBarrierType*>(&barriers_.full(state.index()));
  }

  /// Is the stage full? May sleep shortly. With `skip_wait` the answer is yes.
  SLUICE_DEVICE ConsumerToken consumer_try_wait(PipelineState state, uint32_t skip_wait = false) {
    detail::expect_consumer("consumer_try_wait", params_.role);
    return barriers_.try_full(state.index(), state.phase(), skip_wait);
  }

  /// The same without sleeping.
  SLUICE_DEVICE ConsumerToken consumer_test_wait(PipelineState state, uint32_t skip_wait = false) {
    detail::expect_consumer("consumer_test_wait", params_.role);
    return barriers_.test_full(state.index(), state.phase(), skip_wait);
  }

  /// Blocks until the stage is full, unless `token` says that it is.
  SLUICE_DEVICE void consumer_wait(PipelineState state, ConsumerToken token = {BarrierStatus::WaitAgain}) {
    detail::expect_consumer("consumer_wait", params_.role);
    if (token == BarrierStatus::WaitAgain) barriers_.wait_full(state.index(), state.phase());
  }

  /// Arrives once at the empty barrier of CTA dst_blockid: this thread is done with the stage.
  SLUICE_DEVICE void consumer_release(PipelineState state) {
    detail::expect_consumer("consumer_release", params_.role);
    detail::expect_position("consumer_release", state.index(), state.phase(), Stages);
    barriers_.empty(state.index()).arrive(params_.dst_blockid);
  }

 private:
  Params params_;
  detail::StageBarriers<SharedStorage, Stages> barriers_;
};

}  // namespace sluice
