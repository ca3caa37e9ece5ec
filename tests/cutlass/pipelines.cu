// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Every pipeline class under its CUTLASS name, moving real data and checking all of it: multicast rings in
// clusters from 1x1 to 4x4, plain-store and cp.async rings, transaction rings, stores, ordered sequences;
// trip counts around the number of stages. Built once on CUTLASS's own pipelines and once on sluice's; both
// must print the same.
#include <cuda_runtime.h>

#include <cutlass/arch/barrier.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cute/tensor.hpp>
#include <cutlass/pipeline/pipeline.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "sluice/arch/cluster.hpp"
#include "sluice/arch/cp_async.hpp"
#include "sluice/arch/cp_async_bulk.hpp"

namespace {

using sluice::ptx::cp_async_bulk;

template <class Pipeline, class = void>
struct IsSluice : std::false_type {};
template <class Pipeline>
struct IsSluice<Pipeline, std::void_t<decltype(Pipeline::kIsSluice)>> : std::true_type {};
static_assert(IsSluice<cutlass::PipelineTmaAsync<2>>::value == EXPECT_SLUICE);
static_assert(IsSluice<cutlass::PipelineAsync<2>>::value == EXPECT_SLUICE);
static_assert(IsSluice<cutlass::PipelineTransactionAsync<2>>::value == EXPECT_SLUICE);
static_assert(IsSluice<cutlass::PipelineTmaStore<2>>::value == EXPECT_SLUICE);
static_assert(IsSluice<cutlass::OrderedSequenceBarrier<2, 2>>::value == EXPECT_SLUICE);

/// Numbers of one copied piece: 128 bytes.
constexpr int kPiece = 32;
constexpr int kWarpgroup = 128;

/// What all inputs hold: element `i` of the buffer.
__host__ __device__ std::uint32_t input_value(std::uint32_t i) {
  return i * 2654435761u + 12345u;
}

/// How a consumer condenses what it sees, in order.
__host__ __device__ std::uint32_t fold(std::uint32_t sum, std::uint32_t value) {
  return sum * 31u + value;
}

__global__ void fill(std::uint32_t* out, int count) {
  int const i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) out[i] = input_value(i);
}

// --- a ring in a cluster: each CTA sends one piece to its row and one to its column ---

template <int Stages, int X, int Y>
__global__ void __launch_bounds__(2 * kWarpgroup)
    multicast_ring(std::uint32_t const* in, std::uint32_t* out, int iterations) {
  using Pipeline = cutlass::PipelineTmaAsync<Stages>;
  using Cluster = cute::Shape<cute::Int<X>, cute::Int<Y>, cute::_1>;
  __shared__ alignas(128) std::uint32_t row[Stages][X][kPiece];
  __shared__ alignas(128) std::uint32_t column[Stages][Y][kPiece];
  __shared__ alignas(8) unsigned char storage[sizeof(typename Pipeline::SharedStorage)];

  bool const is_producer = threadIdx.x < kWarpgroup;
  typename Pipeline::Params params;
  params.transaction_bytes = (X + Y) * kPiece * sizeof(std::uint32_t);
  params.role = is_producer ? Pipeline::ThreadCategory::Producer : Pipeline::ThreadCategory::Consumer;
  params.is_leader = threadIdx.x == 0;
  params.num_consumers = kWarpgroup;
  Pipeline pipeline(*reinterpret_cast<typename Pipeline::SharedStorage*>(storage), params, Cluster{});
  cutlass::pipeline_init_arrive_relaxed(X * Y);
  cutlass::pipeline_init_wait(X * Y);

  int const x = static_cast<int>(cute::block_id_in_cluster().x);
  int const y = static_cast<int>(cute::block_id_in_cluster().y);
  if (is_producer) {
    if (threadIdx.x != 0) return;
    std::uint16_t const row_mask = static_cast<std::uint16_t>(((1 << X) - 1) << (y * X));
    std::uint16_t column_mask = 0;
    for (int i = 0; i < Y; ++i) column_mask |= static_cast<std::uint16_t>(1 << (x + i * X));
    std::uint32_t const* mine = in + (x + y * X) * iterations * 2 * kPiece;
    auto state = cutlass::make_producer_start_state<Pipeline>();
    auto token = pipeline.producer_try_acquire(state, iterations == 0);
    for (int i = 0; i < iterations; ++i) {
      pipeline.producer_acquire(state, token);
      auto* const full = pipeline.producer_get_barrier(state);
      constexpr std::uint32_t kBytes = kPiece * sizeof(std::uint32_t);
      std::uint32_t const* source = mine + i * 2 * kPiece;
      sluice::ptx::cp_async_bulk_multicast(row[state.index()][x], source, kBytes, full, row_mask);
      sluice::ptx::cp_async_bulk_multicast(column[state.index()][y], source + kPiece, kBytes, full,
                                           column_mask);
      ++state;
      token = pipeline.producer_try_acquire(state, i + 1 == iterations);
    }
    pipeline.producer_tail(state);
    return;
  }

  // One arrival of the warpgroup frees a stage in each CTA, so the whole warpgroup must have read it.
  cutlass::arch::NamedBarrier all_read(kWarpgroup, 0);
  std::uint32_t sum = 0;
  cutlass::PipelineState<Stages> state;
  for (int i = 0; i < iterations; ++i) {
    pipeline.consumer_wait(state, pipeline.consumer_try_wait(state));
    for (int s = 0; s < X; ++s) sum = fold(sum, row[state.index()][s][threadIdx.x % kPiece]);
    for (int s = 0; s < Y; ++s) sum = fold(sum, column[state.index()][s][threadIdx.x % kPiece]);
    all_read.arrive_and_wait();
    pipeline.consumer_release(state);
    ++state;
  }
  int const rank = static_cast<int>(cute::block_rank_in_cluster());
  out[rank * kWarpgroup + threadIdx.x - kWarpgroup] = sum;
}

