// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Tiles that copies bring with a swizzle. The pattern belongs to the shared address, not to the tile, so a
// tile that starts in the middle of a pattern is permuted in another way than the offsets inside it say.
// Whoever reads by the address (wgmma, for one) reads it right; a thread that takes the row inside the tile
// for the line of the pattern does not. So this is a warning, for tiles that ordinary loads read, and not for
// slices of a tile that other copies of the same swizzle complete down to the start of the pattern.
#pragma once

#include <map>

#include "check/findings.hpp"
#include "check/order.hpp"
#include "event/event.hpp"

namespace sluice::check {

class SwizzledTiles {
 public:
  SwizzledTiles(const Order& order, Findings& findings) : order_(order), findings_(findings) {}
  void begin_launch() {
    tiles_.clear();
    off_pattern_ = 0;
  }
  void apply(const event::Event& e);

 private:
  struct Tile {
    uint32_t bytes = 0;
    uint32_t pattern = 0;  ///< bytes after which the swizzle begins anew
    uint32_t origin = 0;
    uint32_t read_at = event::kNoIndex;  ///< origin of an ordinary load from it
    bool fits(uint64_t start) const { return start % pattern == 0; }
  };

  void add(const event::Event& e);
  void read(const event::Event& e);
  void end_cta(uint32_t cta);
  bool is_slice(std::map<uint64_t, Tile>::const_iterator tile) const;

  const Order& order_;
  Findings& findings_;
  std::map<uint64_t, Tile> tiles_;  ///< by CTA << 24 | offset
  size_t off_pattern_ = 0;          ///< tiles that start in the middle of a pattern
};

}  // namespace sluice::check
