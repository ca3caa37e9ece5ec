// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Columns of agents and how they are divided.
#include "check/agents.hpp"

namespace sluice::check {

uint32_t Agents::new_column(DomainId domain, uint32_t parent) {
  if (domains_.size() <= domain) domains_.resize(domain + 1);
  std::vector<uint32_t>& parents = domains_[domain];
  if (parents.empty()) parents.push_back(0);
  parents.push_back(parent);
  return static_cast<uint32_t>(parents.size() - 1);
}

AgentId Agents::add(Agent agent, DomainId domain) {
  entries_.push_back({agent, domain, {}});
  entries_.back().columns.push_back({kAllLanes, new_column(domain, 0)});
  return static_cast<AgentId>(entries_.size() - 1);
}

const std::vector<Agents::Column>& Agents::divided(AgentId id, uint32_t lanes) {
  Entry& entry = entries_[id];
  for (size_t i = 0; i < entry.columns.size(); ++i) {
    const Column whole = entry.columns[i];
    const uint32_t inside = whole.lanes & lanes;
    if (inside == 0 || inside == whole.lanes) continue;
    entry.columns[i].lanes = whole.lanes & ~inside;
    entry.columns.push_back({inside, new_column(entry.domain, whole.index)});
  }
  return entry.columns;
}

}  // namespace sluice::check
