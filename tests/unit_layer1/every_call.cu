// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Every public function of layer 1, called once, so that each template is compiled for the device in each
// build mode. Nothing of it runs.
#include "sluice/arch/cp_async_bulk_tensor_store.hpp"
#include "sluice/arch/warp_registers.hpp"
#include "sluice/arch/wgmma.hpp"
#include "sluice/pipeline.hpp"

using namespace sluice;

struct alignas(128) Map {
  char bytes[128];
};

__global__ void wrappers(const __grid_constant__ Map map, char* global, uint32_t value) {
  using namespace sluice::ptx;
  __shared__ alignas(128) char tile[8192];
  __shared__ uint64_t barrier[2];

  mbarrier_init(barrier, 1);
  fence_mbarrier_init();
  mbarrier_arrive(barrier);
  mbarrier_arrive(barrier, 2);
  mbarrier_arrive_drop(barrier);
  mbarrier_arrive_remote(barrier, value);
  mbarrier_arrive_expect_tx(barrier, value);
  mbarrier_arrive_expect_tx_remote(barrier, value, 1);
  mbarrier_expect_tx(barrier, value);
  mbarrier_complete_tx_remote(barrier, value, 1);
  bool done = mbarrier_try_wait(barrier, mbarrier_arrive_state(barrier));
  done |= mbarrier_test_wait_parity(barrier, 0);
  done |= mbarrier_try_wait_parity(barrier, 0);
  done |= mbarrier_try_wait_parity(barrier, 0, value);
  mbarrier_wait_parity(barrier, 0);

  cp_async<4>(tile, global);
  cp_async<8>(tile, global);
  cp_async<16>(tile, global);
  cp_async_zfill<8>(tile, global, value);
  cp_async_zfill<16>(tile, global, value);
  cp_async_mbarrier_arrive(barrier);
  cp_async_mbarrier_arrive_noinc(barrier);
  cp_async_commit_group();
  cp_async_wait_group<1>();
  cp_async_wait_all();

  cp_async_bulk(tile, global, 64, barrier);
  cp_async_bulk(tile, global, 64, barrier, CachePolicy::EvictFirst);
  cp_async_bulk_multicast(tile, global, 64, barrier, 3);
  cp_async_bulk_remote(tile, tile + 64, 64, barrier, 1);
  cp_async_bulk_store(global, tile, 64);
  cp_reduce_async_bulk_add(reinterpret_cast<float*>(global), reinterpret_cast<float*>(tile), 64);
  cp_async_bulk_prefetch(global, 64);
  cp_async_bulk_commit_group();
  cp_async_bulk_wait_group<1>();
  cp_async_bulk_wait_group_read<1>();

  int const c = static_cast<int>(value);
  prefetch_tensormap(&map);
  cp_async_bulk_tensor(tile, &map, barrier, Coordinates{c});
  cp_async_bulk_tensor(tile, &map, barrier, Coordinates{c, 1});
  cp_async_bulk_tensor(tile, &map, barrier, Coordinates{c, 1, 2});
  cp_async_bulk_tensor(tile, &map, barrier, Coordinates{c, 1, 2, 3});
  cp_async_bulk_tensor(tile, &map, barrier, Coordinates{c, 1, 2, 3, 4});
  cp_async_bulk_tensor(tile, &map, barrier, Coordinates{c, 1}, CachePolicy::EvictLast);
  cp_async_bulk_tensor(tile, &map, barrier, Coordinates{c, 1, 2, 3, 4}, CachePolicy::EvictLast);
  cp_async_bulk_tensor_multicast(tile, &map, barrier, Coordinates{c}, 3);
  cp_async_bulk_tensor_multicast(tile, &map, barrier, Coordinates{c, 1, 2}, 3, CachePolicy::EvictNormal);
  cp_async_bulk_tensor_im2col(tile, &map, barrier, Coordinates{c, 1, 2}, Im2colOffsets{1});
  cp_async_bulk_tensor_im2col(tile, &map, barrier, Coordinates{c, 1, 2, 3}, Im2colOffsets{1, 2});
  cp_async_bulk_tensor_im2col(tile, &map, barrier, Coordinates{c, 1, 2, 3, 4}, Im2colOffsets{1, 2, 3},
                              CachePolicy::EvictFirst);
  cp_async_bulk_tensor_im2col_multicast(tile, &map, barrier, Coordinates{c, 1, 2, 3}, Im2colOffsets{1, 2}, 3);
  cp_async_bulk_prefetch_tensor(&map, Coordinates{c, 1});
  cp_async_bulk_prefetch_tensor_im2col(&map, Coordinates{c, 1, 2}, Im2colOffsets{1});
  fence_proxy_async_shared_cta();
  cp_async_bulk_tensor_store(&map, tile, Coordinates{c});
  cp_async_bulk_tensor_store(&map, tile, Coordinates{c, 1, 2, 3, 4}, CachePolicy::EvictFirst);
  cp_async_bulk_tensor_im2col_store(&map, tile, Coordinates{c, 1, 2});
  cp_reduce_async_bulk_tensor<Reduction::Add>(&map, tile, Coordinates{c, 1});
  cp_reduce_async_bulk_tensor<Reduction::Xor>(&map, tile, Coordinates{c, 1, 2, 3, 4});

  fence_proxy_async();
  fence_proxy_async_global();
  fence_proxy_async_shared_cluster();
  fence_acq_rel_cluster();
  fence_proxy_tensormap_release();
  fence_proxy_tensormap_acquire(global);
  st_async(reinterpret_cast<uint32_t*>(tile), value, barrier, 1);
  barrier_cluster_sync();
  barrier_cluster_arrive_relaxed();
  bar_sync(1, 64);
  bar_arrive(1, 64);
  barrier_sync(1, 64);
  barrier_arrive(1, 64);
  wgmma_fence();
  wgmma_commit_group();
  wgmma_wait_group<0>();
  float held = static_cast<float>(value);
  wgmma_hold(held);
  setmaxnreg_dec<40>();
  setmaxnreg_inc<232>();
  griddepcontrol_wait();
  griddepcontrol_launch_dependents();
  mbarrier_inval(barrier);
  uint32_t const place = cluster_ctaid_x() + cluster_ctaid_y() + cluster_ctaid_z() + cluster_nctaid_x() +
                         cluster_nctaid_y() + cluster_nctaid_z() + cluster_ctarank() + cluster_nctarank();
  if (elect_one_sync()) global[place + warp_index_sync()] = static_cast<char>(done ? held : 0.0f);
}

