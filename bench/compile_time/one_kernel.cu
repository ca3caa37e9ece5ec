// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernel of async_pipeline alone, as a program with one ring would have it: what the headers cost.
#include "../../examples/async_pipeline/layer1.cuh"

example::Program one_kernel() {
  return example::right::program<3, 1>();
}
