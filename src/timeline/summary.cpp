// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The summary of a ring, the log of states.
#include <fmt/format.h>

#include <algorithm>

#include "timeline/columns.hpp"
#include "timeline/table.hpp"

namespace sluice::timeline {
namespace {

constexpr size_t kMostStates = 200;
constexpr size_t kCursorsPerLine = 12;

std::string percent(double share) {
  return fmt::format("{:.1f} %", share * 100);
}

/// One row for all warps of a role.
void add_role(Columns& columns, const Model& m, const Ring& ring, bool producers) {
  std::vector<uint32_t> warps;
  uint64_t trips = 0, waits = 0, time = 0, life = 0;
  uint32_t longest = kNone;
  for (const RoleWaits& row : ring.waits) {
    if (row.is_producer != producers) continue;
    warps.push_back(m.agents[row.agent].warp);
    trips += row.trips;
    waits += row.waits;
    time += row.time;
    life += row.life;
    if (row.longest == kNone) continue;
    if (longest == kNone || m.waits[row.longest].waited_for() > m.waits[longest].waited_for())
      longest = row.longest;
  }
  if (warps.empty()) return;
  std::string longest_text = "-";
  if (longest != kNone) {
    const Wait& w = m.waits[longest];
    longest_text = fmt::format("{} at tile {}", w.waited_for(), w.trip);
    if (const std::string place = place_text(m, w.at); !place.empty()) longest_text += ", " + place;
  }
  columns.row({producers ? "empty (back-pressure)" : "full (starvation)", warp_list(warps),
               fmt::format("{}", trips), fmt::format("{}", waits), fmt::format("{}", time),
               percent(life == 0 ? 0 : static_cast<double>(time) / static_cast<double>(life)), longest_text});
}

/// What an agent did, in words.
std::string what_text(const StateChange& s) {
  switch (s.what) {
    case RecordKind::Init:
      return fmt::format("init {}", s.count);
    case RecordKind::Land:
      return fmt::format("-{} bytes landed", s.bytes);
    case RecordKind::Flip:
      return fmt::format("phase {} complete", s.phase - 1);
    default:
      break;
  }
  std::string text;
  if (s.bytes != 0) text = fmt::format("+{} bytes", s.bytes);
  if (s.count != 0)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", std::abs(s.count),
                        s.count < 0    ? "more to come"
                        : s.count == 1 ? "arrival"
                                       : "arrivals");
  return text;
}

/// "(0,1) (1,1) (2,1) (0,0)": the PipelineState of a role at each tile.
std::string cursors(const Ring& ring, bool producers) {
  std::string text;
  size_t count = 0;
  for (const Use& u : ring.uses) {
    const uint32_t parity = producers ? u.producer_parity : u.consumer_parity;
    if (parity == kNone) continue;
    if (count++ % kCursorsPerLine == 0) text += count == 1 ? "" : "\n ";
    text += fmt::format(" ({},{})", u.stage, parity);
  }
  return text.empty() ? " -" : text;
}

}  // namespace

std::string summary(const Model& m, const Ring& ring) {
  Columns waits(
      {"waits on", "by", "tiles", "waited", m.clock == "ns" ? "ns" : "steps", "of its time", "longest"});
  add_role(waits, m, ring, true);
  add_role(waits, m, ring, false);
  Columns stages({"stage", "empty", "filling", "full", "in use"});
  for (size_t i = 0; i < ring.stages.size(); ++i) {
    const Stage& s = ring.stages[i];
    stages.row({fmt::format("{}", i), percent(s.empty_share), percent(s.filling_share), percent(s.full_share),
                percent(s.used_share)});
  }
  return waits.text() + "\n" + stages.text() + "\n" + ring.verdict + "\n";
}

std::string state_log(const Model& m, const TableOptions& options) {
  std::string text;
  for (size_t i = 0; i < m.rings.size(); ++i) {
    text +=
        fmt::format("PipelineState (index, phase) of ring {}, producer:{}\n", i, cursors(m.rings[i], true));
    text +=
        fmt::format("PipelineState (index, phase) of ring {}, consumer:{}\n", i, cursors(m.rings[i], false));
  }
  if (m.states.empty()) return text + "the trace tells no states of barriers: a GPU does not see them\n";
  Columns columns({"at", "barrier", "by", "what", "pending", "bytes due", "phase", "place"});
  const size_t shown = options.all_tiles ? m.states.size() : std::min(m.states.size(), kMostStates);
  for (size_t i = 0; i < shown; ++i) {
    const StateChange& s = m.states[i];
    const Agent* const agent = s.agent == kNone ? nullptr : &m.agents[s.agent];
    std::string by = agent == nullptr ? "" : warp_list({agent->warp});
    if (agent != nullptr && agent->cta != m.cta) by = fmt::format("cta {} ", agent->cta) + by;
    if (s.what == RecordKind::Land) by = "copy of " + by;
    if (s.what == RecordKind::Flip) by = "";
    columns.row({fmt::format("{}", s.t), m.barriers[s.barrier].name, by, what_text(s),
                 fmt::format("{}", s.pending), fmt::format("{}", s.due), fmt::format("{}", s.phase & 1),
                 place_text(m, s.at)});
  }
  text += "\n" + columns.text();
  if (shown < m.states.size())
    text += fmt::format("... {} changes more (--all shows them)\n", m.states.size() - shown);
  return text;
}

}  // namespace sluice::timeline
