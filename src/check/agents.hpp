// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Who acts: warps, and asynchronous work by what it is waited for with (a barrier's copies, a lane's bulk
// groups, a warpgroup's products). And where the clocks of a launch keep the time of each of their lanes.
//
// Agents of one cluster form a domain; clocks hold one array of times for each domain that they know of.
// Lanes that have always been handed over together share a column of that array. The first time that some of
// them are handed over alone, their column is divided: they get a new one, which starts with the value of the
// old. An array made before that is shorter; what it says of a later column is what it says of the column
// that the later one came from. Column 0 stands for nobody: new agents come from it, and start with time 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice::check {

using AgentId = uint32_t;
using DomainId = uint32_t;
using Time = uint32_t;

constexpr uint32_t kLanes = 32;
constexpr uint32_t kAllLanes = 0xffffffffu;

enum class AgentKind : uint8_t { Warp, CpAsync, BulkReads, BulkWrites, Wgmma, Copies };

struct Agent {
  AgentKind kind{};
  uint32_t cta = 0;
  uint32_t index = 0;  ///< warp, warpgroup, or the barrier's offset
};

class Agents {
 public:
  /// Lanes of an agent that share a column.
  struct Column {
    uint32_t lanes = 0;
    uint32_t index = 0;
  };

  Agents() { add({}, 0); }  // 0 is nobody

  AgentId add(Agent agent, DomainId domain);
  const Agent& operator[](AgentId id) const { return entries_[id].agent; }

  DomainId domain(AgentId id) const { return entries_[id].domain; }
  const std::vector<Column>& columns(AgentId id) const { return entries_[id].columns; }
  /// The columns of the agent, divided where they hold some of these lanes and others.
  const std::vector<Column>& divided(AgentId id, uint32_t lanes);
  /// For each column of the domain the one that it came from.
  const std::vector<uint32_t>& parents(DomainId domain) const { return domains_[domain]; }
  /// A number that no array of times has been given before.
  uint64_t new_version() const { return ++last_version_; }

 private:
  uint32_t new_column(DomainId domain, uint32_t parent);

  struct Entry {
    Agent agent;
    DomainId domain = 0;
    std::vector<Column> columns;
  };
  std::vector<Entry> entries_;
  std::vector<std::vector<uint32_t>> domains_;
  mutable uint64_t last_version_ = 0;
};

}  // namespace sluice::check
