// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Generations of named barriers.
#include "check/named_barriers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace sluice::check {

using event::Event;
using event::Kind;

namespace {

std::string threads_text(uint32_t threads) {
  return threads == 0 ? std::string("all threads") : fmt::format("{} threads", threads);
}

}  // namespace

void NamedBarriers::apply(const Event& e) {
  if (e.kind == Kind::CtaEnd) {
    ctas_.erase(e.cta);
    return;
  }
  if (e.kind != Kind::NamedArrive && e.kind != Kind::NamedWait && e.kind != Kind::NamedComplete) return;
  Barrier& b = ctas_[e.cta][static_cast<uint64_t>(e.value) % kBarriers];
  if (e.kind == Kind::NamedComplete) {
    b.last = std::move(b.now);
    b.now = {};
    return;
  }
  if (b.now.arrived == 0) b.now.threads = e.bytes;
  check_count(e, b.now);
  WarpOrder& w = order_.warp(e);
  order_.for_strands(w, e.lanes, [&](Strand& strand, uint32_t lanes) {
    check_order(e, b.last, w, strand, lanes);
    strand.touched = true;
    b.now.arrivals.push_back({w.agent, lanes, strand.time});
  });
  b.now.arrived += e.bytes == 0 ? static_cast<uint32_t>(std::popcount(e.lanes)) : 32;
  if (std::find(b.now.origins.begin(), b.now.origins.end(), e.origin) == b.now.origins.end())
    b.now.origins.push_back(e.origin);
}

void NamedBarriers::check_count(const Event& e, const NamedGeneration& g) {
  if (g.threads == e.bytes) return;
  findings_.add(
      {.name = "named-barrier-mismatch",
       .headline = fmt::format("threads come to named barrier {} for {} and for {} in one generation",
                               e.value, threads_text(g.threads), threads_text(e.bytes)),
       .agent = fmt::format("cta {}, {}", e.cta, lanes_text(e.warp, e.lanes)),
       .spots = {{e.origin, "for " + threads_text(e.bytes)},
                 {g.origins.empty() ? e.origin : g.origins.front(), "for " + threads_text(g.threads)}},
       .why = "all threads that take part in one generation of a named barrier must name the same number of "
              "threads",
       .help = "use the same count at both places, or another barrier id"});
}

void NamedBarriers::check_order(const Event& e, const NamedGeneration& last, WarpOrder& w, Strand& strand,
                                uint32_t lanes) {
  const auto ordered = [&](const Stamp& s) {
    return order_.covers(w, strand, lanes, s.agent, s.lanes, s.time);
  };
  if (std::all_of(last.arrivals.begin(), last.arrivals.end(), ordered)) return;
  Finding f;
  f.name = "named-barrier-mismatch";
  f.headline =
      fmt::format("{} comes to named barrier {} after {} have filled it, and may as well be one of them",
                  lanes_text(e.warp, e.lanes), e.value, threads_text(last.threads));
  f.agent = fmt::format("cta {}, {}", e.cta, lanes_text(e.warp, e.lanes));
  f.spots = {{e.origin, fmt::format("comes for {}", threads_text(e.bytes))}};
  for (const uint32_t origin : last.origins) {
    if (origin != e.origin && f.spots.size() < 4)
      f.spots.push_back({origin, "the generation before was filled here"});
  }
  f.why =
      "nothing orders this arrival after all arrivals of the generation before, so which of the two it "
      "counts "
      "in is a matter of timing";
  f.help = "make the count the number of threads that come in one generation, or order the generations";
  findings_.add(std::move(f));
}

}  // namespace sluice::check
