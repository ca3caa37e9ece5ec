// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What a debugging build says. Each case makes one mistake, in a process of its own because the kernel traps;
// the sentence is looked for in what the process prints. Needs a Hopper GPU or an engine that runs one's
// programs.
//
//   layer1_checks          runs every case and judges it
//   layer1_checks CASE     makes the mistake CASE
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "sluice/pipeline.hpp"

static_assert(SLUICE_CHECK == 1 && SLUICE_WAIT_LIMIT_NS == 50000000);

namespace {

using Pipeline = sluice::PipelineTmaAsync<3>;
using Role = sluice::ThreadCategory;

__device__ Pipeline::Params params_of(Role role, bool is_leader) {
  Pipeline::Params params;
  params.transaction_bytes = 64;
  params.role = role;
  params.is_leader = is_leader;
  params.num_consumers = 32;
  return params;
}

/// Makes a pipeline in shared memory that starts `offset` bytes beyond an aligned place.
struct Stage {
  alignas(8) unsigned char bytes[sizeof(Pipeline::SharedStorage) + 8];
  __device__ Pipeline::SharedStorage& at(int offset) {
    return *reinterpret_cast<Pipeline::SharedStorage*>(bytes + offset);
  }
};

__global__ void role_of_a_consumer_acquires() {
  __shared__ Stage stage;
  Pipeline pipeline(stage.at(0), params_of(Role::Consumer, false), sluice::ClusterShape<1>{});
  __syncthreads();
  pipeline.producer_acquire(sluice::make_producer_start_state<Pipeline>());
}

__global__ void role_of_a_producer_releases() {
  __shared__ Stage stage;
  Pipeline pipeline(stage.at(0), params_of(Role::Producer, threadIdx.x == 0), sluice::ClusterShape<1>{});
  __syncthreads();
  pipeline.consumer_release({});
}

__global__ void every_lane_leads() {
  __shared__ Stage stage;
  Pipeline pipeline(stage.at(0), params_of(Role::Producer, true), sluice::ClusterShape<1>{});
  __syncthreads();
  pipeline.producer_acquire(sluice::make_producer_start_state<Pipeline>());
}

__global__ void stage_of_a_longer_ring() {
  __shared__ Stage stage;
  Pipeline pipeline(stage.at(0), params_of(Role::Consumer, false), sluice::ClusterShape<1>{});
  __syncthreads();
  pipeline.consumer_wait(Pipeline::PipelineState(5, 0, 0));
}

__global__ void phase_that_counts() {
  __shared__ Stage stage;
  Pipeline pipeline(stage.at(0), params_of(Role::Consumer, false), sluice::ClusterShape<1>{});
  __syncthreads();
  pipeline.consumer_wait(Pipeline::PipelineState(1, 2, 0));
}

__global__ void no_consumers() {
  __shared__ Stage stage;
  Pipeline::Params params = params_of(Role::Producer, threadIdx.x == 0);
  params.num_consumers = 0;
  Pipeline pipeline(stage.at(0), params, sluice::ClusterShape<1>{});
}

__global__ void too_many_bytes() {
  __shared__ Stage stage;
  Pipeline::Params params = params_of(Role::Producer, threadIdx.x == 0);
  params.transaction_bytes = 1 << 20;
  Pipeline pipeline(stage.at(0), params, sluice::ClusterShape<1>{});
  __syncthreads();
  pipeline.producer_acquire(sluice::make_producer_start_state<Pipeline>());
}

__global__ void misaligned_storage() {
  __shared__ Stage stage;
  Pipeline pipeline(stage.at(4), params_of(Role::Producer, threadIdx.x == 0), sluice::ClusterShape<1>{});
}

__global__ void consumers_that_cannot_share() {
  __shared__ Stage stage;
  Pipeline::Params params = params_of(Role::Consumer, false);
  params.num_consumers = 96;
  Pipeline pipeline(stage.at(0), params, sluice::ClusterShape<2>{});
}

__global__ void more_consumers_than_threads() {
  __shared__ Stage stage;
  Pipeline::Params params = params_of(Role::Consumer, false);
  params.num_consumers = 256;
  Pipeline pipeline(stage.at(0), params, sluice::ClusterShape<1>{});
}

__global__ void initialised_by_a_warp_that_is_not_there() {
  __shared__ Stage stage;
  Pipeline::Params params = params_of(Role::Consumer, false);
  params.initializing_warp = 7;
  Pipeline pipeline(stage.at(0), params, sluice::ClusterShape<1>{});
}

__global__ void rank_outside_of_the_cluster() {
  __shared__ sluice::PipelineAsync<2>::SharedStorage storage;
  sluice::PipelineAsync<2>::Params params;
  params.dst_blockid = 1;
  sluice::PipelineAsync<2> pipeline(storage, params);
}

__global__ void named_barrier_17() {
  sluice::NamedBarrier::sync(32, 9u);
}

__global__ void named_barrier_of_33_threads() {
  sluice::NamedBarrier::sync(33, 0u);
}

__global__ void group_that_is_not_there() {
  __shared__ sluice::OrderedSequenceBarrier<1, 2>::SharedStorage storage;
  sluice::OrderedSequenceBarrier<1, 2> order(storage, {2, 32});
  __syncthreads();
  order.wait();
}

/// Warp 0 waits for a stage that nobody releases, warp 1 for one that nobody fills.
__global__ void nobody_signals() {
  __shared__ Stage stage;
  bool const is_producer = threadIdx.x < 32;
  Pipeline pipeline(stage.at(0), params_of(is_producer ? Role::Producer : Role::Consumer, threadIdx.x == 0),
                    sluice::ClusterShape<1>{});
  __syncthreads();
  if (is_producer) {
    pipeline.producer_acquire(Pipeline::PipelineState(2, 0, 0));
  } else {
    pipeline.consumer_wait(Pipeline::PipelineState(1, 0, 0));
  }
}

/// The right program: the wait takes a while, but less than the limit.
__global__ void signalled_in_time() {
  __shared__ Stage stage;
  bool const is_producer = threadIdx.x < 32;
  Pipeline::Params params = params_of(is_producer ? Role::Producer : Role::Consumer, threadIdx.x == 0);
  params.transaction_bytes = 0;
  Pipeline pipeline(stage.at(0), params, sluice::ClusterShape<1>{});
  __syncthreads();
  if (is_producer) {
    for (int i = 0; i < 100; ++i) __nanosleep(1000);
    auto state = sluice::make_producer_start_state<Pipeline>();
    pipeline.producer_acquire(state);
    ++state;
    pipeline.producer_tail(state);
  } else {
    pipeline.consumer_wait({});
    pipeline.consumer_release({});
  }
}

struct Case {
  char const* name;
  void (*kernel)();
  int threads;
  /// Each must be in the output; none: the kernel must end well and print nothing.
  std::vector<char const*> sentences;
};

std::vector<Case> const& cases() {
  static std::vector<Case> const all = {
      {"consumer-acquires",
       role_of_a_consumer_acquires,
       32,
       {"sluice: producer_acquire: the caller's role", "is 2,"}},
      {"producer-releases",
       role_of_a_producer_releases,
       32,
       {"sluice: consumer_release: the caller's role", "is 1,"}},
      {"every-lane-leads", every_lane_leads, 32, {"is_leader: 32, but Params::num_producers is 1"}},
      {"stage-5-of-3", stage_of_a_longer_ring, 32, {"stands at stage 5, but the number of stages is 3"}},
      {"phase-2", phase_that_counts, 32, {"waits for phase 2"}},
      {"no-consumers", no_consumers, 32, {"arrivals that complete a phase: 0"}},
      {"too-many-bytes", too_many_bytes, 32, {"bytes expected in one phase: 1048576"}},
      {"misaligned-storage", misaligned_storage, 32, {"which must be a multiple of 8"}},
      {"96-consumers-in-a-cluster", consumers_that_cannot_share, 96, {"share the release", ": 96, but"}},
      {"256-consumers-of-64-threads",
       more_consumers_than_threads,
       64,
       {"consumer threads of one CTA: 256, but the CTA's threads are 64"}},
      {"initialised-by-warp-7",
       initialised_by_a_warp_that_is_not_there,
       32,
       {"by warp 7, but the number of warps is 1"}},
      {"rank-1-of-1", rank_outside_of_the_cluster, 32, {"signals the CTA of rank 1"}},
      {"named-barrier-17", named_barrier_17, 32, {"the named barrier's number is 17"}},
      {"named-barrier-of-33", named_barrier_of_33_threads, 64, {"threads of a named barrier: 33"}},
      {"group-2-of-2", group_that_is_not_there, 32, {"Params::group_id is 2"}},
      {"nobody-signals",
       nobody_signals,
       64,
       {"sluice: producer waits for empty[2] phase 0 for more than 50 ms: CTA (0,0,0) thread 0 (warp 0)\n",
        "sluice: consumer waits for full[1] phase 0 for more than 50 ms: CTA (0,0,0) thread 32 (warp 1)\n"}},
      {"signalled-in-time", signalled_in_time, 64, {}},
  };
  return all;
}

/// Runs one case in this process. The exit code says whether the kernel ended well.
int make_mistake(std::string const& name) {
  for (Case const& one : cases()) {
    if (name != one.name) continue;
    one.kernel<<<1, one.threads>>>();
    cudaError_t const error = cudaDeviceSynchronize();
    std::fflush(stdout);
    return error == cudaSuccess ? 0 : 1;
  }
  std::fprintf(stderr, "layer1_checks: there is no case '%s'\n", name.c_str());
  return 2;
}

bool has_hopper() {
  int devices = 0;
  int major = 0;
  return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0 &&
         cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0) == cudaSuccess && major == 9;
}

