// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Layer 1 in one include: barriers, states and the pipeline classes with CUTLASS's names and meaning. C++17.
// Instruction wrappers are in sluice/arch/, typed rings (C++20) in sluice/ring.hpp.
#pragma once

#include "sluice/pipeline/cluster_barrier.hpp"
#include "sluice/pipeline/cluster_shape.hpp"
#include "sluice/pipeline/init.hpp"
#include "sluice/pipeline/named_barrier.hpp"
#include "sluice/pipeline/ordered_sequence_barrier.hpp"
#include "sluice/pipeline/pipeline_async.hpp"
#include "sluice/pipeline/pipeline_tma_async.hpp"
#include "sluice/pipeline/pipeline_tma_store.hpp"
#include "sluice/pipeline/pipeline_transaction_async.hpp"
#include "sluice/pipeline/state.hpp"
#include "sluice/pipeline/token.hpp"
#include "sluice/version.hpp"
