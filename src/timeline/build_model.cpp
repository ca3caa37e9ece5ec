// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// From the records of a launch to agents, barriers, waits, arrivals, copies and states. Rings are found in
// find_rings.cpp, what they did is put together in ring_uses.cpp, and judged in ring_summary.cpp.
#include "timeline/build_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace sluice::timeline {
namespace {

class Builder {
 public:
  Builder(const Trace& trace, const TraceLaunch& launch, uint32_t cta)
      : trace_(trace), launch_(launch), cta_(cta) {}

  Model build();

 private:
  bool concerns(const Record& r) const { return r.cta == cta_ || (r.has_barrier && r.of == cta_); }
  bool on_own_barrier(const Record& r) const { return r.has_barrier && r.of == cta_; }
  uint32_t agent(const Record& r);
  uint32_t barrier(const Record& r);
  void list_agents();
  void take(const Record& r);
  void take_wait(const Record& r);
  void take_arrival(const Record& r);
  void take_copy(const Record& r);
  void take_landing(const Record& r);
  void take_flip(const Record& r);
  void take_span(const Record& r, SpanKind kind, const std::string& name);
  void name_barriers();
  void find_causes();
  void follow_states();

  const Trace& trace_;
  const TraceLaunch& launch_;
  uint32_t cta_;
  Model m_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> agents_;
  std::map<uint32_t, uint32_t> barriers_;
  std::map<std::tuple<uint32_t, uint32_t, int64_t>, uint32_t> waits_;
  std::map<uint64_t, uint32_t> copies_;
  std::vector<std::pair<const Record*, uint32_t>> changes_;  ///< of barriers, in order of time
};

// --- agents and barriers ------------------------------------------------------------------------------

/// This CTA's warps first, each CTA's in order.
void Builder::list_agents() {
  std::map<std::tuple<bool, uint32_t, uint32_t>, Agent> all;
  for (const Record& r : launch_.records) {
    if (!concerns(r) || r.kind == RecordKind::Mark) continue;
    const auto [at, is_new] = all.try_emplace({r.cta != cta_, r.cta, r.warp});
    Agent& a = at->second;
    if (is_new) {
      a.cta = r.cta;
      a.warp = r.warp;
      a.begin = r.t;
    }
    a.begin = std::min(a.begin, r.t);
    if (r.kind != RecordKind::Land && r.kind != RecordKind::Flip)
      a.end = std::max(a.end, r.end.value_or(r.t));
    if (r.kind == RecordKind::Wait || r.kind == RecordKind::Arrive || r.kind == RecordKind::Copy)
      a.lanes |= r.lanes;
    if (r.kind == RecordKind::Role) a.role = r.name;
  }
  for (auto& [key, a] : all) {
    agents_[{a.cta, a.warp}] = static_cast<uint32_t>(m_.agents.size());
    m_.agents.push_back(std::move(a));
  }
}

uint32_t Builder::agent(const Record& r) {
  const auto found = agents_.find({r.cta, r.warp});
  return found == agents_.end() ? kNone : found->second;
}

uint32_t Builder::barrier(const Record& r) {
  const auto [at, is_new] = barriers_.try_emplace(r.barrier, static_cast<uint32_t>(m_.barriers.size()));
  if (is_new) {
    m_.barriers.emplace_back();
    m_.barriers.back().address = r.barrier;
  }
  Barrier& b = m_.barriers[at->second];
  if (r.part != Part::Unknown) {
    b.part = r.part;
    if (r.ring >= 0) b.ring = static_cast<uint32_t>(r.ring);
    if (r.stage >= 0) b.stage = static_cast<uint32_t>(r.stage);
  }
  return at->second;
}

// --- records ------------------------------------------------------------------------------------------

/// Waits of one warp for one phase are one wait: lanes may ask one after the other, and a wait that passes is
/// often asked before (try_wait) and again.
void Builder::take_wait(const Record& r) {
  const uint32_t b = barrier(r);
  const auto [at, is_new] =
      waits_.try_emplace({agent(r), b, r.phase}, static_cast<uint32_t>(m_.waits.size()));
  if (is_new) {
    m_.waits.push_back({.agent = agent(r),
                        .barrier = b,
                        .lanes = r.lanes,
                        .phase = r.phase,
                        .parity = r.parity,
                        .asked = r.t,
                        .end = r.end,
                        .waited = r.waited,
                        .at = r.at});
    return;
  }
  Wait& w = m_.waits[at->second];
  w.lanes |= r.lanes;
  if (!r.waited) return;
  w.waited = true;
  w.end = r.end && w.end ? std::max(*w.end, *r.end) : std::optional<uint64_t>();
}

void Builder::take_arrival(const Record& r) {
  m_.arrivals.push_back({.agent = agent(r),
                         .barrier = barrier(r),
                         .t = r.t,
                         .phase = r.phase,
                         .count = r.count,
                         .bytes = r.bytes,
                         .drop = r.drop,
                         .at = r.at,
                         .is_async = r.id != 0});
}

/// A copy of this CTA, or one of a peer that lands here, too.
void Builder::take_copy(const Record& r) {
  if (r.id != 0) copies_[r.id] = static_cast<uint32_t>(m_.copies.size());
  Copy c{.id = r.id,
         .agent = agent(r),
         .issued = r.t,
         .bytes = r.bytes,
         .ranks = r.ranks,
         .to_global = r.to_global,
         .what = r.name,
         .at = r.at};
  if (r.has_barrier && (r.of == cta_ || r.ranks != 0)) c.barrier = barrier(r);
  m_.copies.push_back(std::move(c));
}

void Builder::take_landing(const Record& r) {
  const auto found = copies_.find(r.id);
  if (found == copies_.end()) return;
  Copy& c = m_.copies[found->second];
  c.landed = std::max(c.landed.value_or(0), r.t);
  if (!r.has_barrier) return;
  c.barrier = barrier(r);
  c.phase = r.phase;
}

void Builder::take_flip(const Record& r) {
  if (r.phase < 0) return;
  auto& flips = m_.barriers[barrier(r)].flips;
  const auto phase = static_cast<size_t>(r.phase);
  if (flips.size() <= phase) flips.resize(phase + 1);
  flips[phase] = r.t;
}

void Builder::take_span(const Record& r, SpanKind kind, const std::string& name) {
  m_.spans.push_back({kind, agent(r), r.t, r.end.value_or(m_.end), name, r.at});
}

void Builder::take(const Record& r) {
  const bool is_own = r.cta == cta_;
  const bool changes = r.kind == RecordKind::Init || r.kind == RecordKind::Arrive ||
                       r.kind == RecordKind::Land || r.kind == RecordKind::Flip;
  if (changes && on_own_barrier(r)) changes_.emplace_back(&r, barrier(r));
  switch (r.kind) {
    case RecordKind::Init:
      if (on_own_barrier(r)) m_.barriers[barrier(r)].expected = r.count;
      break;
    case RecordKind::Wait:
      if (on_own_barrier(r)) take_wait(r);
      break;
    case RecordKind::Arrive:
      if (on_own_barrier(r) && (r.count != 0 || r.bytes != 0)) take_arrival(r);
      break;
    case RecordKind::Land:
      if (on_own_barrier(r) || (!r.has_barrier && is_own)) take_landing(r);
      break;
    case RecordKind::Flip:
      if (on_own_barrier(r)) take_flip(r);
      break;
    case RecordKind::Product:
      if (is_own) take_span(r, SpanKind::Product, "wgmma");
      break;
    case RecordKind::Sync:
      if (is_own) {
        take_span(r, SpanKind::Sync,
                  r.name == "bar" ? fmt::format("named barrier {}", r.id) : r.name + " barrier");
      }
      break;
    case RecordKind::Role:
      if (is_own) take_span(r, SpanKind::Role, r.name);
      break;
    case RecordKind::Mark:
      if (is_own) m_.marks.push_back({r.t, agent(r), r.name, r.text, r.at});
      break;
    case RecordKind::Copy:
    case RecordKind::Exit:
      break;
  }
}

// --- states and causes --------------------------------------------------------------------------------

/// The state of each barrier from change to change (docs/trace-format.md, at the end of "Records").
void Builder::follow_states() {
  struct State {
    int64_t expected = 0, pending = 0, due = 0;
    uint64_t phase = 0;
    bool known = false;
  };
  if (m_.source == Source::Gpu) return;
  std::vector<State> states(m_.barriers.size());
  for (const auto& [r, b] : changes_) {
    State& s = states[b];
    switch (r->kind) {
      case RecordKind::Init:
        s = {.expected = r->count, .pending = r->count, .known = true};
        break;
      case RecordKind::Arrive:
        s.pending -= r->count;
        s.due += r->bytes;
        s.expected -= r->drop;
        break;
      case RecordKind::Land:
        s.due -= r->bytes;
        break;
      default:
        s.pending = s.expected;
        s.phase = static_cast<uint64_t>(r->phase) + 1;
    }
    if (!s.known) continue;
    m_.states.push_back({.t = r->t,
                         .barrier = b,
                         .agent = agent(*r),
                         .what = r->kind,
                         .count = r->count,
                         .bytes = r->bytes,
                         .pending = s.pending,
                         .due = s.due,
                         .phase = s.phase,
                         .at = r->at});
  }
}

/// A phase is completed by the last of what counts in it.
void Builder::find_causes() {
  struct Last {
    CauseKind kind = CauseKind::None;
    uint32_t index = kNone;
    uint64_t t = 0;
  };
  std::map<std::pair<uint32_t, int64_t>, Last> last;
  const auto offer = [&](uint32_t barrier, int64_t phase, CauseKind kind, size_t index, uint64_t t) {
    Last& l = last[{barrier, phase}];
    if (l.kind == CauseKind::None || t >= l.t) l = {kind, static_cast<uint32_t>(index), t};
  };
  for (size_t i = 0; i < m_.arrivals.size(); ++i) {
    const Arrival& a = m_.arrivals[i];
    offer(a.barrier, a.phase, CauseKind::Arrival, i, a.t);
  }
  for (size_t i = 0; i < m_.copies.size(); ++i) {
    const Copy& c = m_.copies[i];
    if (c.landed && c.barrier != kNone) offer(c.barrier, c.phase, CauseKind::Copy, i, *c.landed);
  }
  for (Wait& w : m_.waits) {
    const auto found = last.find({w.barrier, w.phase});
    if (!w.waited || !w.end || found == last.end()) continue;
    w.ended_by = found->second.kind;
    w.cause = found->second.index;
  }
}

void Builder::name_barriers() {
  std::map<uint32_t, std::string> told(launch_.names.begin(), launch_.names.end());
  for (Barrier& b : m_.barriers) {
    const auto name = told.find(b.address);
    if (name != told.end()) {
      b.name = name->second;
    } else if (b.ring != kNone) {
      const std::string ring = m_.rings.size() > 1 ? fmt::format("ring {} ", b.ring) : "";
      b.name = fmt::format("{}{}[{}]", ring, b.part == Part::Full ? "full" : "empty", b.stage);
    } else {
      b.name = fmt::format("mbarrier 0x{:x}", b.address);
    }
  }
}

Model Builder::build() {
  m_.source = trace_.source;
  m_.clock = trace_.clock;
  m_.about = trace_.about;
  m_.kernel = launch_.kernel;
  m_.launch = launch_.ordinal;
  m_.cta = cta_;
  m_.grid = launch_.grid;
  m_.block = launch_.block;
  m_.cluster = launch_.cluster;
  m_.failed = launch_.failed;
  m_.left_out = launch_.left_out;
  m_.end = launch_.end;
  m_.places = trace_.places;
  list_agents();
  // Copies of this CTA, and those of peers that land here.
  std::set<uint64_t> landing;
  for (const Record& r : launch_.records) {
    if (r.kind == RecordKind::Land && on_own_barrier(r)) landing.insert(r.id);
  }
  for (const Record& r : launch_.records) {
    if (r.kind == RecordKind::Copy && (r.cta == cta_ || landing.count(r.id) != 0)) take_copy(r);
  }
  for (const Record& r : launch_.records) {
    if (concerns(r)) take(r);
  }
  find_causes();
  follow_states();
  find_rings(m_);
  collect_uses(m_);
  for (Ring& ring : m_.rings) summarise(m_, ring);
  name_barriers();
  return std::move(m_);
}

}  // namespace

Model build_model(const Trace& trace, const TraceLaunch& launch, uint32_t cta) {
  return Builder(trace, launch, cta).build();
}

std::string place_text(const Model& model, uint32_t at) {
  if (at == 0 || at >= model.places.size()) return "";
  const TracePlace& place = model.places[at];
  return fmt::format("{}:{}", place.file.substr(place.file.rfind('/') + 1), place.line);
}

}  // namespace sluice::timeline
