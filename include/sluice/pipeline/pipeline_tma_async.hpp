// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A ring of stages that the tensor copy engine fills. A producer waits until a stage is free, arms its full
// barrier with the bytes that its copies bring, and issues them; the copies complete the phase, nobody
// commits. Consumers wait for the full barrier and release the stage on the empty one. In a cluster with
// multicast a stage is refilled from every CTA of the same row and column, so each consumer warpgroup signals
// each of those once; the signals are spread over its threads.
//
// try calls return a token at once or after a short sleep; the blocking call that takes the token waits only
// if the token says that it must. Both may be called without the other.
#pragma once

#include "sluice/arch/cluster.hpp"
#include "sluice/pipeline/cluster_shape.hpp"
#include "sluice/pipeline/release_spread.hpp"
#include "sluice/pipeline/stage_pipeline.hpp"

namespace sluice {

/// PipelineTmaAsync::Params.
struct PipelineTmaAsyncParams {
  /// Bytes that land in this CTA per stage, multicast copies of peers included.
  uint32_t transaction_bytes = 0;
  ThreadCategory role = ThreadCategory::NonParticipant;
  /// This thread arms the full barrier. As many threads as num_producers.
  uint32_t is_leader = 0;
  /// Consumer threads of one CTA. In a cluster: 32 or a multiple of 128.
  uint32_t num_consumers = 0;
  /// Arrivals that a full barrier takes per phase.
  uint32_t num_producers = 1;
  /// The warp that makes the barriers.
  int initializing_warp = 0;
};

template <int Stages_, class Trace_ = NotTraced>
class PipelineTmaAsync
    : public detail::StagePipeline<ClusterTransactionBarrier, PipelineTmaAsyncParams, Stages_, Trace_> {
  using Base = detail::StagePipeline<ClusterTransactionBarrier, PipelineTmaAsyncParams, Stages_, Trace_>;
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
  template <class ClusterShape>
  SLUICE_DEVICE static void init_barriers(SharedStorage& storage, Params params, ClusterShape cluster_shape) {
    detail::expect_consumer_count("PipelineTmaAsync::init_barriers", params.num_consumers);
    uint32_t const releases =
        detail::release_arrivals(params.num_consumers, detail::cluster_extent(cluster_shape));
    detail::init_stage_barriers<SharedStorage, Stages>(
        "PipelineTmaAsync::init_barriers", storage, params.num_producers, releases, params.initializing_warp);
  }

  /// All threads of the CTA. `InitBarriers` false leaves out init_barriers, `InitMasks` false leaves out
  /// init_masks (the caller does them later); both are types with a constant `value`.
  template <class ClusterShape, class InitBarriers = std::true_type, class InitMasks = std::true_type>
  SLUICE_DEVICE PipelineTmaAsync(SharedStorage& storage, Params params, ClusterShape cluster_shape,
                                 InitBarriers = {}, InitMasks = {})
      : Base(storage, params) {
    if constexpr (InitBarriers::value) init_barriers(storage, params, cluster_shape);
    if constexpr (InitMasks::value) init_masks(cluster_shape);
  }

  /// Decides which CTA, if any, this thread signals on release.
  template <class ClusterShape>
  SLUICE_DEVICE void init_masks(ClusterShape cluster_shape) {
    auto const extent = detail::cluster_extent(cluster_shape);
    detail::expect(extent.size() <= kMaxClusterSize, detail::Mistake::ClusterTooLarge, "PipelineTmaAsync",
                   extent.size(), kMaxClusterSize);
    if (extent.size() == 1) {
      // A shape known at compile time lets every release be a local arrive.
      release_to_.signals = true;
      is_local_ = extent.is_static;
      return;
    }
    detail::expect(detail::is_spreadable(params_.num_consumers) || !detail::is_consumer(params_.role),
                   detail::Mistake::ConsumersNotSpreadable, "PipelineTmaAsync", params_.num_consumers,
                   kThreadsPerWarpgroup);
    release_to_ = detail::spread_release(thread_index(), params_.num_consumers);
    release_to_.signals &=
        detail::shares_stage(release_to_.cta, extent, ptx::cluster_ctaid_x(), ptx::cluster_ctaid_y());
  }

  // --- producer ---

  /// Blocks until the stage is free, unless `token` says that it is; the leader then arms its full barrier
  /// with transaction_bytes.
  SLUICE_DEVICE void producer_acquire(PipelineState state, ProducerToken token = {BarrierStatus::WaitAgain}) {
    Base::producer_acquire(state, token);
    arm(state);
  }

  /// The leader adds to the bytes due of an acquired stage.
  SLUICE_DEVICE void producer_expect_transaction(PipelineState state, uint32_t transaction_bytes) {
    detail::expect_producer("producer_expect_transaction", params_.role);
    if (params_.is_leader) {
      barriers_.note_expect(state, transaction_bytes);
      barriers_.full(state.index()).expect_transaction(transaction_bytes);
    }
  }

  /// Nothing: the copies commit themselves by the bytes they bring.
  SLUICE_DEVICE void producer_commit(PipelineState, uint32_t) {}

  /// Calls `arrive_op` with the stage's full barrier.
  template <class ArriveOp, class = std::enable_if_t<!std::is_integral_v<std::decay_t<ArriveOp>>>>
  SLUICE_DEVICE void producer_commit(PipelineState state, ArriveOp&& arrive_op) {
    static_cast<ArriveOp&&>(arrive_op)(this->producer_get_barrier(state));
  }

  // --- consumer ---

  /// Gives the stage back, to every CTA that fills it. All consumer threads, after their last access.
  SLUICE_DEVICE void consumer_release(PipelineState state) {
    detail::expect_consumer("consumer_release", params_.role);
    detail::expect_position("consumer_release", state.index(), state.phase(), Stages);
    auto& empty = barriers_.empty(state.index());
    if (is_local_) {
      barriers_.note_release(state);
      empty.arrive();
    } else {
      barriers_.note_spread_release(state, release_to_);
      empty.arrive(release_to_.cta, release_to_.signals);
    }
  }

 private:
  SLUICE_DEVICE static uint32_t thread_index() {
#if defined(__CUDA_ARCH__)
    return threadIdx.x;
#else
    return 0;
#endif
  }

  SLUICE_DEVICE void arm(PipelineState state) {
#if SLUICE_CHECK && defined(__CUDA_ARCH__)
    uint32_t const leaders = __popc(__ballot_sync(__activemask(), params_.is_leader != 0));
    detail::expect(leaders <= params_.num_producers, detail::Mistake::TooManyLeaders, "producer_acquire",
                   leaders, params_.num_producers);
#endif
    if (params_.is_leader) {
      barriers_.note_arm(state, params_.transaction_bytes);
      barriers_.full(state.index()).arrive_and_expect_tx(params_.transaction_bytes);
    }
  }

  detail::ReleaseTarget release_to_;
  bool is_local_ = false;
};

}  // namespace sluice
