// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The rings with a recorder in them (made by trace-*.edit from those without), and the mode that runs them.
#pragma once

#include <string>
#include <vector>

#include "sluice/trace/record.hpp"
#include "stream.hpp"

namespace stream {

struct TracedJob : Job {
  sluice::trace::Buffer trace;
};

cudaError_t launch_traced_layer1_ring(const TracedJob& job, int ctas, Shape shape);
cudaError_t launch_traced_layer2_ring(const TracedJob& job, int ctas, Shape shape);

/// What is recorded, and where it goes.
struct TracingPlan {
  const char* file;
  std::string peer;  ///< layer1, layer2 or all
  int records;       ///< room for each warp of the file
  std::vector<std::string> command;
  Shape shape;
  int ctas;
  std::uint64_t tiles;
  int rounds;  ///< measured, 0: none
};

/// Ends the program where no ring of that name has a recorder.
void require_traced(const std::string& peer);

/// Measures what recording costs: each ring and its traced twin take turns, all CTAs record all they do. Then
/// runs the traced rings once more and writes what two CTAs did. Returns how many sums were wrong.
int run_tracing(const TracingPlan& plan);

}  // namespace stream
