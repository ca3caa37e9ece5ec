// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Picks one lane of a warp, and the warp's index in a form that the compiler knows to be the same in all
// lanes.
#pragma once

#include "sluice/arch/config.hpp"

namespace sluice::ptx {

/// True in exactly one lane. All 32 lanes of the warp must call it together.
/// PTX: elect.sync (PTX ISA, "elect.sync")
SLUICE_DEVICE bool elect_one_sync() {
  uint32_t elected = 0;
  SLUICE_PTX(
      "{\n\t.reg .pred elected;\n\telect.sync _|elected, 0xffffffff;\n\t"
      "selp.b32 %0, 1, 0, elected;\n\t}"
      : "=r"(elected));
  return elected != 0;
}

/// Index of this warp in its CTA by threadIdx.x (one-dimensional CTAs). All 32 lanes must call it together.
SLUICE_DEVICE uint32_t warp_index_sync() {
#if defined(__CUDA_ARCH__)
  return __shfl_sync(0xffffffffu, threadIdx.x / kThreadsPerWarp, 0);
#else
  return 0;
#endif
}

}  // namespace sluice::ptx
