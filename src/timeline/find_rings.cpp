// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Rings from behaviour, as model.hpp says.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "timeline/build_model.hpp"

namespace sluice::timeline {
namespace {

/// What is known of one barrier.
struct Behaviour {
  std::set<uint32_t> contributors;  ///< agents that arrive on it or send copies there
  std::set<uint32_t> waiters;
  std::set<std::pair<std::string, uint32_t>> fill_lines;  ///< source lines that announce bytes or copy
  bool receives_bytes = false;
  bool passes_fresh = false;  ///< somebody waited for the phase before the first
};

struct Pair {
  uint32_t full = kNone, empty = kNone;
};

/// One step of an agent on a barrier.
struct Step {
  uint64_t t = 0;
  uint32_t barrier = kNone;
  bool is_wait = false;
};

using Votes = std::map<std::pair<uint32_t, uint32_t>, uint64_t>;

std::vector<Behaviour> behaviours(const Model& m) {
  std::vector<Behaviour> all(m.barriers.size());
  const auto note_line = [&](Behaviour& b, uint32_t at) {
    if (at != 0 && at < m.places.size()) b.fill_lines.emplace(m.places[at].file, m.places[at].line);
  };
  for (const Arrival& a : m.arrivals) {
    Behaviour& b = all[a.barrier];
    b.contributors.insert(a.agent);
    if (a.bytes == 0 && !a.is_async) continue;
    b.receives_bytes = true;
    note_line(b, a.at);
  }
  for (const Copy& c : m.copies) {
    if (c.barrier == kNone) continue;
    all[c.barrier].receives_bytes = true;
    if (c.agent != kNone && m.agents[c.agent].cta == m.cta) all[c.barrier].contributors.insert(c.agent);
  }
  for (const Wait& w : m.waits) {
    all[w.barrier].waiters.insert(w.agent);
    if (w.phase < 0) all[w.barrier].passes_fresh = true;
  }
  return all;
}

/// Counts, for each barrier that an agent has waited on, the barrier on which it acted next.
Votes count_votes(const Model& m) {
  std::map<uint32_t, std::vector<Step>> steps;
  for (const Wait& w : m.waits) steps[w.agent].push_back({w.end.value_or(w.asked), w.barrier, true});
  for (const Arrival& a : m.arrivals) {
    if (!a.is_async) steps[a.agent].push_back({a.t, a.barrier, false});
  }
  for (const Copy& c : m.copies) {
    if (c.barrier != kNone) steps[c.agent].push_back({c.issued, c.barrier, false});
  }
  Votes votes;
  for (auto& [agent, list] : steps) {
    std::stable_sort(list.begin(), list.end(), [](const Step& a, const Step& b) { return a.t < b.t; });
    uint32_t waited = kNone;
    for (const Step& s : list) {
      if (s.is_wait) {
        waited = s.barrier;
      } else if (waited != kNone && waited != s.barrier) {
        ++votes[{waited, s.barrier}];
        waited = kNone;
      }
    }
  }
  return votes;
}

uint64_t votes_of(const Votes& votes, uint32_t from, uint32_t to) {
  const auto found = votes.find({from, to});
  return found == votes.end() ? 0 : found->second;
}

std::optional<uint64_t> first_flip(const Barrier& b) {
  for (const auto& flip : b.flips) {
    if (flip) return flip;
  }
  return std::nullopt;
}

/// Of two partners: is `a` the full one?
bool is_full(const Model& m, const std::vector<Behaviour>& known, uint32_t a, uint32_t b) {
  if (known[a].receives_bytes != known[b].receives_bytes) return known[a].receives_bytes;
  if (known[a].passes_fresh != known[b].passes_fresh) return known[b].passes_fresh;
  const auto first_a = first_flip(m.barriers[a]), first_b = first_flip(m.barriers[b]);
  if (first_a && first_b && *first_a != *first_b) return *first_a < *first_b;
  if (first_a.has_value() != first_b.has_value()) return first_a.has_value();
  return m.barriers[a].address < m.barriers[b].address;
}

bool intersect(const std::set<uint32_t>& a, const std::set<uint32_t>& b) {
  return std::any_of(a.begin(), a.end(), [&](uint32_t x) { return b.count(x) != 0; });
}

/// Partners, the strongest vote first. What producers do next counts before what consumers do, however many
/// these are: they may hold a stage and release the one before it.
std::vector<Pair> find_pairs(const Model& m, const std::vector<Behaviour>& known) {
  struct Candidate {
    std::pair<uint64_t, uint64_t> score;  ///< votes of producers, of consumers
    Pair pair;
  };
  const Votes votes = count_votes(m);
  std::set<std::pair<uint32_t, uint32_t>> seen;
  std::vector<Candidate> candidates;
  for (const auto& [edge, count] : votes) {
    const auto [a, b] = edge;
    if (!seen.insert(std::minmax(a, b)).second) continue;
    const Pair pair = is_full(m, known, a, b) ? Pair{a, b} : Pair{b, a};
    const Behaviour &full = known[pair.full], &empty = known[pair.empty];
    if (empty.receives_bytes) continue;
    // Those who fill wait for empty, those who read give it back.
    const bool is_ring =
        intersect(full.contributors, empty.waiters) || intersect(full.waiters, empty.contributors);
    if (!is_ring) continue;
    candidates.push_back(
        {{votes_of(votes, pair.empty, pair.full), votes_of(votes, pair.full, pair.empty)}, pair});
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.score > b.score; });
  std::set<uint32_t> taken;
  std::vector<Pair> pairs;
  for (const Candidate& c : candidates) {
    if (taken.count(c.pair.full) != 0 || taken.count(c.pair.empty) != 0) continue;
    taken.insert({c.pair.full, c.pair.empty});
    pairs.push_back(c.pair);
  }
  for (uint32_t b = 0; b < known.size(); ++b) {
    if (known[b].receives_bytes && !known[b].waiters.empty() && taken.count(b) == 0)
      pairs.push_back({b, kNone});
  }
  std::sort(pairs.begin(), pairs.end(), [&](const Pair& a, const Pair& b) {
    return m.barriers[a.full].address < m.barriers[b.full].address;
  });
  return pairs;
}

bool share_lines(const Behaviour& a, const Behaviour& b) {
  if (a.fill_lines.empty() || b.fill_lines.empty()) return true;
  // Without -lineinfo the lines are those of the PTX, where unrolled code stands several times.
  const auto is_ptx = [](const Behaviour& x) {
    return x.fill_lines.begin()->second == 0 || x.fill_lines.begin()->first.find(".cu") == std::string::npos;
  };
  if (is_ptx(a) && is_ptx(b)) return true;
  return std::any_of(a.fill_lines.begin(), a.fill_lines.end(),
                     [&](const auto& line) { return b.fill_lines.count(line) != 0; });
}

/// Whether `next` goes on where the ring ends.
bool continues(const Model& m, const std::vector<Behaviour>& known, const std::vector<Pair>& ring,
               const Pair& next) {
  const Pair& last = ring.back();
  const Behaviour &a = known[last.full], &b = known[next.full];
  if ((last.empty == kNone) != (next.empty == kNone)) return false;
  // Not every consumer need come to every stage in a short run.
  if (a.contributors != b.contributors || !intersect(a.waiters, b.waiters) || !share_lines(a, b))
    return false;
  if (m.barriers[last.full].expected != m.barriers[next.full].expected) return false;
  const auto distance = [&](uint32_t x, uint32_t y) {
    return static_cast<int64_t>(m.barriers[y].address) - static_cast<int64_t>(m.barriers[x].address);
  };
  const int64_t step = distance(last.full, next.full);
  if (next.empty != kNone) {
    if (m.barriers[last.empty].expected != m.barriers[next.empty].expected) return false;
    if (distance(last.empty, next.empty) != step) return false;
  }
  return ring.size() < 2 || distance(ring[ring.size() - 2].full, last.full) == step;
}

std::vector<std::vector<Pair>> group(const Model& m, const std::vector<Behaviour>& known) {
  std::vector<std::vector<Pair>> rings;
  for (const Pair& pair : find_pairs(m, known)) {
    const auto home = std::find_if(rings.rbegin(), rings.rend(), [&](const std::vector<Pair>& ring) {
      return continues(m, known, ring, pair);
    });
    if (home != rings.rend()) {
      home->push_back(pair);
    } else {
      rings.push_back({pair});
    }
  }
  return rings;
}

/// A trace that says which barrier is what.
std::vector<std::vector<Pair>> told_rings(const Model& m) {
  std::map<uint32_t, std::map<uint32_t, Pair>> rings;
  for (uint32_t i = 0; i < m.barriers.size(); ++i) {
    const Barrier& b = m.barriers[i];
    if (b.ring == kNone || b.stage == kNone || b.part == Part::Unknown) continue;
    Pair& pair = rings[b.ring][b.stage];
    (b.part == Part::Full ? pair.full : pair.empty) = i;
  }
  std::vector<std::vector<Pair>> lists;
  for (const auto& [number, stages] : rings) {
    std::vector<Pair> list;
    for (const auto& [stage, pair] : stages) {
      if (pair.full != kNone) list.push_back(pair);
    }
    if (!list.empty()) lists.push_back(std::move(list));
  }
  return lists;
}

void tell(Model& m, const std::vector<Behaviour>& known, const std::vector<Pair>& pairs) {
  Ring ring;
  const auto number = static_cast<uint32_t>(m.rings.size());
  std::set<uint32_t> producers, consumers;
  for (const Pair& pair : pairs) {
    const auto stage = static_cast<uint32_t>(ring.stages.size());
    ring.stages.push_back({pair.full, pair.empty});
    for (const auto& [barrier, part] : {std::pair{pair.full, Part::Full}, {pair.empty, Part::Empty}}) {
      if (barrier == kNone) continue;
      m.barriers[barrier].ring = number;
      m.barriers[barrier].stage = stage;
      m.barriers[barrier].part = part;
    }
    producers.insert(known[pair.full].contributors.begin(), known[pair.full].contributors.end());
    consumers.insert(known[pair.full].waiters.begin(), known[pair.full].waiters.end());
    if (pair.empty != kNone)
      producers.insert(known[pair.empty].waiters.begin(), known[pair.empty].waiters.end());
  }
  const auto add_role = [&](uint32_t agent, const char* role) {
    std::string& text = m.agents[agent].role;
    if (text.empty())
      text = role;
    else if (text != role && m.source == Source::Engine)
      text = "producer and consumer";
  };
  for (const uint32_t agent : producers) {
    if (agent == kNone || m.agents[agent].cta != m.cta) continue;
    ring.producers.push_back(agent);
    add_role(agent, "producer");
  }
  for (const uint32_t agent : consumers) {
    if (agent == kNone || m.agents[agent].cta != m.cta) continue;
    ring.consumers.push_back(agent);
    add_role(agent, "consumer");
  }
  m.rings.push_back(std::move(ring));
}

}  // namespace

void find_rings(Model& m) {
  const std::vector<Behaviour> known = behaviours(m);
  auto lists = told_rings(m);
  if (lists.empty()) lists = group(m, known);
  for (const std::vector<Pair>& pairs : lists) tell(m, known, pairs);
}

}  // namespace sluice::timeline
