// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Where barriers lie in shared memory: kernels count these bytes, and CUTLASS's kernels overlay them.
#include <gtest/gtest.h>

#include <cstddef>

#include "sluice/pipeline.hpp"

namespace sluice {
namespace {

TEST(Layout, a_barrier_is_eight_aligned_bytes) {
  static_assert(sizeof(ClusterBarrier) == 8 && alignof(ClusterBarrier) == 8);
  static_assert(sizeof(ClusterTransactionBarrier) == 8 && alignof(ClusterTransactionBarrier) == 8);
}

template <class Pipeline>
void expect_full_then_empty() {
  using Storage = typename Pipeline::SharedStorage;
  constexpr std::size_t kStages = Pipeline::Stages;
  EXPECT_EQ(sizeof(Storage), 16 * kStages);
  EXPECT_EQ(alignof(Storage), 8u);
  EXPECT_EQ(offsetof(Storage, full_barrier_), 0u);
  EXPECT_EQ(offsetof(Storage, empty_barrier_), 8 * kStages);
}

TEST(Layout, storage_is_all_full_barriers_then_all_empty_ones) {
  expect_full_then_empty<PipelineTmaAsync<1>>();
  expect_full_then_empty<PipelineTmaAsync<3>>();
  expect_full_then_empty<PipelineTmaAsync<16>>();
  expect_full_then_empty<PipelineAsync<2>>();
  expect_full_then_empty<PipelineAsync<7>>();
  expect_full_then_empty<PipelineTransactionAsync<4>>();
}

TEST(Layout, three_stages_take_48_bytes) {
  static_assert(sizeof(PipelineTmaAsync<3>::SharedStorage) == 48);
  static_assert(sizeof(PipelineTransactionAsync<3>::SharedStorage) == 48);
  static_assert(sizeof(PipelineAsync<3>::SharedStorage) == 48);
}

TEST(Layout, a_pipeline_without_stages_has_no_barriers) {
  static_assert(sizeof(PipelineTransactionAsync<0>::SharedStorage) == 2);
  static_assert(alignof(PipelineTransactionAsync<0>::SharedStorage) == 1);
  static_assert(PipelineTransactionAsync<0>::Stages == 0);
}

TEST(Layout, a_sequence_has_a_barrier_per_stage_and_group) {
  static_assert(sizeof(OrderedSequenceBarrier<2, 3>::SharedStorage) == 48);
  static_assert(sizeof(OrderedSequenceBarrier<1, 2>::SharedStorage) == 16);
  static_assert(sizeof(OrderedSequenceBarrierStorage<2, 3>::Barrier) == 8);
}

TEST(Layout, params_start_as_documented) {
  PipelineTmaAsync<2>::Params const tma;
  EXPECT_EQ(tma.transaction_bytes, 0u);
  EXPECT_EQ(tma.role, PipelineTmaAsync<2>::ThreadCategory::NonParticipant);
  EXPECT_EQ(tma.is_leader, 0u);
  EXPECT_EQ(tma.num_consumers, 0u);
  EXPECT_EQ(tma.num_producers, 1u);
  EXPECT_EQ(tma.initializing_warp, 0);
  PipelineAsync<2>::Params const threads;
  EXPECT_EQ(threads.producer_arv_count, 1u);
  EXPECT_EQ(threads.consumer_arv_count, 1u);
  PipelineTmaStore<2>::Params const store;
  EXPECT_FALSE(store.always_wait);
}

TEST(Layout, a_store_pipeline_leaves_one_stage_acquired) {
  static_assert(PipelineTmaStore<4>::UnacquiredStages == 3);
  static_assert(PipelineTmaStore<4, 1>::UnacquiredStages == 1);
  static_assert(PipelineTmaStore<0>::Stages == 0);
}

TEST(Layout, named_barriers_of_users_start_behind_the_reserved_ones) {
  static_assert(NamedBarrier::ReservedNamedBarrierCount == 8);
  static_assert(NamedBarrier::HardwareMaxNumNamedBarriers == 16);
  static_assert(static_cast<int>(ReservedNamedBarriers::EpilogueBarrier) == 1);
  static_assert(static_cast<int>(ReservedNamedBarriers::FirstUserBarrier) == 8);
}

}  // namespace
}  // namespace sluice
