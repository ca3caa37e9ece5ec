// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// expect: cp.async fills the slots of a CpAsync ring alone
//
// The ring is passed on when the threads have arrived, not when the copies have landed.
#include "sluice/ring.hpp"

using Tile = sluice::Row<float, 128>;
#if BAD
using Producer = sluice::Stores<sluice::Warps<0>>;
#else
using Producer = sluice::CpAsync<sluice::Warps<0>>;
#endif
using Ring = sluice::Ring<sluice::Stage<Tile>, 3, Producer, sluice::Consumers<sluice::Warps<1, 3>>>;

__global__ void kernel(const float* in, int n) {
  Ring ring(sluice::shared_memory<Ring::SharedStorage>());
  if (auto producer = ring.producer()) {
    for (auto slot : producer.fill(n)) slot.copy(0, 4 * producer.rank(), in + 4 * producer.rank());
  }
}
