// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The model as a still picture, for papers and documents: lanes of warps, copies and stages, 900 wide, light
// or dark as the reader's system. A long run is shown in part: a picture of hundreds of tiles says nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "timeline/model.hpp"

namespace sluice::timeline {

/// Tiles of the first ring, both included.
struct TileRange {
  uint64_t first = 0, last = 0;
};

/// Without a range: the whole launch, or of a ring with more the first 24 tiles. An error if the ring has no
/// such tiles.
Result<std::string> to_svg(const Model& model, std::optional<TileRange> tiles = {});

}  // namespace sluice::timeline
