// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// expect: more stages than fit into the 232448 bytes of shared memory
//
// A store ring obeys the same limit.
#include "sluice/ring.hpp"

using Ring = sluice::StoreRing<sluice::Stage<sluice::Row<float, 8192>>,
#if BAD
                               8,
#else
                               7,
#endif
                               sluice::Warps<0, 4>>;
static_assert(Ring::kStageBytes == 32768);
