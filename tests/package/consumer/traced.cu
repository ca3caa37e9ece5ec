// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel that records itself, and the host's side of it, in C++17.
#include <string>

#include <sluice/pipeline.hpp>
#include <sluice/trace.hpp>

namespace {

using Pipeline = sluice::PipelineAsync<2, sluice::Traced>;

__global__ void go_round(int tiles, sluice::trace::Buffer buffer) {
  __shared__ Pipeline::SharedStorage storage;
  Pipeline::Params params;
  params.role = threadIdx.x == 0 ? Pipeline::ThreadCategory::Producer : Pipeline::ThreadCategory::Consumer;
  Pipeline pipeline(storage, params);
  sluice::trace::Recorder recorder(buffer);
  pipeline.record_in(recorder);
  __syncthreads();
  if (threadIdx.x == 0) {
    auto state = sluice::make_producer_start_state<Pipeline>();
    for (int i = 0; i < tiles; ++i, ++state) {
      pipeline.producer_acquire(state);
      pipeline.producer_commit(state);
    }
  } else if (threadIdx.x == 32) {
    Pipeline::PipelineState state;
    for (int i = 0; i < tiles; ++i, ++state) {
      pipeline.consumer_wait(state);
      pipeline.consumer_release(state);
    }
  }
}

}  // namespace

const void* traced_kernel() {
  return reinterpret_cast<const void*>(go_round);
}

/// What the library says to a recording of nothing, without asking a GPU.
std::string recording_of_nothing() {
  sluice::trace::Recording recording;
  sluice::trace::Extent extent;
  extent.ctas = 0;
  return recording.allocate(extent).text;
}
