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

// The sign of a difference tells who is behind: times stay far below 2^31.
Known compare(const Time* a, const Time* b, uint32_t padded) {
  Time first_lacks = 0, second_lacks = 0;
  for (uint32_t i = 0; i < padded / kVector * kVector; ++i) {
    first_lacks |= a[i] - b[i];
    second_lacks |= b[i] - a[i];
  }
  constexpr uint32_t kSign = 31;
  return static_cast<Known>((~first_lacks >> kSign) | (~second_lacks >> kSign) << 1);
}

void join_values(Time* result, const Time* a, const Time* b, uint32_t padded) {
  for (uint32_t i = 0; i < padded / kVector * kVector; ++i) result[i] = std::max(a[i], b[i]);
}

}  // namespace

// --- one domain ---------------------------------------------------------------------------------------

Times::Times(DomainId domain, const Agents& agents)
    : Times(make(domain, static_cast<uint32_t>(agents.parents(domain).size()), agents)) {
  std::fill_n(values(), block_->padded, 0);
}

Times Times::make(DomainId domain, uint32_t size, const Agents& agents) {
  const uint32_t padded = (size + kVector - 1) / kVector * kVector;
  Times made;
  made.block_ = new (::operator new(sizeof(Block) + padded * sizeof(Time)))
      Block{1, domain, size, padded, agents.new_version(), {}};
  return made;
}

Times Times::successor(uint32_t size, const Agents& agents) const {
  Times made = make(block_->domain, size, agents);
  made.block_->below = block_->below;
  made.note_below(block_->version);
  return made;
}

void Times::note_below(uint64_t version) {
  std::copy_backward(block_->below.begin(), block_->below.end() - 1, block_->below.end());
  block_->below[0] = version;
}

uint32_t Times::ancestor(uint32_t column, const Agents& agents) const {
  const std::vector<uint32_t>& parents = agents.parents(block_->domain);
  while (column >= block_->size) column = parents[column];
  return column;
}

Times Times::grown(const Agents& agents) const {
  const std::vector<uint32_t>& parents = agents.parents(block_->domain);
  const uint32_t old_size = block_->size, size = static_cast<uint32_t>(parents.size());
  Times longer = successor(size, agents);
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
  block_->version = agents.new_version();
}

void Times::join(const Times& other, const Agents& agents) {
  if (block_ == other.block_ || other.is_below(*this)) return;
  if (is_below(other)) {
    *this = other;
    return;
  }
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
  if (block_->users > 2) *this = successor(block_->size, agents);
  join_values(values(), before.values(), other.values(), block_->padded);
  note_below(other.block_->version);
  block_->version = agents.new_version();
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
