// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Layer 2 as a whole: typed rings, into shared memory and out of it. C++20. The mdspan view of a tile is
// apart (sluice/pipeline/tile_mdspan.hpp), since it costs compile time.
#pragma once

#if __cplusplus < 202002L
#error \
    "sluice/ring.hpp (typed rings, layer 2) needs C++20: compile with -std=c++20, or use layer 1, sluice/pipeline.hpp"
#else

#include "sluice/pipeline/ring.hpp"
#include "sluice/pipeline/ring_store.hpp"

#endif