template <class Shape>
__device__ void tma_pipeline(Shape shape, uint32_t bytes) {
  using Pipeline = PipelineTmaAsync<3>;
  __shared__ Pipeline::SharedStorage storage;
  Pipeline::Params params;
  params.transaction_bytes = bytes;
  params.role = threadIdx.x < 32 ? Pipeline::ThreadCategory::Producer : Pipeline::ThreadCategory::Consumer;
  params.is_leader = threadIdx.x == 0;
  params.num_consumers = 128;
  Pipeline pipeline(storage, params, shape);
  Pipeline later(storage, params, shape, std::false_type{}, std::false_type{});
  Pipeline::init_barriers(storage, params, shape);
  later.init_masks(shape);
  pipeline_init_arrive_relaxed(2);
  pipeline_init_wait(2);

  auto write = make_producer_start_state<Pipeline>();
  Pipeline::PipelineState read;
  if (threadIdx.x < 32) {
    pipeline.producer_acquire(write);
    pipeline.producer_acquire(write, pipeline.producer_try_acquire(write));
    pipeline.producer_expect_transaction(write, 16);
    pipeline.producer_commit(write, bytes);
    pipeline.producer_commit(write, [](uint64_t* barrier) { cpasync_barrier_arrive(barrier); });
    ptx::mbarrier_expect_tx(pipeline.producer_get_barrier(write), 16);
    pipeline.producer_tail(write);
  } else {
    pipeline.consumer_wait(read);
    pipeline.consumer_wait(read, pipeline.consumer_try_wait(read, bytes == 0));
    pipeline.consumer_wait(read, pipeline.consumer_test_wait(read));
    pipeline.consumer_release(read);
    read += bytes;
    later.consumer_release(read);
  }
}

