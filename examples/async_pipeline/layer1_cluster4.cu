// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernel of layer1.cuh in clusters of 4 CTAs, for every number of stages that the command line offers.
#include "layer1.cuh"

#include "dispatch.hpp"

namespace example {

Program layer1_cluster4_program(int stages) {
  return with_stages(stages, [](auto constant) { return right::program<constant, 4>(); });
}

}  // namespace example
