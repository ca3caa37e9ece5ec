// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Tables of rings.
#include "timeline/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/words.hpp"
#include "timeline/columns.hpp"

namespace sluice::timeline {
namespace {

constexpr size_t kShortRun = 48, kFirstTiles = 24, kLastTiles = 8;
constexpr size_t kMostOthers = 12;

std::string cursor(uint32_t stage, uint32_t parity) {
  return parity == kNone ? fmt::format("({},-)", stage) : fmt::format("({},{})", stage, parity);
}

/// "1: at once", "0: waits 1200"; the wait that took longest speaks for all.
std::string wait_text(const Model& m, const std::vector<uint32_t>& waits) {
  if (waits.empty()) return "-";
  const Wait* longest = nullptr;
  for (const uint32_t i : waits) {
    const Wait& w = m.waits[i];
    if (!w.end) return fmt::format("{}: never ends", w.parity);
    if (longest == nullptr || w.waited_for() > longest->waited_for()) longest = &w;
  }
  return longest->waited ? fmt::format("{}: waits {}", longest->parity, longest->waited_for())
                         : fmt::format("{}: at once", longest->parity);
}

/// "0->1 at 1300": the phase bit before and after.
std::string flip_text(const Model& m, const std::optional<uint64_t>& t, int64_t ordinal) {
  if (!t) return "-";
  if (m.source == Source::Gpu) return fmt::format("{}", *t);
  return fmt::format("{}->{} at {}", ordinal & 1, (ordinal + 1) & 1, *t);
}

std::string at_text(const std::optional<uint64_t>& t) {
  return t ? fmt::format("{}", *t) : "-";
}

std::optional<uint64_t> last_release(const Model& m, const Use& u) {
  std::optional<uint64_t> last;
  for (const uint32_t i : u.releases) last = std::max(last.value_or(0), m.arrivals[i].t);
  return last;
}

/// "full[0..2] at 0xc400".
std::string barriers_text(const Model& m, const Ring& ring, Part part) {
  const auto of = [&](const Stage& s) { return part == Part::Full ? s.full : s.empty; };
  const Barrier& first = m.barriers[of(ring.stages.front())];
  if (ring.stages.size() == 1) return fmt::format("{} at 0x{:x}", first.name, first.address);
  return fmt::format("{} to {} at 0x{:x}", first.name, m.barriers[of(ring.stages.back())].name,
                     first.address);
}

std::string warps_text(const Model& m, const std::vector<uint32_t>& agents) {
  std::vector<uint32_t> warps;
  for (const uint32_t a : agents) warps.push_back(m.agents[a].warp);
  return warp_list(warps);
}

std::string ring_heading(const Model& m, const Ring& ring) {
  std::set<int64_t> sizes;
  for (const Use& u : ring.uses) sizes.insert(u.bytes);
  std::string bytes;
  if (sizes.size() == 1 && *sizes.begin() != 0) bytes = fmt::format(" of {} bytes", *sizes.begin());
  const size_t number = static_cast<size_t>(&ring - m.rings.data());
  std::string text = fmt::format("ring {}: {}{}, {}; {}", number, counted(ring.stages.size(), "stage"), bytes,
                                 counted(ring.uses.size(), "tile"), barriers_text(m, ring, Part::Full));
  if (ring.stages.front().empty != kNone)
    text += ", " + barriers_text(m, ring, Part::Empty);
  else
    text += ", no empty barriers";
  return text + fmt::format("\nproducers: {}; consumers: {}\n", warps_text(m, ring.producers),
                            warps_text(m, ring.consumers));
}

void add_row(Columns& columns, const Model& m, const Ring& ring, size_t trip) {
  const Use& u = ring.uses[trip];
  const auto ordinal = static_cast<int64_t>(u.ordinal);
  columns.row({fmt::format("{}", trip), cursor(u.stage, u.producer_parity), wait_text(m, u.acquires),
               at_text(u.filling), flip_text(m, u.full, ordinal), cursor(u.stage, u.consumer_parity),
               wait_text(m, u.reads), at_text(last_release(m, u)),
               flip_text(m, u.released, ordinal + ring.empty_offset)});
}

}  // namespace

std::string heading(const Model& m) {
  const uint64_t ctas = uint64_t{m.grid[0]} * m.grid[1] * m.grid[2];
  std::string text =
      fmt::format("timeline of `{}`, launch {}, cta {} of {}\n", m.kernel, m.launch, m.cta, ctas);
  text += fmt::format(
      "recorded {}; times in {}: {}\n", m.source == Source::Gpu ? "on a GPU" : "on the engine",
      m.clock == "ns" ? "ns" : "steps", m.about.empty() ? "from the launch's first record" : m.about);
  if (m.source == Source::Engine)
    text +=
        "a copy lands 600 steps + 1 per 32 bytes after its issue: this shows who waits for whom, not a GPU's "
        "speed\n";
  if (m.left_out != 0)
    text += fmt::format("NOTE: {} records did not fit in the trace; what follows lacks them\n", m.left_out);
  return text;
}

std::string table(const Model& m, const Ring& ring, const TableOptions& options) {
  const bool on_gpu = m.source == Source::Gpu;
  Columns columns({"tile", "producer", "waits for empty", "arms at", on_gpu ? "full seen" : "full flips",
                   "consumer", "waits for full", "releases at", on_gpu ? "released" : "empty flips"});
  const size_t count = ring.uses.size();
  const bool is_short = options.all_tiles || count <= kShortRun;
  for (size_t trip = 0; trip < count; ++trip) {
    if (!is_short && trip == kFirstTiles) {
      columns.line(fmt::format("... {} tiles between (--all shows them)", count - kFirstTiles - kLastTiles));
      trip = count - kLastTiles;
    }
    if (trip != 0 && ring.stages.size() > 1 && ring.uses[trip].stage == 0)
      columns.line(fmt::format("-- lap {}", ring.uses[trip].ordinal));
    add_row(columns, m, ring, trip);
  }
  return ring_heading(m, ring) + columns.text();
}

std::string remainder(const Model& m) {
  std::string text;
  size_t others = 0, unused = 0;
  for (uint32_t b = 0; b < m.barriers.size(); ++b) {
    if (m.barriers[b].ring != kNone) continue;
    std::set<uint32_t> waiters;
    for (const Wait& w : m.waits) {
      if (w.barrier == b) waiters.insert(m.agents[w.agent].warp);
    }
    if (waiters.empty()) {
      ++unused;
    } else if (++others <= kMostOthers) {
      text += fmt::format("not in a ring: {}, {} completed, waited for by {}\n", m.barriers[b].name,
                          counted(m.barriers[b].flips.size(), "phase"),
                          warp_list({waiters.begin(), waiters.end()}));
    }
  }
  if (others > kMostOthers)
    text += fmt::format("and {} more in no ring\n", counted(others - kMostOthers, "barrier"));
  if (unused != 0) text += fmt::format("nobody waits for {} more\n", counted(unused, "barrier"));
  for (const Wait& w : m.waits) {
    if (w.end) continue;
    const std::string place = place_text(m, w.at);
    text += fmt::format("never ends: {} waits from {} on for phase {} of {}{}\n",
                        warp_list({m.agents[w.agent].warp}), w.asked, w.phase, m.barriers[w.barrier].name,
                        place.empty() ? "" : " (" + place + ")");
  }
  return text;
}

std::string to_text(const Model& m, const TableOptions& options) {
  std::string text = heading(m);
  for (const Ring& ring : m.rings) text += "\n" + table(m, ring, options) + "\n" + summary(m, ring);
  if (m.rings.empty()) {
    text += m.barriers.empty() ? "\nno ring: this CTA used no mbarrier\n"
                               : "\nno ring: nobody waits on one mbarrier and then arrives on another\n";
  }
  if (const std::string rest = remainder(m); !rest.empty()) text += "\n" + rest;
  if (options.log) text += "\n" + state_log(m, options);
  return text;
}

}  // namespace sluice::timeline
