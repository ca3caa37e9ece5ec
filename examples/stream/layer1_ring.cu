// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The ring with layer 1 of sluice, under the same names as CUTLASS's.
#include <sluice/arch/cp_async_bulk.hpp>
#include <sluice/pipeline.hpp>

#include "tma_ring_kernel.hpp"

namespace stream {
namespace {

struct Layer1 {
  template <int Stages>
  using Pipeline = sluice::PipelineTmaAsync<Stages>;
  using OneCta = sluice::ClusterShape<1>;

  template <class Pipeline>
  __device__ static typename Pipeline::PipelineState producer_start() {
    return sluice::make_producer_start_state<Pipeline>();
  }

  __device__ static void copy(Piece* target, const Piece* source, int bytes, std::uint64_t* barrier) {
    sluice::ptx::cp_async_bulk(target, source, static_cast<std::uint32_t>(bytes), barrier);
  }
};

}  // namespace

cudaError_t launch_layer1_ring(const Job& job, int ctas, Shape shape) {
  return launch_tma_ring<Layer1>(job, ctas, shape);
}

}  // namespace stream
