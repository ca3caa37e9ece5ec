// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The launch before as an agent that waits make known.
#include "check/dependent_launch.hpp"

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "event/address.hpp"
#include "event/places.hpp"

namespace sluice::check {

using event::Event;
using event::Kind;

namespace {

constexpr Time kEnd = 1;  ///< of the launch before

bool is_global(uint64_t address) {
  return !event::is_shared_address(address) && !event::is_local_address(address);
}

}  // namespace

void DependentLaunch::begin_launch(const event::LaunchDetails& details, Shadow global) {
  kernel_before_ = std::exchange(kernel_, event::readable(details.kernel));
  before_ = 0;
  accesses_.clear();
  if (!details.overlaps_previous) return;
  before_ = order_.new_agent({});
  accesses_ = std::move(global);
}

void DependentLaunch::apply(const Event& e) {
  if (before_ == 0) return;
  switch (e.kind) {
    case Kind::DependencyWait:
      return wait(e);
    case Kind::Read:
    case Kind::Write:
    case Kind::Atomic:
      return thread_access(e);
    case Kind::AsyncRead:
    case Kind::AsyncWrite:
      return operation_access(e);
    default:
      return;
  }
}

void DependentLaunch::wait(const Event& e) {
  order_.for_split(order_.warp(e), e.lanes, [&](Strand& strand) {
    order_.raise(strand.known.order, before_, kAllLanes, kEnd);
    strand.changed();
  });
}

void DependentLaunch::thread_access(const Event& e) {
  order_.for_strands(order_.warp(e), e.lanes, [&](Strand& strand, uint32_t lanes) {
    if (strand.known.order.covers(order_.agents(), before_, kAllLanes, kEnd)) return;
    for (uint32_t m = lanes; m != 0; m &= m - 1) {
      const uint64_t address = e.addresses[static_cast<size_t>(std::countr_zero(m))];
      if (is_global(address)) compare(e, address, e.bytes, e.kind != Kind::Read);
    }
  });
}

void DependentLaunch::operation_access(const Event& e) {
  const Order::Operation* const op = order_.find_operation(e.operation);
  if (op == nullptr || !is_global(e.addresses[0]) ||
      op->start.covers(order_.agents(), before_, kAllLanes, kEnd))
    return;
  compare(e, e.addresses[0], e.bytes, e.kind == Kind::AsyncWrite);
}

void DependentLaunch::compare(const Event& e, uint64_t address, uint64_t bytes, bool writes) {
  bool conflict = false, written = false;
  accesses_.for_granules(address, bytes, [&](const Granule& granule, uint16_t mask, uint64_t) {
    granule.for_overlapping(mask, [&](const Record& older) {
      conflict |= writes || older.writes();
      written |= older.writes();
    });
  });
  if (!conflict) return;
  const char* const who = e.operation != 0 ? "a copy" : "a thread";
  findings_.add(
      {.name = "dependent-launch-race",
       .headline =
           fmt::format("global memory that the kernel before {} is {} before that kernel has been waited for",
                       written ? "writes" : "reads", writes ? "written" : "read"),
       .agent = fmt::format("cta {}, {}", e.cta, lanes_text(e.warp, e.lanes)),
       .spots = {{e.origin, fmt::format("{} by {}; the kernel before is `{}`", writes ? "written" : "read",
                                        who, kernel_before_)}},
       .why = "the launch may begin before the launch before it in the stream has ended (programmatic stream "
              "serialization), and nothing orders this access after griddepcontrol.wait",
       .help = "call cudaGridDependencySynchronize() (griddepcontrol.wait) in every thread before its first "
               "access to "
               "data of the kernel before, or order the access after a thread that has"});
}

}  // namespace sluice::check
