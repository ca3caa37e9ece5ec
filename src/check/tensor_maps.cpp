// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Fences, and writes that they do not know of.
#include "check/tensor_maps.hpp"

#include <algorithm>
#include <vector>

namespace sluice::check {

using event::Event;
using event::Kind;
using event::Semantics;

namespace {

constexpr uint32_t kMapBytes = 128;

}  // namespace

void TensorMaps::apply(const Event& e) {
  if (e.kind == Kind::TensorMapUse) return use(e);
  if (e.proxy != event::Proxy::Tensormap || e.semantics == Semantics::Release) return;
  WarpOrder& warp = order_.warp(e);
  std::deque<Start>& fences = fences_[e.cta][warp.agent];
  fences.push_back(order_.start_now(warp, e.lanes));
  if (fences.size() > kFences) fences.pop_front();
}

void TensorMaps::use(const Event& e) {
  WarpOrder& warp = order_.warp(e);
  const Start user = order_.start_now(warp, e.lanes);
  std::vector<const Start*> known_fences;
  for (const auto& [agent, fences] : fences_[e.cta]) {
    for (const Start& fence : fences) {
      if (agent == warp.agent || user.covers(order_.agents(), agent, fence.lanes, fence.time))
        known_fences.push_back(&fence);
    }
  }
  uint32_t changed_at = event::kNoIndex;
  races_.for_global_writes(e.addresses[0], kMapBytes, [&](const Record& write) {
    const Stamp& s = write.stamp;
    const bool known = std::any_of(known_fences.begin(), known_fences.end(), [&](const Start* fence) {
      return fence->covers(order_.agents(), s.agent, s.lanes, s.time);
    });
    if (!known) changed_at = write.origin;
  });
  if (changed_at == event::kNoIndex) return;
  findings_.add(
      {.name = "tensor-map-misplaced",
       .headline = "a copy uses a tensor map that device code has changed, without the fence of its proxy",
       .agent = agent_text(e),
       .spots = {{e.origin, "the copy that uses the map"}, {changed_at, "changed here"}},
       .why =
           "the copy engine reads tensor maps through a proxy of its own, which may still hold the old map",
       .help =
           "release the map after the change (tensormap.cp_fenceproxy, or fence.proxy.tensormap with "
           "release), and execute fence.proxy.tensormap::generic.acquire behind the change, in the issuing "
           "thread or in one of its CTA that the issuer then meets at a barrier"});
}

}  // namespace sluice::check