std::vector<std::uint32_t> expect_multicast(int x_extent, int y_extent, int iterations) {
  std::vector<std::uint32_t> result;
  auto piece = [&](int rank, int iteration, int which, int at) {
    return input_value(((rank * iterations + iteration) * 2 + which) * kPiece + at);
  };
  for (int rank = 0; rank < x_extent * y_extent; ++rank) {
    for (int thread = 0; thread < kWarpgroup; ++thread) {
      std::uint32_t sum = 0;
      for (int i = 0; i < iterations; ++i) {
        int const row = rank / x_extent;
        for (int s = 0; s < x_extent; ++s) sum = fold(sum, piece(s + row * x_extent, i, 0, thread % kPiece));
        for (int s = 0; s < y_extent; ++s)
          sum = fold(sum, piece(rank % x_extent + s * x_extent, i, 1, thread % kPiece));
      }
      result.push_back(sum);
    }
  }
  return result;
}

// --- rings inside a CTA: 64 producers, 64 consumers ---

enum class Source { Store, CpAsync };

template <int Stages, Source Kind>
__global__ void thread_ring(std::uint32_t const* in, std::uint32_t* out, int iterations) {
  using Pipeline = cutlass::PipelineAsync<Stages>;
  __shared__ std::uint32_t tile[Stages][64];
  __shared__ alignas(8) unsigned char storage[sizeof(typename Pipeline::SharedStorage)];
  bool const is_producer = threadIdx.x < 64;
  typename Pipeline::Params params;
  params.role = is_producer ? Pipeline::ThreadCategory::Producer : Pipeline::ThreadCategory::Consumer;
  params.producer_arv_count = 64;
  params.consumer_arv_count = 64;
  Pipeline pipeline(*reinterpret_cast<typename Pipeline::SharedStorage*>(storage), params);
  __syncthreads();

  int const thread = threadIdx.x % 64;
  if (is_producer) {
    auto state = cutlass::make_producer_start_state<Pipeline>();
    for (int i = 0; i < iterations; ++i) {
      pipeline.producer_acquire(state);
      std::uint32_t const* source = in + i * 64 + thread;
      if constexpr (Kind == Source::Store) {
        tile[state.index()][thread] = *source;
        pipeline.producer_commit(state);
      } else {
        sluice::ptx::cp_async<4>(&tile[state.index()][thread], source);
        pipeline.producer_commit(state,
                                 [](std::uint64_t* full) { cutlass::arch::cpasync_barrier_arrive(full); });
      }
      ++state;
    }
    pipeline.producer_tail(state);
    return;
  }
  std::uint32_t sum = 0;
  cutlass::PipelineState<Stages> state;
  for (int i = 0; i < iterations; ++i) {
    pipeline.consumer_wait(state, pipeline.consumer_test_wait(state));
    sum = fold(sum, tile[state.index()][63 - thread]);
    pipeline.consumer_release(state);
    ++state;
  }
  out[thread] = sum;
}

