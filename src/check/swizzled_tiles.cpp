// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Tiles by place, and what reads them.
#include "check/swizzled_tiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "event/address.hpp"

namespace sluice::check {

using event::Event;
using event::Kind;

void SwizzledTiles::apply(const Event& e) {
  if (e.kind == Kind::SwizzledTile) return add(e);
  if (off_pattern_ == 0) return;
  if (e.kind == Kind::Read) return read(e);
  if (e.kind == Kind::CtaEnd) return end_cta(e.cta);
}

void SwizzledTiles::add(const Event& e) {
  const uint64_t start = order_.place(e.cta, e.addresses[0]).key();
  const auto [tile, is_new] = tiles_.try_emplace(start, Tile{e.bytes, e.detail, e.origin});
  if (!is_new) tile->second.bytes = std::max(tile->second.bytes, e.bytes);
  if (is_new && !tile->second.fits(start)) ++off_pattern_;
}

void SwizzledTiles::read(const Event& e) {
  if (e.addresses.size() < 32) return;
  for (uint32_t m = e.lanes; m != 0; m &= m - 1) {
    const uint64_t address = e.addresses[static_cast<size_t>(std::countr_zero(m))];
    if (!event::is_shared_address(address)) return;
    const uint64_t at = order_.place(e.cta, address).key();
    auto tile = tiles_.upper_bound(at);
    if (tile == tiles_.begin()) continue;
    --tile;
    if (at >= tile->first + tile->second.bytes || tile->second.read_at != event::kNoIndex) continue;
    tile->second.read_at = e.origin;
  }
}

bool SwizzledTiles::is_slice(std::map<uint64_t, Tile>::const_iterator tile) const {
  const uint32_t pattern = tile->second.pattern;
  const uint64_t begin = tile->first / pattern * pattern;
  uint64_t at = tile->first;
  while (at > begin && tile != tiles_.begin()) {
    --tile;
    if (tile->second.pattern != pattern || tile->first + tile->second.bytes < at) return false;
    at = std::min(at, tile->first);
  }
  return at <= begin;
}

void SwizzledTiles::end_cta(uint32_t cta) {
  const auto begin = tiles_.lower_bound(SharedPlace{cta, 0}.key());
  const auto end = tiles_.lower_bound(SharedPlace{cta + 1, 0}.key());
  for (auto at = begin; at != end; ++at) {
    const Tile& tile = at->second;
    if (tile.fits(at->first)) continue;
    --off_pattern_;
    if (tile.read_at == event::kNoIndex || is_slice(at)) continue;
    const auto offset = event::shared_offset(at->first);
    findings_.add(
        {.name = "tma-misaligned",
         .level = report::Level::Warning,
         .headline =
             fmt::format("a swizzled tile starts {} bytes behind a multiple of {}, where its pattern begins",
                         offset % tile.pattern, tile.pattern),
         .agent = fmt::format("cta {}", cta),
         .spots = {{tile.origin, fmt::format("the copy brings the tile to shared offset 0x{:x}", offset)},
                   {tile.read_at, "read here by threads"}},
         .why = fmt::format(
             "the swizzle permutes 16-byte chunks by bits 7 and up of the shared address; a reader that "
             "takes "
             "them from the row inside the tile is right only where the tile starts on a multiple of {}",
             tile.pattern),
         .help = fmt::format(
             "align the tile to {} bytes (alignas, or round its offset up), or take the bits from the "
             "shared address",
             tile.pattern)});
  }
  tiles_.erase(begin, end);
}

}  // namespace sluice::check
