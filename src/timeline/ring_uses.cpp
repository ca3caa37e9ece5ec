// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The uses of a ring's stages. Use u of a stage is phase u of its `full`. Where stages start free, it is
// acquired by a wait for phase u - 1 of `empty` and released in phase u; where consumers arrive first to say
// so, both are one phase later. Which of the two it is, is read off the producers: for which phase they
// waited before they filled for the first time.
#include <algorithm>
#include <map>
#include <utility>

#include "timeline/build_model.hpp"

namespace sluice::timeline {
namespace {

/// Where the uses of a ring lie while they are put together.
class Collector {
 public:
  Collector(Model& model, Ring& ring) : m_(model), ring_(ring) {
    for (uint32_t stage = 0; stage < ring.stages.size(); ++stage) {
      stage_of_[ring.stages[stage].full] = stage;
      if (ring.stages[stage].empty != kNone) stage_of_[ring.stages[stage].empty] = stage;
    }
  }

  void collect() {
    ring_.empty_offset = find_empty_offset();
    number_copies();
    add_waits();
    add_arrivals();
    add_copies();
    add_flips();
    add_strays();
    order();
  }

 private:
  bool is_full(uint32_t barrier) const { return m_.barriers[barrier].part == Part::Full; }

  /// The use to which phase `phase` of a full barrier belongs.
  Use& use(uint32_t barrier, int64_t ordinal) {
    const uint32_t stage = stage_of_.at(barrier);
    Use& u = uses_[{stage, static_cast<uint64_t>(ordinal)}];
    u.stage = stage;
    u.ordinal = static_cast<uint64_t>(ordinal);
    return u;
  }

  int64_t find_empty_offset() const {
    // The first phase that anybody waited for before filling stands for use 0.
    std::map<int64_t, uint64_t> offsets;
    for (const Stage& stage : ring_.stages) {
      if (stage.empty == kNone) continue;
      int64_t first = INT64_MAX;
      bool fresh_fill = false;
      uint64_t first_fill = UINT64_MAX, asked = 0;
      for (const Wait& w : m_.waits) {
        if (w.barrier != stage.empty || w.phase >= first) continue;
        first = w.phase;
        asked = w.end.value_or(UINT64_MAX);
      }
      for (const Arrival& a : m_.arrivals) {
        if (a.barrier == stage.full) first_fill = std::min(first_fill, a.t);
      }
      if (first == INT64_MAX) continue;
      // Filled before anybody waited: the first lap is not acquired.
      fresh_fill = first_fill < asked;
      ++offsets[first + 1 - (fresh_fill ? 1 : 0)];
    }
    int64_t best = 0;
    uint64_t most = 0;
    for (const auto& [offset, count] : offsets) {
      if (count > most) std::tie(best, most) = std::pair(offset, count);
    }
    return std::clamp<int64_t>(best, 0, 1);
  }

  /// A GPU does not see landings: the copies that signal a barrier belong to the arms in order.
  void number_copies() {
    if (m_.source == Source::Engine) return;
    std::map<uint32_t, std::vector<std::pair<uint64_t, int64_t>>> arms;
    for (const Arrival& a : m_.arrivals) {
      if (a.bytes != 0) arms[a.barrier].emplace_back(a.t, a.phase);
    }
    for (Copy& c : m_.copies) {
      const auto found = arms.find(c.barrier);
      if (found == arms.end()) continue;
      for (const auto& [t, phase] : found->second) {
        if (t <= c.issued || c.phase < 0) c.phase = phase;
      }
    }
  }

  void add_waits() {
    for (uint32_t i = 0; i < m_.waits.size(); ++i) {
      const Wait& w = m_.waits[i];
      if (stage_of_.count(w.barrier) == 0) continue;
      if (is_full(w.barrier)) {
        if (w.phase < 0) continue;
        Use& u = use(w.barrier, w.phase);
        u.reads.push_back(i);
        u.consumer_parity = w.parity;
        if (w.end) u.seen = std::min(u.seen.value_or(UINT64_MAX), *w.end);
      } else {
        const int64_t ordinal = w.phase + 1 - ring_.empty_offset;
        if (ordinal < 0) continue;
        Use& u = use(w.barrier, ordinal);
        u.acquires.push_back(i);
        u.producer_parity = w.parity;
        if (w.end) u.acquired = std::max(u.acquired.value_or(0), *w.end);
      }
    }
  }

