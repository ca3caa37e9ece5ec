// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Warps step forward in turn until all are at their end, or nobody can go on.
#include "timeline/replay.hpp"

#include <algorithm>
#include <map>

namespace sluice::timeline {
namespace {

enum class Act : uint8_t { Acquire, Read, Fill, Release };

struct Step {
  Act act{};
  uint32_t trip = 0;
  uint64_t begin = 0, end = 0;  ///< as recorded
};

struct Warp {
  std::vector<Step> steps;
  size_t next = 0;
  uint64_t clock = 0;     ///< in the replay
  uint64_t recorded = 0;  ///< when it was done with the step before
};

/// A full or an empty barrier's phase: it is over when all that was recorded of it has come.
struct Gate {
  uint32_t missing = 0;
  uint64_t latest = 0;            ///< of what has come, in the replay
  uint64_t delay = 0;             ///< from the last local contribution to the completion, as recorded
  std::optional<uint64_t> fixed;  ///< nobody here contributes: when it happened
  std::optional<uint64_t> opens() const {
    if (fixed) return fixed;
    if (missing != 0) return std::nullopt;
    return latest + delay;
  }
};

class Replay {
 public:
  Replay(const Model& model, const Ring& ring, uint32_t stages) : m_(model), ring_(ring), stages_(stages) {}

  std::optional<uint64_t> run() {
    if (!gather()) return std::nullopt;
    bool moved = true;
    while (moved) {
      moved = false;
      for (auto& [agent, warp] : warps_) {
        while (warp.next < warp.steps.size() && step(warp)) moved = true;
      }
    }
    uint64_t end = 0, begin = UINT64_MAX;
    for (const auto& [agent, warp] : warps_) {
      if (warp.next < warp.steps.size()) return std::nullopt;
      begin = std::min(begin, warp.steps.front().begin);
      end = std::max(end, warp.clock);
    }
    return warps_.empty() ? std::nullopt : std::optional(end - begin);
  }

 private:
  void add(uint32_t agent, Act act, uint32_t trip, uint64_t begin, uint64_t end) {
    warps_[agent].steps.push_back({act, trip, begin, end});
  }

  /// A gate with what opened it, as recorded.
  static Gate gate(uint32_t contributions, uint64_t last, std::optional<uint64_t> opened) {
    Gate g;
    g.missing = contributions;
    if (contributions == 0) {
      g.fixed = opened;
    } else {
      g.delay = opened && *opened > last ? *opened - last : 0;
    }
    return g;
  }

  bool gather() {
    bool is_acquired = false;
    for (uint32_t trip = 0; trip < ring_.uses.size(); ++trip) {
      const Use& u = ring_.uses[trip];
      for (const uint32_t i : u.acquires) {
        const Wait& w = m_.waits[i];
        if (!w.end) return false;
        is_acquired = true;
        add(w.agent, Act::Acquire, trip, w.asked, *w.end);
      }
      for (const uint32_t i : u.reads) {
        const Wait& w = m_.waits[i];
        if (!w.end) return false;
        add(w.agent, Act::Read, trip, w.asked, *w.end);
      }
      uint32_t fills = 0, releases = 0;
      uint64_t filled = 0, released = 0;
      const auto fill = [&](uint32_t agent, uint64_t t) {
        ++fills;
        filled = std::max(filled, t);
        add(agent, Act::Fill, trip, t, t);
      };
      for (const uint32_t i : u.arms) {
        const Arrival& a = m_.arrivals[i];
        if (!a.is_async && m_.agents[a.agent].cta == m_.cta) fill(a.agent, a.t);
      }
      for (const uint32_t i : u.copies) {
        const Copy& c = m_.copies[i];
        if (c.agent != kNone && m_.agents[c.agent].cta == m_.cta) fill(c.agent, c.issued);
      }
      for (const uint32_t i : u.releases) {
        const Arrival& a = m_.arrivals[i];
        if (m_.agents[a.agent].cta != m_.cta) continue;
        ++releases;
        released = std::max(released, a.t);
        add(a.agent, Act::Release, trip, a.t, a.t);
      }
      full_.push_back(gate(fills, filled, u.full));
      if (has_waited(u)) quickest_ = std::min(quickest_, full_.back().delay);
      empty_.push_back(gate(releases, released, u.released));
    }
    limit_unseen();
    for (auto& [agent, warp] : warps_) {
      std::stable_sort(warp.steps.begin(), warp.steps.end(),
                       [](const Step& a, const Step& b) { return a.begin < b.begin; });
      warp.clock = warp.recorded = warp.steps.front().begin;
    }
    return is_acquired;
  }

  bool has_waited(const Use& u) const {
    return std::any_of(u.reads.begin(), u.reads.end(), [&](uint32_t i) { return m_.waits[i].waited; });
  }

  /// A GPU tells when a tile was seen. One that was there before anybody asked is taken to have come as
  /// quickly as the quickest that was waited for.
  void limit_unseen() {
    for (size_t trip = 0; m_.source == Source::Gpu && trip < full_.size(); ++trip) {
      if (!has_waited(ring_.uses[trip])) full_[trip].delay = std::min(full_[trip].delay, quickest_);
    }
  }

  /// Takes the next step of the warp; false if it has to wait for another one.
  bool step(Warp& warp) {
    const Step& s = warp.steps[warp.next];
    const uint64_t begin = warp.clock + (s.begin > warp.recorded ? s.begin - warp.recorded : 0);
    uint64_t end = begin;
    if (s.act == Act::Acquire && s.trip >= stages_) {
      const auto opens = empty_[s.trip - stages_].opens();
      if (!opens) return false;
      end = std::max(begin, *opens);
    } else if (s.act == Act::Read) {
      const auto opens = full_[s.trip].opens();
      if (!opens) return false;
      end = std::max(begin, *opens);
    } else if (s.act == Act::Fill || s.act == Act::Release) {
      Gate& gate = s.act == Act::Fill ? full_[s.trip] : empty_[s.trip];
      --gate.missing;
      gate.latest = std::max(gate.latest, begin);
    }
    warp.clock = end;
    warp.recorded = std::max(warp.recorded, s.end);
    ++warp.next;
    return true;
  }

  const Model& m_;
  const Ring& ring_;
  uint32_t stages_;
  std::map<uint32_t, Warp> warps_;
  std::vector<Gate> full_, empty_;
  uint64_t quickest_ = UINT64_MAX;  ///< filling that was waited for
};

}  // namespace

std::optional<uint64_t> replay(const Model& model, const Ring& ring, uint32_t stages) {
  return Replay(model, ring, stages).run();
}

}  // namespace sluice::timeline
