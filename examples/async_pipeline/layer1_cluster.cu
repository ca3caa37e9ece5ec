// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernel of layer1.cuh in clusters of 2 and 4 CTAs, for every number of stages that the command line
// offers.
#include "layer1.cuh"

#include "dispatch.hpp"

namespace example {

Program layer1_cluster_program(int stages, int ctas) {
  return with_stages(stages, [=](auto constant) {
    return ctas == 2 ? right::program<constant, 2>() : right::program<constant, 4>();
  });
}

}  // namespace example
