// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Stands in front of CUTLASS's file of the same name, when compat/cutlass comes before CUTLASS's own include
// directory. The barrier classes and fences of Hopper become sluice's. What else CUTLASS's file holds
// (Blackwell's arrivals, helpers that initialise arrays of any barrier class) stays CUTLASS's: its file is
// read once, with the names that are replaced out of the way.
#pragma once

// What CUTLASS's file includes must be read before names are moved.
#include <cutlass/arch/config.h>
#include <cutlass/arch/memory_sm75.h>
#include <cutlass/cutlass.h>
#include <cute/arch/cluster_sm90.hpp>
#include <cute/arch/copy_sm100_tma.hpp>

#include <sluice/pipeline/cluster_barrier.hpp>
#include <sluice/pipeline/named_barrier.hpp>

#define ClusterBarrier PublishedClusterBarrier
#define ClusterTransactionBarrier PublishedClusterTransactionBarrier
#define NamedBarrier PublishedNamedBarrier
#define ReservedNamedBarriers PublishedReservedNamedBarriers
#define fence_barrier_init published_fence_barrier_init
#define fence_view_async_shared published_fence_view_async_shared
#define cpasync_barrier_arrive published_cpasync_barrier_arrive
#define cpasync_barrier_arrive_noinc published_cpasync_barrier_arrive_noinc
#include_next <cutlass/arch/barrier.h>
#undef ClusterBarrier
#undef ClusterTransactionBarrier
#undef NamedBarrier
#undef ReservedNamedBarriers
#undef fence_barrier_init
#undef fence_view_async_shared
#undef cpasync_barrier_arrive
#undef cpasync_barrier_arrive_noinc

namespace cutlass::arch {

using sluice::ClusterBarrier;
using sluice::ClusterTransactionBarrier;
using sluice::cpasync_barrier_arrive;
using sluice::cpasync_barrier_arrive_noinc;
using sluice::fence_barrier_init;
using sluice::fence_view_async_shared;
using sluice::NamedBarrier;
using sluice::ReservedNamedBarriers;

}  // namespace cutlass::arch
