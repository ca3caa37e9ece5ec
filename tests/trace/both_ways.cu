// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels on every kind of pipeline, compiled once without and once with a recorder. They read and write
// shared memory alone, so that every access to global memory is the recorder's.
#include "sluice/arch/cp_async_bulk.hpp"
#include "sluice/pipeline.hpp"
#include "sluice/ring.hpp"
#include "sluice/trace.hpp"

namespace {

#ifdef RECORDED
using Trace = sluice::Traced;
#else
using Trace = sluice::NotTraced;
#endif

/// Attaches a recorder where there is one.
template <class Pipeline>
__device__ void attach([[maybe_unused]] Pipeline& pipeline,
                       [[maybe_unused]] sluice::trace::Recorder* recorder) {
#ifdef RECORDED
  pipeline.record_in(*recorder);
#endif
}

#ifdef RECORDED
#define MAKE_RECORDER                   \
  sluice::trace::Recorder made(buffer); \
  sluice::trace::Recorder* const recorder = &made;
#else
#define MAKE_RECORDER sluice::trace::Recorder* const recorder = nullptr;
#endif

template <class Pipeline>
__device__ void go_round(Pipeline& pipeline, int tiles) {
  auto write = sluice::make_producer_start_state<Pipeline>();
  typename Pipeline::PipelineState read;
  for (int i = 0; i < tiles; ++i, ++write, ++read) {
    pipeline.producer_acquire(write, pipeline.producer_try_acquire(write));
    pipeline.consumer_wait(read, pipeline.consumer_try_wait(read));
    pipeline.consumer_release(read);
  }
  pipeline.producer_tail(write);
}

}  // namespace

__global__ void tma(int tiles, [[maybe_unused]] sluice::trace::Buffer buffer) {
  using Pipeline = sluice::PipelineTmaAsync<3, Trace>;
  __shared__ Pipeline::SharedStorage storage;
  Pipeline::Params params;
  params.role = sluice::ThreadCategory::ProducerConsumer;
  params.num_consumers = 128;
  MAKE_RECORDER
  Pipeline one_cta(storage, params, sluice::ClusterShape<1>{});
  Pipeline cluster(storage, params, sluice::ClusterShape<2>{});
  attach(one_cta, recorder);
  attach(cluster, recorder);
  go_round(one_cta, tiles);
  go_round(cluster, tiles);
}

__global__ void threads(int tiles, [[maybe_unused]] sluice::trace::Buffer buffer) {
  using Pipeline = sluice::PipelineAsync<3, Trace>;
  using Transactions = sluice::PipelineTransactionAsync<3, Trace>;
  __shared__ Pipeline::SharedStorage storage;
  __shared__ Transactions::SharedStorage transaction_storage;
  MAKE_RECORDER
  Pipeline::Params params;
  params.role = sluice::ThreadCategory::ProducerConsumer;
  Pipeline pipeline(storage, params);
  Transactions::Params transaction_params;
  transaction_params.role = sluice::ThreadCategory::ProducerConsumer;
  Transactions transactions(transaction_storage, transaction_params);
  attach(pipeline, recorder);
  attach(transactions, recorder);
  go_round(pipeline, tiles);
  go_round(transactions, tiles);
  pipeline.producer_commit({});
  transactions.producer_expect_transaction({});
  transactions.producer_commit({});
}

__global__ void turns(int tiles, [[maybe_unused]] sluice::trace::Buffer buffer) {
  using Sequence = sluice::OrderedSequenceBarrier<2, 2, Trace>;
  __shared__ Sequence::SharedStorage storage;
  MAKE_RECORDER
  Sequence sequence(storage, {threadIdx.x / 128, 128});
  sluice::PipelineTmaStore<4, 3, Trace> stores;
  attach(sequence, recorder);
  attach(stores, recorder);
  sluice::PipelineState<4> state;
  for (int i = 0; i < tiles; ++i, ++state) {
    sequence.wait();
    stores.producer_acquire(state);
    stores.producer_commit(state);
    sequence.arrive();
  }
  stores.producer_tail(state);
}

template <class Ring>
__global__ void ring(int tiles, [[maybe_unused]] sluice::trace::Buffer buffer) {
  MAKE_RECORDER
#ifdef RECORDED
  Ring one(sluice::shared_memory<typename Ring::SharedStorage>(), *recorder);
#else
  static_cast<void>(recorder);
  Ring one(sluice::shared_memory<typename Ring::SharedStorage>());
#endif
  if (auto producer = one.producer()) {
    for (auto slot : producer.fill(tiles)) slot[0] = slot.trip();
  }
  if (auto consumer = one.consumer()) {
    for ([[maybe_unused]] auto tile : consumer.take(tiles)) {
    }
  }
}

template __global__ void
ring<sluice::Ring<sluice::Stage<sluice::Row<int, 256>>, 3, sluice::Stores<sluice::Warps<0>>,
                  sluice::Consumers<sluice::Warps<1>>, Trace>>(int, sluice::trace::Buffer);
template __global__ void
ring<sluice::Ring<sluice::Stage<sluice::Row<int, 256>>, 3, sluice::Stores<sluice::Warps<0>>,
                  sluice::TakingTurns<sluice::Warps<1, 2>, 2>, Trace>>(int, sluice::trace::Buffer);