  void add_arrivals() {
    for (uint32_t i = 0; i < m_.arrivals.size(); ++i) {
      const Arrival& a = m_.arrivals[i];
      if (stage_of_.count(a.barrier) == 0) continue;
      if (is_full(a.barrier)) {
        Use& u = use(a.barrier, a.phase);
        u.arms.push_back(i);
        u.bytes += a.bytes;
        u.filling = std::min(u.filling.value_or(UINT64_MAX), a.t);
      } else if (a.phase >= ring_.empty_offset) {
        Use& u = use(a.barrier, a.phase - ring_.empty_offset);
        u.releases.push_back(i);
        if (m_.source == Source::Gpu) u.released = std::max(u.released.value_or(0), a.t);
      }
    }
  }

  void add_copies() {
    for (uint32_t i = 0; i < m_.copies.size(); ++i) {
      const Copy& c = m_.copies[i];
      if (c.barrier == kNone || c.phase < 0 || stage_of_.count(c.barrier) == 0 || !is_full(c.barrier))
        continue;
      Use& u = use(c.barrier, c.phase);
      u.copies.push_back(i);
      u.filling = std::min(u.filling.value_or(UINT64_MAX), c.issued);
    }
  }

  void add_flips() {
    for (auto& [key, u] : uses_) {
      const Stage& stage = ring_.stages[key.first];
      const auto flip = [&](uint32_t barrier, uint64_t ordinal) -> std::optional<uint64_t> {
        if (barrier == kNone) return std::nullopt;
        const auto& flips = m_.barriers[barrier].flips;
        return ordinal < flips.size() ? flips[ordinal] : std::nullopt;
      };
      u.full = m_.source == Source::Gpu ? u.seen : flip(stage.full, key.second);
      if (m_.source == Source::Engine)
        u.released = flip(stage.empty, key.second + static_cast<uint64_t>(ring_.empty_offset));
    }
  }

  /// Waits on empty for a phase that no filling needs, as a wrong parity makes them: each stands before the
  /// filling of its stage that comes next.
  void add_strays() {
    for (const auto& [key, stray] : uses_) {
      if (stray.filling || !stray.reads.empty()) continue;
      for (const uint32_t i : stray.acquires) {
        const Wait& w = m_.waits[i];
        Use* next = nullptr;
        for (auto& [other, u] : uses_) {
          const bool comes_next = other.first == key.first && u.filling && w.end && *u.filling >= *w.end;
          if (comes_next && (next == nullptr || *u.filling < *next->filling)) next = &u;
        }
        if (next == nullptr || !next->acquires.empty()) continue;
        next->acquires.push_back(i);
        next->producer_parity = w.parity;
        next->acquired = w.end;
      }
    }
  }

  static uint64_t begin_of(const Use& u) {
    return u.filling.value_or(u.acquired.value_or(u.seen.value_or(UINT64_MAX)));
  }

  /// Trips: in the order in which stages were filled. A wait that only a producer's tail makes fills nothing.
  void order() {
    for (auto& [key, u] : uses_) {
      if (u.filling || !u.reads.empty()) ring_.uses.push_back(std::move(u));
    }
    std::stable_sort(ring_.uses.begin(), ring_.uses.end(),
                     [](const Use& a, const Use& b) { return begin_of(a) < begin_of(b); });
    for (uint32_t trip = 0; trip < ring_.uses.size(); ++trip) {
      const Use& u = ring_.uses[trip];
      for (const uint32_t i : u.acquires) m_.waits[i].trip = trip;
      for (const uint32_t i : u.reads) m_.waits[i].trip = trip;
      for (const uint32_t i : u.arms) m_.arrivals[i].trip = trip;
      for (const uint32_t i : u.releases) m_.arrivals[i].trip = trip;
      for (const uint32_t i : u.copies) m_.copies[i].trip = trip;
    }
  }

  Model& m_;
  Ring& ring_;
  std::map<uint32_t, uint32_t> stage_of_;
  std::map<std::pair<uint32_t, uint64_t>, Use> uses_;
};

}  // namespace

void collect_uses(Model& m) {
  for (Ring& ring : m.rings) Collector(m, ring).collect();
}

}  // namespace sluice::timeline