/// How often `text` is in `output`.
int count(std::string const& output, char const* text) {
  int found = 0;
  for (std::size_t at = output.find(text); at != std::string::npos; at = output.find(text, at + 1)) ++found;
  return found;
}

bool judge(Case const& one, std::string const& output, int status) {
  if (one.sentences.empty()) return status == 0 && output.find("sluice:") == std::string::npos;
  bool holds = status != 0;
  for (char const* sentence : one.sentences) holds = holds && count(output, sentence) > 0;
  // A stuck wait speaks once per warp.
  if (std::strcmp(one.name, "nobody-signals") == 0) holds = holds && count(output, "sluice:") == 2;
  return holds;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) return make_mistake(argv[1]);
  if (!has_hopper()) {
    std::fprintf(stderr, "layer1_checks: needs a Hopper GPU, none is visible here\n");
    return 77;
  }
  int failures = 0;
  for (Case const& one : cases()) {
    std::string const command = std::string("'") + argv[0] + "' " + one.name + " 2>&1";
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return 2;
    std::string output;
    char buffer[4096];
    for (std::size_t n; (n = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) output.append(buffer, n);
    int const status = pclose(pipe);
    bool const holds = judge(one, output, status);
    if (!holds) ++failures;
    std::printf("%-28s %s\n", one.name, holds ? "ok" : "FAIL");
    if (!holds) std::printf("  status %d, output:\n%s\n", status, output.c_str());
  }
  std::printf("%zu cases, %d failed: %s\n", cases().size(), failures, failures ? "FAIL" : "PASS");
  return failures ? 1 : 0;
}
