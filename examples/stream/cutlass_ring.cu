// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The ring with CUTLASS's own PipelineTmaAsync. Built where CUTLASS's headers are found.
#include <cutlass/pipeline/pipeline.hpp>

#include <cute/arch/copy_sm90_tma.hpp>

#include "tma_ring_kernel.hpp"

namespace stream {
namespace {

struct Cutlass {
  template <int Stages>
  using Pipeline = cutlass::PipelineTmaAsync<Stages>;
  using OneCta = cute::Shape<cute::_1, cute::_1, cute::_1>;

  template <class Pipeline>
  __device__ static typename Pipeline::PipelineState producer_start() {
    return cutlass::make_producer_start_state<Pipeline>();
  }

  __device__ static void copy(Piece* target, const Piece* source, int bytes, std::uint64_t* barrier) {
    cute::SM90_BULK_COPY_G2S::copy(source, barrier, target, bytes);
  }
};

}  // namespace

cudaError_t launch_cutlass_ring(const Job& job, int ctas, Shape shape) {
  return launch_tma_ring<Cutlass>(job, ctas, shape);
}

}  // namespace stream
