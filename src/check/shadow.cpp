// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What a granule remembers.
#include "check/shadow.hpp"

#include <algorithm>
#include <new>

namespace sluice::check {

namespace {

bool same_access(const Record& a, const Record& b) {
  return a.stamp.agent == b.stamp.agent && a.stamp.time == b.stamp.time && a.origin == b.origin &&
         a.flags == b.flags;
}

/// Bytes on which the lanes of `older` are among those of `newer`.
uint16_t lanes_within(const Record& older, const Record& newer) {
  const auto common = static_cast<uint16_t>(older.bytes & newer.bytes);
  if (older.ramp == newer.ramp) {
    if (older.ramp.is_none() && (older.stamp.lanes & ~newer.stamp.lanes) != 0) return 0;
    return common;
  }
  uint16_t within = 0;
  for (uint32_t m = common; m != 0; m &= m - 1) {
    const auto byte = static_cast<uint16_t>(m & -m);
    if ((older.lanes_at(byte) & ~newer.lanes_at(byte)) == 0) within |= byte;
  }
  return within;
}

}  // namespace

/// Whether a record says all that this one would.
bool Granule::holds(const Record& read) const {
  const std::span<const Record> all = records();
  return std::any_of(all.rbegin(), all.rend(), [&](const Record& r) {
    return same_access(r, read) && lanes_within(read, r) == read.bytes;
  });
}

/// Gives the granule records of its own, with room for more than so many.
void Granule::make_own(size_t more_than) {
  if (history_ != nullptr && history_->users == 1 && history_->capacity > more_than) return;
  const std::span<const Record> old = records();
  constexpr size_t kMostly = 3;  // records are enough
  const size_t room = std::max(kMostly, more_than + 1 + more_than / 4);
  Granule own;
  bytes_held_ += bytes_of(room);
  own.history_ = new (::operator new(bytes_of(room)))
      History{1, static_cast<uint16_t>(old.size()), static_cast<uint16_t>(room)};
  std::uninitialized_copy(old.begin(), old.end(), own.history_->records());
  std::swap(history_, own.history_);
}

void Granule::forget_oldest() {
  const std::span<Record> all = records();
  auto oldest = std::find_if(all.begin(), all.end(), [](const Record& r) { return !r.is_weak_write(); });
  if (oldest == all.end()) oldest = all.begin();
  std::move(oldest + 1, all.end(), oldest);
  --history_->count;
}

/// Takes from the older record the bytes on which the newer one stands for it, or makes it a part of that
/// one.
void Granule::give_way(Record& older, Record& newer) {
  if (newer.is_weak_write()) {
    older.bytes &= static_cast<uint16_t>(~newer.bytes);
    return;
  }
  if (older.stamp.agent != newer.stamp.agent) return;
  const bool same = older.ramp == newer.ramp && same_access(older, newer);
  if (same &&
      (older.stamp.lanes == newer.stamp.lanes || !older.ramp.is_none() || older.bytes == newer.bytes)) {
    newer.bytes |= older.bytes;
    newer.stamp.lanes |= older.stamp.lanes;
    older.bytes = 0;
  } else if (older.stamp.time <= newer.stamp.time && newer.stands_for(older)) {
    older.bytes &= static_cast<uint16_t>(~lanes_within(older, newer));
  }
}

uint32_t Granule::remember(Record record, uint32_t most) {
  if (!record.writes() && !record.is_strong() && holds(record)) return 0;
  constexpr uint16_t kWhole = 0xffff;
  if (record.is_weak_write() && record.bytes == kWhole && history_ != nullptr && history_->users > 1)
    *this = Granule();
  make_own(records().size());
  uint16_t kept = 0;
  for (Record r : records()) {
    give_way(r, record);
    if (r.bytes != 0) history_->records()[kept++] = r;
  }
  history_->count = kept;
  uint32_t forgotten = 0;
  for (; history_->count >= most; ++forgotten) forget_oldest();
  if (history_->capacity > 2 * most) {
    Granule small;
    std::swap(small.history_, history_);
    *this = small;  // shared for a moment: what follows makes a copy that fits
    make_own(history_->count);
  }
  std::construct_at(history_->records() + history_->count++, record);
  return forgotten;
}

bool Granule::comes_before(const Record& older, AgentId agent, uint32_t lanes) const {
  bool is_later = false;
  for (const Record& r : records()) {
    const auto common = static_cast<uint16_t>(r.bytes & older.bytes);
    if (common == 0) continue;
    const uint32_t strong = r.is_strong() ? r.lanes_at(common) : 0;
    const bool is_own = r.stamp.agent == agent && strong != 0 && (lanes & ~strong) == 0;
    const bool is_older = r.stamp.agent == older.stamp.agent && same_access(r, older);
    // Lanes of one instruction go one after the other, by ascending lane.
    if (is_own && (is_later || (is_older && std::bit_width(strong) == std::bit_width(lanes)))) return true;
    is_later |= is_older;
  }
  return false;
}

}  // namespace sluice::check
