// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// expect: this needs more shared memory than the device has
//
// Each ring fits, both together do not.
#include "sluice/ring.hpp"

template <int Stages>
using Ring = sluice::Ring<sluice::Stage<sluice::Row<float, 8192>>, Stages,
                          sluice::CopyEngine<sluice::Warps<0>>, sluice::Consumers<sluice::Warps<1, 3>>>;

struct Shared {
  Ring<4>::SharedStorage first;
#if BAD
  Ring<4>::SharedStorage second;
#else
  Ring<2>::SharedStorage second;
#endif
};

__global__ void kernel(float* out) {
  auto& shared = sluice::shared_memory<Shared>();
  Ring<4> first(shared.first, sluice::sync_later);
  if (first.consumer()) out[0] = 1;
}