template <int Stages>
__global__ void transaction_ring(std::uint32_t const* in, std::uint32_t* out, int iterations) {
  using Pipeline = cutlass::PipelineTransactionAsync<Stages>;
  __shared__ alignas(128) std::uint32_t tile[Stages][64];
  __shared__ alignas(8) unsigned char storage[sizeof(typename Pipeline::SharedStorage)];
  bool const is_producer = threadIdx.x < 64;
  typename Pipeline::Params params;
  params.role = is_producer ? Pipeline::ThreadCategory::Producer : Pipeline::ThreadCategory::Consumer;
  params.transaction_bytes = sizeof(tile[0]);
  params.consumer_arv_count = 64;
  Pipeline pipeline(*reinterpret_cast<typename Pipeline::SharedStorage*>(storage), params);
  __syncthreads();

  if (is_producer) {
    if (threadIdx.x != 0) return;
    auto state = cutlass::make_producer_start_state<Pipeline>();
    for (int i = 0; i < iterations; ++i) {
      pipeline.producer_acquire(state, pipeline.producer_try_acquire(state));
      pipeline.producer_expect_transaction(state);
      cp_async_bulk(tile[state.index()], in + i * 64, sizeof(tile[0]), pipeline.producer_get_barrier(state));
      pipeline.producer_commit(state);
      ++state;
    }
    pipeline.producer_tail(state);
    return;
  }
  int const thread = threadIdx.x % 64;
  std::uint32_t sum = 0;
  cutlass::PipelineState<Stages> state;
  for (int i = 0; i < iterations; ++i) {
    pipeline.consumer_wait(state);
    sum = fold(sum, tile[state.index()][63 - thread]);
    pipeline.consumer_release(state);
    ++state;
  }
  out[thread] = sum;
}

std::vector<std::uint32_t> expect_ring(int iterations) {
  std::vector<std::uint32_t> result;
  for (int thread = 0; thread < 64; ++thread) {
    std::uint32_t sum = 0;
    for (int i = 0; i < iterations; ++i) sum = fold(sum, input_value(i * 64 + 63 - thread));
    result.push_back(sum);
  }
  return result;
}

// --- the way out: 64 threads fill a stage, one hands it to the copy engine ---

template <int Stages, int Unacquired>
__global__ void store_ring(std::uint32_t const* in, std::uint32_t* out, int iterations) {
  using Pipeline = cutlass::PipelineTmaStore<Stages, Unacquired>;
  __shared__ alignas(128) std::uint32_t tile[Stages][64];
  Pipeline pipeline;
  typename Pipeline::PipelineState state;
  for (int i = 0; i < iterations; ++i) {
    if (threadIdx.x == 0) pipeline.producer_acquire(state);
    __syncthreads();
    tile[state.index()][threadIdx.x] = in[i * 64 + threadIdx.x] + 1;
    cutlass::arch::fence_view_async_shared();
    __syncthreads();
    if (threadIdx.x == 0) {
      sluice::ptx::cp_async_bulk_store(out + i * 64, tile[state.index()], sizeof(tile[0]));
      pipeline.producer_commit(state);
    }
    ++state;
  }
  if (threadIdx.x == 0) pipeline.producer_tail(state);
}

std::vector<std::uint32_t> expect_store(int iterations) {
  std::vector<std::uint32_t> result;
  for (int i = 0; i < iterations * 64; ++i) result.push_back(input_value(i) + 1);
  return result;
}

// --- taking turns: three groups write their number into a log per stage ---

template <int Depth>
__global__ void sequence(std::uint32_t const*, std::uint32_t* out, int iterations) {
  using Sequence = cutlass::OrderedSequenceBarrier<Depth, 3>;
  __shared__ alignas(8) unsigned char storage[sizeof(typename Sequence::SharedStorage)];
  __shared__ std::uint32_t next[Depth];
  if (threadIdx.x < Depth) next[threadIdx.x] = 0;
  typename Sequence::Params params;
  params.group_id = threadIdx.x / 32;
  params.group_size = 32;
  Sequence order(*reinterpret_cast<typename Sequence::SharedStorage*>(storage), params);
  __syncthreads();

  for (int i = 0; i < iterations; ++i) {
    for (int stage = 0; stage < Depth; ++stage) {
      order.wait();
      if (threadIdx.x % 32 == 0) {
        out[(stage * iterations * 3) + next[stage]] = params.group_id;
        ++next[stage];
      }
      __syncwarp();
      order.arrive();
    }
  }
}

std::vector<std::uint32_t> expect_sequence(int depth, int iterations) {
  std::vector<std::uint32_t> result;
  for (int i = 0; i < depth * iterations * 3; ++i) result.push_back(i % 3);
  return result;
}

// --- running ---

[[noreturn]] void stop(std::string const& line, int code) {
  std::fprintf(stderr, "cutlass_pipelines: %s\n", line.c_str());
  std::exit(code);
}

