// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// States of registers.
#include "check/wgmma_registers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sluice::check {

using event::Event;
using event::Kind;

void WgmmaRegisters::apply(const Event& e) {
  if (e.kind == Kind::LanesExit) return;
  WarpState& w = warps_[uint64_t{e.cta} << 8 | e.warp];
  switch (e.kind) {
    case Kind::WgmmaRegisters:
      w.operands.assign(e.addresses.begin(), e.addresses.end());
      w.a_count = e.detail;
      return;
    case Kind::WgmmaIssue:
      return issue(e, w);
    case Kind::WgmmaFence:
      for (auto& [number, r] : w.registers) r.written_at = event::kNoIndex;
      w.fenced = true;
      return;
    case Kind::RegisterRead:
      return access(e, w, false);
    case Kind::RegisterWrite:
      return access(e, w, true);
    case Kind::RegisterMove:
      return move(e, w);
    case Kind::GroupCommit:
      if (static_cast<event::GroupKind>(e.operation) == event::GroupKind::Wgmma)
        w.commits.push_back(w.issued);
      return;
    case Kind::GroupWait: {
      const auto allowed = static_cast<size_t>(e.value);
      if (static_cast<event::GroupKind>(e.operation) != event::GroupKind::Wgmma ||
          w.commits.size() <= allowed)
        return;
      w.done = std::max(w.done, w.commits[w.commits.size() - 1 - allowed]);
      return;
    }
    default:
      return;
  }
}

void WgmmaRegisters::issue(const Event& e, WarpState& w) {
  ++w.issued;
  w.fenced = false;
  const size_t accumulators = w.operands.size() - w.a_count;
  for (size_t i = 0; i < w.operands.size(); ++i) {
    Register& r = w.registers[w.operands[i]];
    if (r.written_at != event::kNoIndex) {
      findings_.add(
          {.name = "wgmma-missing-fence",
           .headline = fmt::format("a wgmma starts on {} that ordinary instructions have written, without "
                                   "wgmma.fence between",
                                   i < accumulators ? "accumulators" : "registers of A"),
           .agent = fmt::format("cta {}, warp {}", e.cta, e.warp),
           .spots = {{e.origin, "this wgmma"}, {r.written_at, "a register of it was written here"}},
           .why = "ordinary instructions and wgmma access registers through different paths; wgmma.fence "
                  "orders them",
           .help = "execute wgmma.fence after the last ordinary access and before the first wgmma"});
      r.written_at = event::kNoIndex;
    }
    (i < accumulators ? r.product : r.source_of) = w.issued;
    r.product_at = e.origin;
  }
  w.operands.clear();
}

void WgmmaRegisters::access(const Event& e, WarpState& w, bool writes) {
  for (const uint64_t number : e.addresses) {
    Register& r = w.registers[number];
    if (r.product > w.done || (writes && r.source_of > w.done)) {
      findings_.add(
          {.name = "wgmma-in-flight",
           .headline = fmt::format("a register of a wgmma is {} before the wgmma is waited for",
                                   writes ? "written" : "read"),
           .agent = fmt::format("cta {}, warp {}", e.cta, e.warp),
           .spots = {{e.origin, writes ? "written here" : "read here"}, {r.product_at, "the wgmma"}},
           .why = "a wgmma accesses its registers at any time until its group has been waited for",
           .help = "wait with wgmma.wait_group for that group first"});
      r.product = r.source_of = 0;
    }
    if (writes) r.written_at = e.origin;
  }
}

void WgmmaRegisters::move(const Event& e, WarpState& w) {
  const auto destinations = e.addresses.first(e.detail), sources = e.addresses.subspan(e.detail);
  Register merged;
  if (sources.empty() && !w.fenced) merged.written_at = e.origin;  // a constant
  for (const uint64_t number : sources) {
    const Register& r = w.registers[number];
    if (r.written_at != event::kNoIndex) merged.written_at = r.written_at;
    merged.product = std::max(merged.product, r.product);
    merged.source_of = std::max(merged.source_of, r.source_of);
    merged.product_at = r.product_at;
  }
  for (const uint64_t number : destinations) w.registers[number] = merged;
}

}  // namespace sluice::check
