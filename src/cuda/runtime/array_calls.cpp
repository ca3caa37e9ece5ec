// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Arrays and textures, which the engine does not have: only the description of their elements, which is a
// value.
#include "cuda/calls.hpp"

SLUICE_EXPORT cudaChannelFormatDesc sluice_rt_cudaCreateChannelDesc(int x, int y, int z, int w,
                                                                    cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}
