// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernels that record, as traced.cpp asks for them.
#pragma once

#include "program.hpp"
#include "sluice/trace/record.hpp"

namespace example {

/// The same kernels with a recorder in them, made by trace-layer1.edit and trace-layer2.edit.
using TracedKernel = void (*)(const CUtensorMap map, const TileJob job, const sluice::trace::Buffer buffer);

struct TracedProgram {
  TracedKernel kernel;
  SharedSizes shared;
  int empty_arrivals;
};

TracedProgram traced_layer1_program(int stages, int ctas);
TracedProgram traced_layer2_program(int stages, int ctas);

}  // namespace example
