// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The bodies with layer 1 of sluice.
#include <sluice/pipeline.hpp>

#include "bodies.hpp"

namespace sass_bench {

struct Layer1 {
  template <int Stages>
  using Pipeline = sluice::PipelineTmaAsync<Stages>;
  using OneCta = sluice::ClusterShape<1>;
  using TwoCtas = sluice::ClusterShape<2>;

  template <class Pipeline>
  __device__ static typename Pipeline::PipelineState producer_start() {
    return sluice::make_producer_start_state<Pipeline>();
  }
  __device__ static void init_arrive(int ctas) { sluice::pipeline_init_arrive_relaxed(ctas); }
  __device__ static void init_wait(int ctas) { sluice::pipeline_init_wait(ctas); }
};

template void make_bodies<Layer1>();

}  // namespace sass_bench
