// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Who waited how long, how full the stages were, and what limits a ring. The rule: a role waits if its warps
// spend at least kWaiting of their life in waits on the ring (a consumer's first wait, for the first tile,
// does not count). If only producers wait, the consumers limit; if only consumers wait, the producer and its
// copies do; if both wait, the stages are too few for the time that a filling takes, or come too late. One
// stage more helps if the replay with it (replay.hpp) is at least kWorthIt shorter.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "timeline/build_model.hpp"
#include "timeline/replay.hpp"

namespace sluice::timeline {
namespace {

constexpr double kWaiting = 0.05;
constexpr double kWorthIt = 0.02;
constexpr uint32_t kMoreStages = 2;

std::string percent(double share) {
  return fmt::format("{:.{}f} %", share * 100, share < 0.0995 ? 1 : 0);
}

// --- stages -------------------------------------------------------------------------------------------

/// The states of all uses, and how long each stage was in which of them, to the end of the ring. A stage that
/// nobody releases is in use until it is filled again.
void settle_states(Ring& ring) {
  struct Spent {
    uint64_t filling = 0, full = 0, used = 0;
  };
  std::vector<Spent> spent(ring.stages.size());
  std::vector<uint64_t> filled_again(ring.stages.size(), ring.end);
  for (auto u = ring.uses.rbegin(); u != ring.uses.rend(); ++u) {
    if (!u->filling) continue;
    Spent& s = spent[u->stage];
    const uint64_t until = std::max(filled_again[u->stage], *u->filling);
    StageStates states{.filling = *u->filling};
    states.full = std::clamp(u->full.value_or(until), states.filling, until);
    states.used = std::clamp(u->seen.value_or(until), states.full, until);
    // What was given back before it was full is not given back.
    const bool is_released = u->released && *u->released >= states.used;
    states.empty = is_released ? std::min(*u->released, until) : until;
    s.filling += states.full - states.filling;
    s.full += states.used - states.full;
    s.used += states.empty - states.used;
    filled_again[u->stage] = *u->filling;
    u->states = states;
  }
  const double life = static_cast<double>(std::max<uint64_t>(ring.end - ring.begin, 1));
  for (size_t i = 0; i < spent.size(); ++i) {
    Stage& stage = ring.stages[i];
    stage.filling_share = static_cast<double>(spent[i].filling) / life;
    stage.full_share = static_cast<double>(spent[i].full) / life;
    stage.used_share = static_cast<double>(spent[i].used) / life;
    stage.empty_share = std::max(0.0, 1 - stage.filling_share - stage.full_share - stage.used_share);
  }
}

// --- roles --------------------------------------------------------------------------------------------

struct Life {
  uint64_t first = UINT64_MAX, last = 0;
  void add(uint64_t begin, uint64_t end) {
    first = std::min(first, begin);
    last = std::max(last, end);
  }
};

void sum_waits(const Model& m, Ring& ring) {
  std::map<std::pair<bool, uint32_t>, RoleWaits> rows;
  std::map<uint32_t, Life> lives;
  Life all;
  const auto take_wait = [&](uint32_t index, bool is_producer) {
    const Wait& w = m.waits[index];
    RoleWaits& row = rows[{!is_producer, w.agent}];
    row.agent = w.agent;
    row.is_producer = is_producer;
    ++row.trips;
    lives[w.agent].add(w.asked, w.end.value_or(w.asked));
    if (!w.waited) return;
    ++row.waits;
    row.time += w.waited_for();
    if (row.longest == kNone || w.waited_for() > m.waits[row.longest].waited_for()) row.longest = index;
  };
  for (const Use& u : ring.uses) {
    for (const uint32_t i : u.acquires) take_wait(i, true);
    for (const uint32_t i : u.reads) take_wait(i, false);
    for (const uint32_t i : u.arms) lives[m.arrivals[i].agent].add(m.arrivals[i].t, m.arrivals[i].t);
    for (const uint32_t i : u.releases) lives[m.arrivals[i].agent].add(m.arrivals[i].t, m.arrivals[i].t);
  }
  for (auto& [key, row] : rows) {
    row.life = lives[row.agent].last - lives[row.agent].first;
    ring.waits.push_back(row);
  }
  for (const auto& [agent, life] : lives) all.add(life.first, life.last);
  ring.begin = all.first == UINT64_MAX ? 0 : all.first;
  ring.end = std::max(all.last, ring.begin);
}

/// Share of their life that the warps of a role wait: the mean over them.
double waiting_share(const Model& m, const Ring& ring, bool producers) {
  std::map<uint32_t, uint64_t> first;  ///< agent -> its first read
  if (!producers) {
    for (const Use& u : ring.uses) {
      for (const uint32_t i : u.reads) {
        const Wait& w = m.waits[i];
        if (first.try_emplace(w.agent, i).second) continue;
        if (w.asked < m.waits[first[w.agent]].asked) first[w.agent] = i;
      }
    }
  }
  double sum = 0;
  uint32_t count = 0;
  for (const RoleWaits& row : ring.waits) {
    if (row.is_producer != producers) continue;
    uint64_t left_out = 0;
    if (const auto found = first.find(row.agent); found != first.end())
      left_out = m.waits[found->second].waited_for();
    ++count;
    if (row.life > left_out)
      sum += static_cast<double>(row.time - std::min(row.time, left_out)) /
             static_cast<double>(row.life - left_out);
  }
  return count == 0 ? 0 : sum / count;
}

// --- verdict ------------------------------------------------------------------------------------------

std::string stages_sentence(const Model& m, const Ring& ring) {
  if (m.left_out != 0)
    return "; whether more stages would help cannot be told from a trace that lacks records";
  if (ring.what_if.size() < 2 || ring.what_if[0].time == 0) return "";
  const double gain =
      1 - static_cast<double>(ring.what_if[1].time) / static_cast<double>(ring.what_if[0].time);
  const uint32_t more = ring.what_if[1].stages;
  if (gain >= kWorthIt)
    return fmt::format("; with {} stages the same work would take {} less", more, percent(gain));
  return fmt::format("; more stages would not help (with {} the same work would take as long)", more);
}

void judge(const Model& m, Ring& ring) {
  if (m.failed) {
    const bool hangs = std::any_of(m.waits.begin(), m.waits.end(), [](const Wait& w) { return !w.end; });
    ring.verdict =
        hangs ? "the launch hangs: some waits never end, and the shares say nothing about what limits"
              : "the launch failed: the shares say nothing about what limits";
    return;
  }
  if (ring.uses.size() < 2) {
    ring.verdict = "one tile alone says nothing about what limits";
    return;
  }
  const double producers = waiting_share(m, ring, true), consumers = waiting_share(m, ring, false);
  const bool has_empty =
      std::any_of(ring.stages.begin(), ring.stages.end(), [](const Stage& s) { return s.empty != kNone; });
  const std::string free = percent(producers), data = percent(consumers);
  if (producers >= kWaiting && consumers >= kWaiting) {
    ring.limit = Limit::Neither;
    ring.verdict = fmt::format(
        "both wait for each other: the producer {} of its time for a free stage, the consumers {} for data; "
        "the "
        "stages do not cover the time from a release to the next full",
        free, data);
  } else if (consumers >= kWaiting) {
    ring.limit = Limit::Producer;
    ring.verdict =
        fmt::format("filling limits: the consumers wait {} of their time for data (starvation)", data);
    ring.verdict += has_empty ? fmt::format(", the producer {} for a free stage", free) : "";
  } else if (producers >= kWaiting) {
    ring.limit = Limit::Consumers;
    ring.verdict = fmt::format(
        "the consumers limit: the producer waits {} of its time for a free stage (back-pressure), they {} "
        "for data",
        free, data);
  } else {
    ring.limit = Limit::Neither;
    ring.verdict = "nobody waits for long on this ring: what limits is elsewhere";
  }
  ring.verdict += stages_sentence(m, ring);
}

}  // namespace

void summarise(const Model& m, Ring& ring) {
  sum_waits(m, ring);
  settle_states(ring);
  const auto stages = static_cast<uint32_t>(ring.stages.size());
  for (uint32_t more = 0; m.left_out == 0 && more <= kMoreStages; ++more) {
    const auto time = replay(m, ring, stages + more);
    if (!time) break;
    ring.what_if.push_back({stages + more, *time});
  }
  judge(m, ring);
}

}  // namespace sluice::timeline
