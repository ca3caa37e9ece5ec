// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernel of layer1.cuh with a recorder in it (trace-layer1.edit), for every number of stages and CTAs
// that the command line offers.
#include "traced_layer1.cuh"

#include "dispatch.hpp"

namespace example {

TracedProgram traced_layer1_program(int stages, int ctas) {
  return with_stages(stages, [=](auto stage_count) {
    return with_ctas(ctas, [](auto cta_count) {
      return traced::program<decltype(stage_count)::value, decltype(cta_count)::value>();
    });
  });
}

}  // namespace example
