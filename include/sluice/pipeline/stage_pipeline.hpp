// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What PipelineTmaAsync, PipelineAsync and PipelineTransactionAsync share: their names, and every call that
// only looks at a stage. How a stage is armed, committed and released differs and stands in each class.
#pragma once

#include "sluice/pipeline/stage_barriers.hpp"

namespace sluice::detail {

/// `Params_` has a member `role`.
template <class FullBarrier_, class Params_, int Stages_, class Trace_>
class StagePipeline {
 public:
  static_assert(Stages_ >= 0, "sluice: a pipeline has no negative number of stages");

  using FullBarrier = FullBarrier_;
  using EmptyBarrier = ClusterBarrier;
  using ProducerBarrierType = typename FullBarrier::ValueType;
  using ConsumerBarrierType = EmptyBarrier::ValueType;
  static constexpr uint32_t Stages = Stages_;
  using PipelineState = sluice::PipelineState<Stages>;
  using SharedStorage = StageBarrierStorage<FullBarrier, EmptyBarrier, Stages>;
  using ThreadCategory = sluice::ThreadCategory;
  using Params = Params_;

  /// Tells the class from CUTLASS's of the same name.
  static constexpr bool kIsSluice = true;

  /// Where a traced pipeline (last template argument Traced) notes what the calling threads do with it.
  template <class Recorder>
  SLUICE_DEVICE void record_in(Recorder& recorder) {
    static_assert(
        !std::is_same_v<Trace_, NotTraced>,
        "sluice: this pipeline is not recorded: give it sluice::Traced as its last template argument");
    barriers_.record_in(recorder, is_producer(params_.role) || is_consumer(params_.role));
  }

  /// Is the stage free? May sleep shortly. With `skip_wait` the answer is yes.
  SLUICE_DEVICE ProducerToken producer_try_acquire(PipelineState state, uint32_t skip_wait = false) {
    expect_producer("producer_try_acquire", params_.role);
    return barriers_.try_empty(state.index(), state.phase(), skip_wait);
  }

  /// Blocks until the stage is free, unless `token` says that it is.
  SLUICE_DEVICE void producer_acquire(PipelineState state, ProducerToken token = {BarrierStatus::WaitAgain}) {
    expect_producer("producer_acquire", params_.role);
    if (token == BarrierStatus::WaitAgain) {
      barriers_.wait_empty(state);
    } else {
      barriers_.note_empty(state);
    }
  }

  /// Blocks until every stage has been released. In a cluster the producer's last call: peers still signal
  /// this CTA's barriers until then, and it must not end before.
  SLUICE_DEVICE void producer_tail(PipelineState state) {
    expect_producer("producer_tail", params_.role);
    barriers_.wait_all_empty(state);
  }

  /// The stage's full barrier: what its copies name.
  SLUICE_DEVICE ProducerBarrierType* producer_get_barrier(PipelineState state) {
    return reinterpret_cast<ProducerBarrierType*>(&barriers_.full(state.index()));
  }

  /// Is the stage full? May sleep shortly. With `skip_wait` the answer is yes.
  SLUICE_DEVICE ConsumerToken consumer_try_wait(PipelineState state, uint32_t skip_wait = false) {
    expect_consumer("consumer_try_wait", params_.role);
    return barriers_.try_full(state.index(), state.phase(), skip_wait);
  }

  /// The same without sleeping.
  SLUICE_DEVICE ConsumerToken consumer_test_wait(PipelineState state, uint32_t skip_wait = false) {
    expect_consumer("consumer_test_wait", params_.role);
    return barriers_.test_full(state.index(), state.phase(), skip_wait);
  }

  /// Blocks until the stage is full, unless `token` says that it is.
  SLUICE_DEVICE void consumer_wait(PipelineState state, ConsumerToken token = {BarrierStatus::WaitAgain}) {
    expect_consumer("consumer_wait", params_.role);
    if (token == BarrierStatus::WaitAgain) {
      barriers_.wait_full(state);
    } else {
      barriers_.note_full(state);
    }
  }

 protected:
  SLUICE_DEVICE StagePipeline(SharedStorage& storage, Params const& params)
      : params_(params), barriers_(storage) {}

  Params params_;
  StageBarriers<SharedStorage, Stages, Trace_> barriers_;
};

/// Stops where a CTA has fewer threads than consumers.
SLUICE_DEVICE void expect_consumer_count([[maybe_unused]] char const* method,
                                         [[maybe_unused]] uint32_t consumers) {
#if SLUICE_CHECK && defined(__CUDA_ARCH__)
  uint32_t const threads = blockDim.x * blockDim.y * blockDim.z;
  expect(consumers <= threads, Mistake::MoreConsumersThanThreads, method, consumers, threads);
#endif
}

/// Stops where `cta` is no rank of this cluster.
SLUICE_DEVICE void expect_rank(char const* pipeline, uint32_t cta) {
  if constexpr (kCheck) {
    uint32_t const ctas = ptx::cluster_nctarank();
    expect(cta < ctas, Mistake::RankOutOfCluster, pipeline, cta, ctas);
  }
}

}  // namespace sluice::detail