void check(cudaError_t error, char const* what) {
  if (error != cudaSuccess) stop(std::string(what) + ": " + cudaGetErrorString(error), 1);
}

int cases = 0;
int failures = 0;
std::uint32_t* device_in = nullptr;
std::uint32_t* device_out = nullptr;
constexpr int kInputs = 1 << 18;
constexpr int kOutputs = 1 << 16;

using KernelPointer = void (*)(std::uint32_t const*, std::uint32_t*, int);

void run(std::string const& name, KernelPointer kernel, dim3 cluster, int threads, int iterations,
         std::vector<std::uint32_t> const& expected) {
  check(cudaMemset(device_out, 0xee, kOutputs * sizeof(std::uint32_t)), "clearing the output");
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {cluster.x, cluster.y, cluster.z};
  cudaLaunchConfig_t config{};
  config.gridDim = cluster;
  config.blockDim = dim3(threads);
  config.attrs = &attribute;
  config.numAttrs = 1;
  check(cudaFuncSetAttribute(reinterpret_cast<void const*>(kernel),
                             cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
        "allowing large clusters");
  std::uint32_t const* in = device_in;
  check(cudaLaunchKernelEx(&config, kernel, in, device_out, iterations), name.c_str());
  check(cudaDeviceSynchronize(), name.c_str());

  std::vector<std::uint32_t> got(expected.size());
  check(cudaMemcpy(got.data(), device_out, got.size() * sizeof(std::uint32_t), cudaMemcpyDefault),
        "reading back");
  int wrong = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) wrong += got[i] != expected[i];
  ++cases;
  if (wrong != 0) ++failures;
  std::printf("%-28s iterations %3d: %s (%d of %zu values wrong)\n", name.c_str(), iterations,
              wrong ? "FAIL" : "ok", wrong, expected.size());
}

template <int Stages, int X, int Y>
void run_multicast() {
  for (int iterations : {0, 1, Stages - 1, Stages, Stages + 1, 2 * Stages + 1, 40}) {
    run("multicast " + std::to_string(X) + "x" + std::to_string(Y) + " stages " + std::to_string(Stages),
        multicast_ring<Stages, X, Y>, dim3(X, Y), 2 * kWarpgroup, iterations,
        expect_multicast(X, Y, iterations));
  }
}

template <int Stages>
void run_rings() {
  for (int iterations : {0, 1, Stages, Stages + 1, 2 * Stages + 1, 40}) {
    std::string const stages = " stages " + std::to_string(Stages);
    run("plain stores" + stages, thread_ring<Stages, Source::Store>, dim3(1), 128, iterations,
        expect_ring(iterations));
    run("cp.async" + stages, thread_ring<Stages, Source::CpAsync>, dim3(1), 128, iterations,
        expect_ring(iterations));
    run("transactions" + stages, transaction_ring<Stages>, dim3(1), 128, iterations, expect_ring(iterations));
    run("bulk stores" + stages, store_ring<Stages, Stages - 1>, dim3(1), 64, iterations,
        expect_store(iterations));
    run("bulk stores one by one" + stages, store_ring<Stages, 0>, dim3(1), 64, iterations,
        expect_store(iterations));
    run("sequence depth " + std::to_string(Stages), sequence<Stages>, dim3(1), 96, iterations,
        expect_sequence(Stages, iterations));
  }
}

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
    stop("needs a Hopper GPU, none is visible here", 77);
  int major = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), "asking for the device");
  if (major != 9) stop("needs a Hopper GPU (compute capability 9.0)", 77);

  void* memory = nullptr;
  check(cudaMalloc(&memory, kInputs * sizeof(std::uint32_t)), "allocating device memory");
  device_in = static_cast<std::uint32_t*>(memory);
  check(cudaMalloc(&memory, kOutputs * sizeof(std::uint32_t)), "allocating device memory");
  device_out = static_cast<std::uint32_t*>(memory);
  fill<<<kInputs / 256, 256>>>(device_in, kInputs);
  check(cudaDeviceSynchronize(), "making the input");

  run_multicast<2, 1, 1>();
  run_multicast<5, 1, 1>();
  run_multicast<3, 2, 1>();
  run_multicast<4, 1, 2>();
  run_multicast<2, 2, 2>();
  run_multicast<3, 4, 1>();
  run_multicast<7, 1, 4>();
  run_multicast<4, 2, 4>();
  run_multicast<5, 4, 2>();
  run_multicast<2, 4, 4>();
  run_rings<1>();
  run_rings<2>();
  run_rings<3>();
  std::printf("%d cases, %d failed: %s\n", cases, failures, failures ? "FAIL" : "PASS");
  return failures ? 1 : 0;
}
