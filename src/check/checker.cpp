// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Which checker hears of which event, and in which order.
#include "check/checker.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "check/fault_words.hpp"

namespace sluice::check {

using event::Kind;

void Checker::receive(const event::Event& e) {
  switch (e.kind) {
    case Kind::LaunchBegin:
      findings_.begin_launch(*e.details);
      order_.begin_launch(e);
      dependent_.begin_launch(*e.details, races_.take_global());
      ledger_.begin_launch();
      races_.begin_launch();
      named_.begin_launch();
      registers_.begin_launch();
      tiles_.begin_launch();
      maps_.begin_launch();
      deadlock_.begin_launch(*e.details);
      return;
    case Kind::LaunchEnd:
      deadlock_.judge();
      return;

    // Accesses are judged by what was known before them.
    case Kind::Read:
      tiles_.apply(e);
      [[fallthrough]];
    case Kind::Write:
    case Kind::Atomic:
    case Kind::HeapFree:
    case Kind::AsyncRead:
    case Kind::AsyncWrite:
      dependent_.apply(e);
      races_.apply(e);
      order_.apply(e);
      return;

    case Kind::MbarrierInit:
    case Kind::MbarrierInval:
    case Kind::MbarrierArrive:
    case Kind::MbarrierExpectTx:
    case Kind::MbarrierCompleteTx:
    case Kind::MbarrierFlip:
    case Kind::InitFence:
      races_.apply(e);  // what was known before
      ledger_.apply(e);
      if (e.kind == Kind::MbarrierArrive && e.operation != 0) order_.forget_operation(e.operation);
      return;
    case Kind::MbarrierWait:
    case Kind::MbarrierPending:
      ledger_.apply(e);
      deadlock_.apply(e);
      return;

    case Kind::AsyncIssue:
      order_.apply(e);
      ledger_.apply(e);
      return;
    case Kind::AsyncComplete:
      order_.forget_operation(e.operation);
      return;
    case Kind::NamedArrive:
    case Kind::NamedWait:
    case Kind::NamedComplete:
      named_.apply(e);
      order_.apply(e);
      return;
    case Kind::CtaEnd:
      ledger_.apply(e);
      races_.apply(e);
      named_.apply(e);
      tiles_.apply(e);
      order_.apply(e);
      return;
    case Kind::WgmmaRegisters:
    case Kind::RegisterRead:
    case Kind::RegisterWrite:
    case Kind::RegisterMove:
      registers_.apply(e);
      return;
    case Kind::WgmmaIssue:
    case Kind::WgmmaFence:
    case Kind::GroupCommit:
    case Kind::GroupWait:
      registers_.apply(e);
      order_.apply(e);
      return;
    case Kind::Stuck:
      deadlock_.apply(e);
      return;
    case Kind::BrokenRule:
      return add_broken_rule(e);
    case Kind::ProxyFence:
      maps_.apply(e);
      order_.apply(e);
      return;
    case Kind::TensorMapUse:
      maps_.apply(e);
      return;
    case Kind::DependencyWait:
      dependent_.apply(e);
      return;
    case Kind::SwizzledTile:
      tiles_.apply(e);
      return;
    default:
      order_.apply(e);
      return;
  }
}

std::vector<report::Diagnostic> Checker::take() {
  std::vector<report::Diagnostic> told = findings_.take();
  if (races_.forgotten() != 0) {
    report::Diagnostic note;
    note.level = report::Level::Note;
    note.blame = report::Blame::Nobody;
    note.name = "forgotten-accesses";
    note.headline =
        fmt::format("{} accesses to words that many threads access were forgotten", races_.forgotten());
    note.why =
        "what the checker remembers of global memory is bounded; a race with one of these is not found";
    note.help = "check a smaller problem, or some of its CTAs (--ctas)";
    told.push_back(std::move(note));
  }
  return told;
}

void Checker::add_broken_rule(const event::Event& e) {
  const event::BrokenRule& rule = *e.rule;
  std::vector<Spot> spots = {{e.origin, rule.label}};
  if (rule.cause != event::kNoIndex && rule.cause != e.origin)
    spots.push_back({rule.cause, rule.cause_label});
  findings_.add({.name = rule.name,
                 .level = rule.is_warning ? report::Level::Warning : report::Level::Error,
                 .headline = rule.headline,
                 .agent = agent_text(e),
                 .spots = std::move(spots),
                 .why = rule.why,
                 .help = rule.help});
}

void Checker::add_fault(const char* name, std::string message, uint32_t origin, std::string agent) {
  const FaultWords words = fault_words(name);
  findings_.add({.name = name,
                 .headline = std::move(message),
                 .agent = std::move(agent),
                 .spots = {{origin, ""}},
                 .why = words.why,
                 .help = words.help});
}

}  // namespace sluice::check
