// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Stands in front of CUTLASS's file of the same name, when compat/cutlass comes before CUTLASS's own include
// directory: kernels, collectives and epilogues then run on sluice's pipelines. CUTLASS's file is read once,
// with the replaced names out of the way. That leaves its cutlass::detail functions, which other files reach
// into, where they are, and it makes the relative include in CUTLASS's sm100_pipeline.hpp a second reading of
// the same file, which its #pragma once turns into nothing: that file needs no stand-in, and Blackwell's
// pipelines sit on sluice's states, tokens and barriers too.
#pragma once

// What CUTLASS's file includes must be read before names are moved.
#include <cutlass/arch/barrier.h>
#include <cutlass/cutlass.h>
#include <cute/arch/cluster_sm90.hpp>
#include <cute/container/array.hpp>
#include <cute/layout.hpp>
#include <cute/layout_composed.hpp>
#include <cute/numeric/integral_constant.hpp>
#include <cute/swizzle.hpp>
#include <cute/swizzle_layout.hpp>
#include <cute/util/type_traits.hpp>
#include <cutlass/detail/dependent_false.hpp>

#include <sluice/pipeline.hpp>

#define ArrivalToken PublishedArrivalToken
#define BarrierStatus PublishedBarrierStatus
#define ConsumerToken PublishedConsumerToken
#define OrderedSequenceBarrier PublishedOrderedSequenceBarrier
#define PipelineAsync PublishedPipelineAsync
#define PipelineDetail PublishedPipelineDetail
#define PipelineState PublishedPipelineState
#define PipelineTmaAsync PublishedPipelineTmaAsync
#define PipelineTmaStore PublishedPipelineTmaStore
#define PipelineTransactionAsync PublishedPipelineTransactionAsync
#define ProducerToken PublishedProducerToken
#define make_producer_start_state published_make_producer_start_state
#define pipeline_init_arrive_relaxed published_pipeline_init_arrive_relaxed
#define pipeline_init_wait published_pipeline_init_wait
#include_next <cutlass/pipeline/sm90_pipeline.hpp>
#undef ArrivalToken
#undef BarrierStatus
#undef ConsumerToken
#undef OrderedSequenceBarrier
#undef PipelineAsync
#undef PipelineDetail
#undef PipelineState
#undef PipelineTmaAsync
#undef PipelineTmaStore
#undef PipelineTransactionAsync
#undef ProducerToken
#undef make_producer_start_state
#undef pipeline_init_arrive_relaxed
#undef pipeline_init_wait

namespace cutlass {

using sluice::ArrivalToken;
using sluice::BarrierStatus;
using sluice::ConsumerToken;
using sluice::make_producer_start_state;
using sluice::OrderedSequenceBarrier;
using sluice::pipeline_init_arrive_relaxed;
using sluice::pipeline_init_wait;
using sluice::PipelineAsync;
using sluice::PipelineState;
using sluice::PipelineTmaStore;
using sluice::PipelineTransactionAsync;
using sluice::ProducerToken;

namespace PipelineDetail {

template <int Stages>
using PipelineAsyncPipelineState = sluice::PipelineState<Stages>;

template <int Stages>
using PipelineAsyncSharedStorage = typename sluice::PipelineAsync<Stages>::SharedStorage;

template <int SequenceDepth, int SequenceLength>
using OrderedSequenceBarrierSharedStorage =
    sluice::OrderedSequenceBarrierStorage<SequenceDepth, SequenceLength>;

}  // namespace PipelineDetail

#if !CUTLASS_UNIT_TEST_PIPELINE

using sluice::PipelineTmaAsync;

#else

/// For CUTLASS's own pipeline tests, which copy nothing: producer_commit completes the bytes by hand, on this
/// CTA and on every other CTA of its row and column in the cluster.
template <int Stages_>
class PipelineTmaAsync : public sluice::PipelineTmaAsync<Stages_> {
  using Base = sluice::PipelineTmaAsync<Stages_>;

 public:
  using typename Base::Params;
  using typename Base::PipelineState;
  using typename Base::SharedStorage;

  template <class ClusterShape, class... Tags>
  SLUICE_DEVICE PipelineTmaAsync(SharedStorage& storage, Params params, ClusterShape cluster_shape,
                                 Tags... tags)
      : Base(storage, params, cluster_shape, tags...), is_leader_(params.is_leader) {}

  using Base::producer_commit;

  SLUICE_DEVICE void producer_commit(PipelineState state, uint32_t bytes) {
    if (!is_leader_) return;
    using Barrier = typename Base::FullBarrier;
    auto const* barrier = Base::producer_get_barrier(state);
    uint32_t const x = sluice::ptx::cluster_ctaid_x();
    uint32_t const y = sluice::ptx::cluster_ctaid_y();
    uint32_t const extent_x = sluice::ptx::cluster_nctaid_x();
    uint32_t const extent_y = sluice::ptx::cluster_nctaid_y();
    for (uint32_t row = 0; row < extent_y; ++row)
      Barrier::complete_transaction(barrier, x + row * extent_x, bytes);
    for (uint32_t column = 0; column < extent_x; ++column) {
      if (column != x) Barrier::complete_transaction(barrier, column + y * extent_x, bytes);
    }
  }

 private:
  uint32_t is_leader_;
};

#endif

}  // namespace cutlass
