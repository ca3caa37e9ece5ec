// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Fences, and writes that they do not know of.
#include "check/tensor_maps.hpp"

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
  fences_[warp.agent] = order_.start_now(warp, e.lanes);
}

void TensorMaps::use(const Event& e) {
  const auto fence = fences_.find(order_.warp(e).agent);
  uint32_t changed_at = event::kNoIndex;
  races_.for_global_writes(e.addresses[0], kMapBytes, [&](const Record& write) {
    const Stamp& s = write.stamp;
    const bool known =
        fence != fences_.end() && fence->second.covers(order_.agents(), s.agent, s.lanes, s.time);
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
           "release), and execute fence.proxy.tensormap::generic.acquire in the issuing warp, after it is "
           "ordered behind the change"});
}

}  // namespace sluice::check