__global__ void tma_pipelines(uint32_t bytes) {
  tma_pipeline(ClusterShape<1>{}, bytes);
  tma_pipeline(ClusterShape<2, 2>{}, bytes);
  tma_pipeline(dim3(bytes, 1, 1), bytes);
  tma_pipeline(static_cast<int>(bytes), bytes);
}

__global__ void other_pipelines(uint32_t bytes) {
  using Threads = PipelineAsync<2>;
  __shared__ Threads::SharedStorage threads_storage;
  Threads threads(threads_storage);
  Threads::Params threads_params;
  threads_params.role = Threads::ThreadCategory::ProducerConsumer;
  Threads same_threads(threads_storage, threads_params, std::false_type{});
  auto write = make_producer_start_state<Threads>();
  same_threads.producer_acquire(write, same_threads.producer_try_acquire(write));
  same_threads.producer_commit(write, [](uint64_t* barrier) { cpasync_barrier_arrive_noinc(barrier); });
  same_threads.consumer_wait({}, same_threads.consumer_test_wait({}));
  same_threads.consumer_wait({}, same_threads.consumer_try_wait({}));
  same_threads.consumer_release({});
  same_threads.producer_tail(write);
  ptx::mbarrier_arrive(same_threads.producer_get_barrier(1u));

  using Bytes = PipelineTransactionAsync<2>;
  __shared__ Bytes::SharedStorage bytes_storage;
  Bytes::Params bytes_params;
  bytes_params.role = Bytes::ThreadCategory::ProducerConsumer;
  bytes_params.transaction_bytes = bytes;
  Bytes transactions(bytes_storage, bytes_params);
  transactions.producer_acquire(write, transactions.producer_try_acquire(write));
  transactions.producer_expect_transaction(write);
  ptx::mbarrier_expect_tx(transactions.producer_get_barrier(write), 16);
  transactions.producer_commit(write);
  transactions.consumer_wait({}, transactions.consumer_test_wait({}));
  transactions.consumer_wait({}, transactions.consumer_try_wait({}));
  transactions.consumer_release({});
  transactions.producer_tail(write);

  PipelineTmaStore<4> store;
  store.producer_acquire({});
  store.producer_commit({});
  store.producer_tail({});
  PipelineTmaStore<4, 0> store_one({true});
  store_one.producer_acquire({});
  PipelineTmaStore<0> store_none;
  store_none.producer_commit({});
  store_none.producer_tail({});

  using Sequence = OrderedSequenceBarrier<2, 2>;
  __shared__ Sequence::SharedStorage sequence_storage;
  Sequence sequence(sequence_storage, {threadIdx.x / 128, 128});
  pipeline_init_arrive_relaxed(1);
  pipeline_init_wait(1);
  sequence.wait();
  sequence.arrive();
  sequence.advance();

  NamedBarrier named(64, 1);
  named.arrive_and_wait();
  named.arrive_and_wait_unaligned();
  named.arrive();
  named.arrive_unaligned();
  named.sync();
  NamedBarrier(64, ReservedNamedBarriers::EpilogueBarrier).sync();
  NamedBarrier::sync(64, 2);
  NamedBarrier::sync(64, ReservedNamedBarriers::TransposeBarrier);
  NamedBarrier::arrive(64, 2);
  NamedBarrier::arrive(64, ReservedNamedBarriers::TransposeBarrier);
  NamedBarrier::arrive_and_wait(64, 2);

  __shared__ ClusterTransactionBarrier barrier;
  barrier.init(1);
  fence_barrier_init();
  fence_view_async_shared();
  barrier.arrive();
  barrier.arrive(1, bytes);
  barrier.arrive_and_expect_tx(bytes);
  barrier.arrive_and_expect_tx(bytes, 1, bytes == 0);
  barrier.expect_transaction(bytes);
  barrier.complete_transaction(bytes);
  barrier.complete_transaction(1, bytes, 1);
  if (!barrier.test_wait(0) && !barrier.try_wait(0)) barrier.wait(0);
  ClusterBarrier::invalidate(reinterpret_cast<uint64_t*>(&barrier));
}
