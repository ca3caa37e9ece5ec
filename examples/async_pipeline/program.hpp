// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What the parts of async_pipeline know of each other. main.cpp asks for a kernel, on layer 1 (layer1.cuh),
// on layer 2 (layer2.cuh) or with a mistake, and runs it on one cluster.
#pragma once

#include <cuda.h>

#include "tile_job.hpp"

namespace example {

/// All kernels of this program take the same: where the tiles come from, and what to do.
using Kernel = void (*)(const CUtensorMap map, const TileJob job);

/// A kernel, the shared memory that it needs, and how many arrivals complete a phase of its empty barriers.
struct Program {
  Kernel kernel;
  SharedSizes shared;
  int empty_arrivals;
};

/// The right program for 1 to kMaxStages stages: layer 1 in one CTA, in a cluster of 2 or 4, and layer 2 in
/// 1, 2 or 4.
Program layer1_program(int stages);
Program layer1_cluster2_program(int stages);
Program layer1_cluster4_program(int stages);
Program layer2_program(int stages, int ctas);

/// A program with one mistake: the edit that makes it from layer1.cuh, and the one shape that it is built
/// for.
struct Mistake {
  const char* name;
  const char* meaning;
  const char* edit;
  int ctas;
  Program program;
};

/// Generated from the files in mistakes/.
constexpr int kMistakeStages = 3;
extern const Mistake kMistakes[];
extern const int kMistakeCount;

}  // namespace example
