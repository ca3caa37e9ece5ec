// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Which finding a pair of unordered accesses is, and its words.
#include <fmt/format.h>

#include "check/races.hpp"
#include "event/address.hpp"

namespace sluice::check {

using event::Event;

namespace {

const char* verb(const Record& record) {
  if (record.is_strong() && record.writes()) return "atomic access";
  return record.writes() ? "write" : "read";
}

}  // namespace

std::string Races::who(const Record& record) const {
  const Agent& agent = order_.agent(record.stamp.agent);
  const std::string lanes = lanes_text(agent.index, record.stamp.lanes);
  switch (agent.kind) {
    case AgentKind::Warp:
      return fmt::format("{} by {}", verb(record), lanes);
    case AgentKind::CpAsync:
      return fmt::format("{} by cp.async of {}", verb(record), lanes);
    case AgentKind::BulkReads:
    case AgentKind::BulkWrites:
      return fmt::format("{} by a bulk store that {} issued", verb(record), lanes);
    case AgentKind::Wgmma:
      return fmt::format("{} by wgmma of warps {}-{}", verb(record), agent.index * 4, agent.index * 4 + 3);
    case AgentKind::Copies:
      return fmt::format("{} by a copy (asynchronous proxy)", verb(record));
  }
  return verb(record);
}

std::string Races::place_name(const Access& access, uint64_t address) const {
  if (!access.shared) return "global memory";
  return findings_.shared_name(event::shared_offset(address));
}

void Races::report_race(Access& access, const Record& older, uint64_t address) {
  access.reported = true;
  const AgentKind before = order_.agent(older.stamp.agent).kind;
  const AgentKind now = order_.agent(access.record.stamp.agent).kind;
  const std::string place = place_name(access, address);
  // A product starts when all four warps have issued it; what one of them writes later was not known then.
  const Agent &writer = order_.agent(older.stamp.agent), &reader = order_.agent(access.record.stamp.agent);
  const bool written_after_issue = now == AgentKind::Wgmma && before == AgentKind::Warp && older.writes() &&
                                   writer.cta == reader.cta && writer.index / 4 == reader.index;
  // A store reads when its copy lands; what its issuer has written since it did not wait for.
  const bool issuer_wrote_later = now == AgentKind::BulkReads && before == AgentKind::Warp &&
                                  older.writes() && older.stamp.agent == access.start->agent &&
                                  older.stamp.time > access.start->time;
  Finding f;
  f.agent = fmt::format("cta {}", access.event->cta);
  f.spots = {{access.record.origin, "(2) " + who(access.record)}, {older.origin, "(1) " + who(older)}};
  f.why = "no chain of program order, barriers and completed copies leads from (1) to (2)";
  if (access.event->kind == event::Kind::HeapFree) {
    f.name = "global-race";
    f.headline = "a block is freed, and an access to it is not ordered before";
    f.spots[0].label = fmt::format("(2) freed by {}", lanes_text(reader.index, access.lanes));
    f.help = "let all threads that use the block synchronise with the one that frees it";
  } else if (!access.shared) {
    f.name = "global-race";
    f.headline = fmt::format("two accesses to {} are not ordered", place);
    f.help = "order them with a barrier, or with a release and an acquire of the right scope";
  } else if ((before == AgentKind::BulkReads && access.record.writes()) || issuer_wrote_later) {
    f.name = "bulk-store-in-flight";
    f.headline = fmt::format("{} is written while a bulk store may still read it", place);
    f.why = "the store reads its source at any time until its group has been waited for";
    f.help = "wait with cp.async.bulk.wait_group.read for the group of that store before reusing its source";
  } else if ((now == AgentKind::Copies || now == AgentKind::CpAsync) && access.record.writes() &&
             !older.writes() && before == AgentKind::Warp && access.record.stamp.time == 1) {
    // The first filling: there was nothing to read before it.
    f.name = "read-before-full";
    f.headline = fmt::format("{} is read without being ordered after the copy that fills it", place);
    f.help =
        "wait for the copy in every thread that reads, or synchronise the readers with one that has waited";
  } else if ((now == AgentKind::Copies || now == AgentKind::CpAsync) && access.record.writes() &&
             !older.writes()) {
    f.name = "stage-overwritten-while-read";
    f.headline = fmt::format("a copy into {} is not ordered after a read of it", place);
    f.help =
        "release the stage after its last read, let every reader take part in the release (or meet before "
        "it), and wait for the release before the copy";
    if (before == AgentKind::Wgmma)
      f.help = "wait for the wgmma that reads the stage (wgmma.wait_group) before it is released";
  } else if ((before == AgentKind::Copies || before == AgentKind::CpAsync) && older.writes() &&
             !access.record.writes()) {
    f.name = "read-before-full";
    f.headline = fmt::format("{} is read without being ordered after the copy that fills it", place);
    f.help = before == AgentKind::Copies
                 ? "wait for the phase of the copy's mbarrier in every thread that reads, or synchronise the "
                   "readers with one that has waited"
                 : "wait for the group with cp.async.wait_group and synchronise the threads before they read "
                   "each other's copies";
  } else if ((before == AgentKind::Wgmma && access.record.writes()) || written_after_issue) {
    f.name = "wgmma-in-flight";
    f.headline = fmt::format("{} is written while a wgmma may still read it", place);
    f.why = "a wgmma reads its operands at any time until its group has been waited for";
    f.help = "wait with wgmma.wait_group for that product before writing";
  } else {
    const bool copies = before == AgentKind::Copies && now == AgentKind::Copies;
    f.name = "shared-race";
    f.headline = fmt::format("two {} {} are not ordered", copies ? "copies into" : "accesses to", place);
    f.help = "order them with a barrier that both threads take part in";
  }
  findings_.add(std::move(f));
}

/// Lanes of one instruction store different values in one place.
void Races::report_lanes(Access& access, uint64_t address) {
  if (access.reported) return;
  access.reported = true;
  access.shared = event::is_shared_address(address);
  findings_.add(
      {.name = access.shared ? "shared-race" : "global-race",
       .headline = fmt::format("lanes of one store put different values in one place of {}",
                               access.shared ? place_name(access, address) : "global memory"),
       .agent = fmt::format("cta {}", access.event->cta),
       .spots = {{access.record.origin, who(access.record)}},
       .why = "nothing says which lane of an instruction stores last",
       .help = "let one lane store, give each lane a place of its own, or use an atomic instruction"});
}

void Races::report_fence(Access& access, const Record& older, uint64_t address) {
  access.reported = true;
  const std::string place = place_name(access, address);
  findings_.add(
      {.name = "missing-proxy-fence",
       .headline = fmt::format("ordinary writes to {} reach the asynchronous proxy without a fence", place),
       .agent = fmt::format("cta {}", access.event->cta),
       .spots = {{access.record.origin, "(2) " + who(access.record) + " (asynchronous proxy)"},
                 {older.origin, "(1) " + who(older) + " (generic proxy)"}},
       .why = "(1) is ordered before (2), but accesses through different proxies need a proxy fence on "
              "the way from one to the other",
       .help = "execute fence.proxy.async after the writes and before the barrier that the issuer of (2) "
               "waits at"});
}

void Races::report_scope(Access& access, const Record& older, uint64_t address) {
  access.reported = true;
  const std::string place = place_name(access, address);
  findings_.add(
      {.name = "scope-too-narrow",
       .headline =
           fmt::format("{} is written in one CTA and read in another, ordered by CTA scope only", place),
       .agent = fmt::format("cta {}", access.event->cta),
       .spots = {{access.record.origin, "(2) " + who(access.record)},
                 {older.origin,
                  fmt::format("(1) {} of cta {}", who(older), order_.agent(older.stamp.agent).cta)}},
       .why = access.shared ? "an arrive, wait or fence on the only path from (1) to (2) has CTA scope (the "
                              "default of mbarrier instructions), which promises nothing to another CTA"
                            : "a fence, release or acquire on the only path from (1) to (2) has CTA scope, "
                              "which promises nothing to another CTA",
       .help = access.shared ? "give both the arrive (release) and the wait (acquire) cluster scope"
                             : "use __threadfence() for __threadfence_block(), thread_scope_device for "
                               "thread_scope_block, .gpu for .cta on both sides"});
}

void Races::report_narrow_atomics(Access& access, const Record& older, uint64_t address) {
  access.reported = true;
  findings_.add(
      {.name = "scope-too-narrow",
       .headline = fmt::format("two CTAs access {} by atomic or synchronising instructions of CTA scope",
                               place_name(access, address)),
       .agent = fmt::format("cta {}", access.event->cta),
       .spots = {{access.record.origin, "(2) " + who(access.record)},
                 {older.origin,
                  fmt::format("(1) {} of cta {}", who(older), order_.agent(older.stamp.agent).cta)}},
       .why = "an instruction of CTA scope is atomic towards the threads of its own CTA only",
       .help = "give both device scope: atomicAdd() for atomicAdd_block(), thread_scope_device for "
               "thread_scope_block, .gpu for .cta"});
}

void Races::overwritten_barrier(const Event& e, const Barrier& b) {
  findings_.add({.name = "barrier-overwritten",
                 .headline = fmt::format("{} is overwritten while it is live", ledger_.name_of(b)),
                 .agent = agent_text(e),
                 .spots = {{e.origin, e.operation != 0 ? "written by a copy" : "written here"},
                           {b.init_origin, "initialised here"}},
                 .state = ledger_.state_of(b),
                 .why = "an mbarrier object may be changed by mbarrier instructions only",
                 .help =
                     "keep barriers and data apart, or invalidate the barrier (mbarrier.inval) before its "
                     "memory is used for something else"});
}

}  // namespace sluice::check
