// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What main.cpp knows of `--trace FILE`.
#pragma once

#include <cuda.h>

#include "tile_job.hpp"

namespace example {

/// What to record, and where.
struct TraceRequest {
  const char* program;
  bool typed;
  int stages, tiles, ctas;
  const char* file;
  int argc;
  char** argv;
};

/// Runs the kernel with a recorder in it and writes what it recorded (traced.cpp). Ends the program where
/// that fails.
void run_traced(const TraceRequest& request, const CUtensorMap& map, const TileJob& job);

}  // namespace example
