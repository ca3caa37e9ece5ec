// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Joins of clocks. Arrays are as long as their domain had columns when they were made, and that hardly
// changes once a kernel is in its main loop: equal lengths are the common case, compared and joined in one
// pass each.
#include "check/clock.hpp"

#include <algorithm>
#include <new>

namespace sluice::check {

namespace {

constexpr uint32_t kVector = 8;

/// Which of two clocks knows all that the other one knows.
enum class Known : uint8_t { Apart, ToFirst, ToSecond, ToBoth };

Known compare(const Time* a, const Time* b, uint32_t padded) {
  Time first_lacks = 0, second_lacks = 0;
  for (uint32_t i = 0; i < padded / kVector * kVector; ++i) {
    const Time both = std::max(a[i], b[i]);
    first_lacks |= both ^ a[i];
    second_lacks |= both ^ b[i];
  }
  return static_cast<Known>((first_lacks == 0 ? 1 : 0) | (second_lacks == 0 ? 2 : 0));
}

void join_values(Time* result, const Time* a, const Time* b, uint32_t padded) {
  for (uint32_t i = 0; i < padded / kVector * kVector; ++i) result[i] = std::max(a[i], b[i]);
}

}  // namespace

// --- one domain ---------------------------------------------------------------------------------------

Times::Times(DomainId domain, const Agents& agents)
    : Times(make(domain, static_cast<uint32_t>(agents.parents(domain).size()))) {
  std::fill_n(values(), block_->padded, 0);
}

Times Times::make(DomainId domain, uint32_t size) {
  const uint32_t padded = (size + kVector - 1) / kVector * kVector;
  Times made;
  made.block_ = new (::operator new(sizeof(Block) + padded * sizeof(Time))) Block{1, domain, size, padded};
  return made;
}

uint32_t Times::ancestor(uint32_t column, const Agents& agents) const {
  const std::vector<uint32_t>& parents = agents.parents(block_->domain);
  while (column >= block_->size) column = parents[column];
  return column;
}

Times Times::grown(const Agents& agents) const {
  const std::vector<uint32_t>& parents = agents.parents(block_->domain);
  const uint32_t old_size = block_->size, size = static_cast<uint32_t>(parents.size());
  Times longer = make(block_->domain, size);
  Time* const values = longer.values();
  std::copy_n(this->values(), old_size, values);
  for (uint32_t i = old_size; i < size; ++i) values[i] = values[parents[i]];
  std::fill(values + size, values + longer.block_->padded, 0);
  return longer;
}

void Times::raise(uint32_t column, Time time, const Agents& agents) {
  if (of(column, agents) >= time) return;
  // A short array must not change: what it says of a column would be said of those divided from it, too.
  const bool is_short = block_->size < agents.parents(block_->domain).size();
  if (is_short || block_->users > 1) *this = grown(agents);
  values()[column] = time;
}

void Times::join(const Times& other, const Agents& agents) {
  if (block_ == other.block_) return;
  if (block_->size != other.block_->size) {
    const auto size = static_cast<uint32_t>(agents.parents(block_->domain).size());
    const Times theirs = other.block_->size < size ? other.grown(agents) : other;
    if (block_->size < size) *this = grown(agents);
    return join(theirs, agents);
  }
  switch (compare(values(), other.values(), block_->padded)) {
    case Known::ToBoth:
    case Known::ToFirst:
      return;
    case Known::ToSecond:
      *this = other;
      return;
    case Known::Apart:
      break;
  }
  const Times before = *this;
  if (block_->users > 2) *this = make(block_->domain, block_->size);
  join_values(values(), before.values(), other.values(), block_->padded);
}

// --- all domains --------------------------------------------------------------------------------------

namespace {

bool before(const Times& times, DomainId domain) {
  return times.domain() < domain;
}

}  // namespace

const Times* Clock::find_in_rest(DomainId domain) const {
  const auto at = std::lower_bound(rest_.begin(), rest_.end(), domain, before);
  return at != rest_.end() && at->domain() == domain ? &*at : nullptr;
}

bool Clock::covers_any(const Agents& agents, AgentId agent, uint32_t lanes, Time time) const {
  const Times* const times = find(agents.domain(agent));
  if (times == nullptr || agent == 0) return false;
  const std::vector<Agents::Column>& columns = agents.columns(agent);
  return std::any_of(columns.begin(), columns.end(), [&](const Agents::Column& column) {
    return (column.lanes & lanes) != 0 && times->of(column.index, agents) >= time;
  });
}

Times& Clock::insert(Times times) {
  if (!first_) return first_ = std::move(times);
  const auto at = std::lower_bound(rest_.begin(), rest_.end(), times.domain(), before);
  return *rest_.insert(at, std::move(times));
}

void Clock::raise(Agents& agents, AgentId agent, uint32_t lanes, Time time) {
  if (time == 0 || lanes == 0 || agent == 0 || covers(agents, agent, lanes, time)) return;
  const DomainId domain = agents.domain(agent);
  const std::vector<Agents::Column>& columns = agents.divided(agent, lanes);
  Times* const known = find(domain);
  Times& times = known != nullptr ? *known : insert(Times(domain, agents));
  for (const Agents::Column& column : columns) {
    if ((column.lanes & lanes) != 0) times.raise(column.index, time, agents);
  }
}

void Clock::join(const Times& times, const Agents& agents) {
  Times* const known = find(times.domain());
  if (known != nullptr)
    known->join(times, agents);
  else
    insert(times);
}

void Clock::join(const Clock& other, const Agents& agents) {
  if (other.first_) join(other.first_, agents);
  for (const Times& times : other.rest_) join(times, agents);
}

}  // namespace sluice::check
