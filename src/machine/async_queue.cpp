// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Entering and leaving the queue.
#include "machine/async_queue.hpp"

#include <algorithm>

namespace sluice::machine {

void AsyncQueue::push(const AsyncOp& op) {
  uint32_t slot = 0;
  if (free_.empty()) {
    slot = static_cast<uint32_t>(slots_.size());
    slots_.push_back(op);
  } else {
    slot = free_.back();
    free_.pop_back();
    slots_[slot] = op;
  }
  order_.push_back(slot);
  by_lane_[Issuer{op.cta, op.warp, op.lane}].push_back(slot);
}

void AsyncQueue::remove(size_t place) {
  const uint32_t slot = order_[place];
  order_.erase(order_.begin() + static_cast<std::ptrdiff_t>(place));
  free_.push_back(slot);
  const AsyncOp& op = slots_[slot];
  const auto found = by_lane_.find(Issuer{op.cta, op.warp, op.lane});
  std::vector<uint32_t>& of_lane = found->second;
  of_lane.erase(std::find(of_lane.begin(), of_lane.end(), slot));
  if (of_lane.empty()) by_lane_.erase(found);
}

}  // namespace sluice::machine
