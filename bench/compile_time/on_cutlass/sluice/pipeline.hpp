// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Stands before include/ on the include path of the compile-time benchmark: the names that async_pipeline's
// kernel uses, with CUTLASS behind them. So the same source is compiled twice, once on sluice and once on
// CUTLASS.
#pragma once

#include <cutlass/arch/barrier.h>
#include <cutlass/pipeline/pipeline.hpp>

namespace sluice {

using cutlass::make_producer_start_state;
using cutlass::pipeline_init_arrive_relaxed;
using cutlass::pipeline_init_wait;
using cutlass::PipelineTmaAsync;
using cutlass::arch::NamedBarrier;

template <int X, int Y, int Z>
using ClusterShape = cute::Shape<cute::Int<X>, cute::Int<Y>, cute::Int<Z>>;

}  // namespace sluice
