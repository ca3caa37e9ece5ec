// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// With compat/cutlass in front of CUTLASS's headers, CUTLASS's names are sluice's classes, and what CUTLASS's
// own would be is still there under another name, so that both can be held against each other: sizes,
// alignments, stages. All of it is decided by the compiler.
#include <cutlass/arch/barrier.h>
#include <cute/tensor.hpp>
#include <cutlass/pipeline/pipeline.hpp>
#include <type_traits>

// The names mean sluice's classes.
static_assert(std::is_same_v<cutlass::PipelineTmaAsync<3>, sluice::PipelineTmaAsync<3>>);
static_assert(std::is_same_v<cutlass::PipelineAsync<3>, sluice::PipelineAsync<3>>);
static_assert(std::is_same_v<cutlass::PipelineTransactionAsync<3>, sluice::PipelineTransactionAsync<3>>);
static_assert(std::is_same_v<cutlass::PipelineTmaStore<3, 1>, sluice::PipelineTmaStore<3, 1>>);
static_assert(std::is_same_v<cutlass::OrderedSequenceBarrier<2, 2>, sluice::OrderedSequenceBarrier<2, 2>>);
static_assert(std::is_same_v<cutlass::PipelineState<3>, sluice::PipelineState<3>>);
static_assert(std::is_same_v<cutlass::arch::ClusterBarrier, sluice::ClusterBarrier>);
static_assert(std::is_same_v<cutlass::arch::ClusterTransactionBarrier, sluice::ClusterTransactionBarrier>);
static_assert(std::is_same_v<cutlass::arch::NamedBarrier, sluice::NamedBarrier>);
static_assert(std::is_same_v<cutlass::ConsumerToken, sluice::ConsumerToken>);
static_assert(cutlass::PipelineTmaAsync<2>::kIsSluice && cutlass::PipelineAsync<2>::kIsSluice);
static_assert(cutlass::PipelineTransactionAsync<2>::kIsSluice && cutlass::PipelineTmaStore<2>::kIsSluice);

// Blackwell's pipelines are CUTLASS's, on sluice's states and barriers.
static_assert(std::is_same_v<cutlass::PipelineTmaUmmaAsync<4>::PipelineState, sluice::PipelineState<4>>);
static_assert(std::is_same_v<cutlass::PipelineTmaUmmaAsync<4>::EmptyBarrier, sluice::ClusterBarrier>);

/// Storage of one size and alignment under both names.
template <class Ours, class Published>
constexpr bool same_storage = sizeof(typename Ours::SharedStorage) ==
                                  sizeof(typename Published::SharedStorage) &&
                              alignof(typename Ours::SharedStorage) ==
                                  alignof(typename Published::SharedStorage) &&
                              Ours::Stages == Published::Stages;

template <int Stages>
constexpr bool same_layout() {
  using cutlass::PublishedPipelineAsync;
  using cutlass::PublishedPipelineTmaAsync;
  using cutlass::PublishedPipelineTransactionAsync;
  static_assert(same_storage<cutlass::PipelineTmaAsync<Stages>, PublishedPipelineTmaAsync<Stages>>);
  static_assert(same_storage<cutlass::PipelineAsync<Stages>, PublishedPipelineAsync<Stages>>);
  static_assert(
      same_storage<cutlass::PipelineTransactionAsync<Stages>, PublishedPipelineTransactionAsync<Stages>>);
  static_assert(sizeof(typename cutlass::OrderedSequenceBarrier<Stages, 2>::SharedStorage) ==
                sizeof(typename cutlass::PublishedOrderedSequenceBarrier<Stages, 2>::SharedStorage));
  static_assert(sizeof(cutlass::PipelineState<Stages>) == sizeof(cutlass::PublishedPipelineState<Stages>));
  return true;
}

template <int... Stages>
constexpr bool same_layouts(std::integer_sequence<int, Stages...>) {
  return (same_layout<Stages + 1>() && ...);
}
static_assert(same_layouts(std::make_integer_sequence<int, 16>{}));
static_assert(
    same_storage<cutlass::PipelineTransactionAsync<0>, cutlass::PublishedPipelineTransactionAsync<0>>);
static_assert(sizeof(cutlass::arch::ClusterBarrier) == sizeof(cutlass::arch::PublishedClusterBarrier));
static_assert(cutlass::arch::NamedBarrier::ReservedNamedBarrierCount ==
              cutlass::arch::PublishedNamedBarrier::ReservedNamedBarrierCount);
static_assert(static_cast<int>(cutlass::arch::ReservedNamedBarriers::StreamkBarrier1) ==
              static_cast<int>(cutlass::arch::PublishedReservedNamedBarriers::StreamkBarrier1));

// CuTe's shapes, static and dynamic, are cluster shapes.
static_assert(sluice::detail::cluster_extent(cute::Shape<cute::_2, cute::_4, cute::_1>{}).size() == 8);
static_assert(sluice::detail::cluster_extent(cute::Shape<cute::_2, cute::_4, cute::_1>{}).is_static);
static_assert(sluice::detail::cluster_extent(cute::Shape<cute::_2, cute::_4>{}).y == 4);

__global__ void shapes_from_cute(int n) {
  using Pipeline = cutlass::PipelineTmaAsync<4>;
  __shared__ Pipeline::SharedStorage storage[3];
  Pipeline::Params params;
  params.num_consumers = 128;
  Pipeline from_types(storage[0], params, cute::Shape<cute::_2, cute::_1, cute::_1>{});
  Pipeline from_values(storage[1], params, cute::make_shape(n, cute::_2{}, 1));
  Pipeline later(storage[2], params, cute::cluster_shape(), cute::true_type{}, cute::false_type{});
  later.init_masks(cute::make_shape(n, 1));
  cutlass::arch::fence_barrier_init();
  cutlass::pipeline_init_arrive_relaxed(n);
  cutlass::pipeline_init_wait(n);
}
