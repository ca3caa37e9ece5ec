// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The bodies with CUTLASS's own pipelines.
#include <cutlass/pipeline/pipeline.hpp>

#include "bodies.hpp"

namespace sass_bench {

struct Cutlass {
  template <int Stages>
  using Pipeline = cutlass::PipelineTmaAsync<Stages>;
  using OneCta = cute::Shape<cute::_1, cute::_1, cute::_1>;
  using TwoCtas = cute::Shape<cute::_2, cute::_1, cute::_1>;

  template <class Pipeline>
  __device__ static typename Pipeline::PipelineState producer_start() {
    return cutlass::make_producer_start_state<Pipeline>();
  }
  __device__ static void init_arrive(int ctas) { cutlass::pipeline_init_arrive_relaxed(ctas); }
  __device__ static void init_wait(int ctas) { cutlass::pipeline_init_wait(ctas); }
};

template void make_bodies<Cutlass>();

}  // namespace sass_bench
