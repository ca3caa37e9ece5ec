// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// expect: store() takes one destination for each tile of the stage
//
// Two tiles are written and one is stored.
#include "sluice/ring.hpp"

using Row = sluice::Row<float, 256>;
using Ring = sluice::StoreRing<sluice::Stage<Row, Row>, 2, sluice::Warps<0, 4>>;

__global__ void kernel(float* out, int n) {
  Ring ring(sluice::shared_memory<Ring::SharedStorage>());
  if (auto writer = ring.writer()) {
    for (auto slot : writer.fill(n)) {
#if BAD
      slot.store(sluice::to(out));
#else
      slot.store(sluice::to(out), sluice::to(out + 256));
#endif
    }
  }
}
