// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// expect: launch() needs as many arguments as the kernel has parameters
//
// The kernel's second argument is missing.
#include "sluice/host/launch.hpp"

__global__ void kernel(float* out, int n) {
  out[0] = static_cast<float>(n);
}

bool start(float* out) {
#if BAD
  return !sluice::launch(kernel, sluice::LaunchShape{}, out);
#else
  return !sluice::launch(kernel, sluice::LaunchShape{}, out, 5);
#endif
}
