// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Shadow memory: for each 16 bytes that were touched, the last accesses to each byte that a later access may
// have to be ordered after. Byte-exact: a record says which of the 16 bytes it stands for, so neighbours that
// share a granule do not disturb each other. Pages exist only where something was touched. Granules that one
// copy has touched after another remember the same, and share the memory for it.
//
// A record gives way to a later one where whatever races with it races with the later one, too: to a weak
// write always, else to an access of the same lanes that conflicts with as much. So a weak access outlives
// the atomics that follow it, and atomics of several threads are kept side by side, as reads are.
//
// Bounds: a granule keeps at most kMostRecords accesses that nothing has overwritten, and kFewRecords where
// all records of global memory would otherwise take more than kFixedBytes and kTimesTouched times the pages
// touched. Of more, the oldest but weak writes is forgotten: a race with it is then missed, nothing is
// reported wrongly.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "check/clock.hpp"

namespace sluice::check {

constexpr uint32_t kGranule = 16;

/// Who accesses, when.
struct Stamp {
  AgentId agent = 0;
  uint32_t lanes = 0;
  Time time = 0;
};

/// How neighbouring lanes of one instruction share a granule: each has a piece of its own, one behind the
/// other. Without a ramp every lane has accessed every byte.
class Ramp {
 public:
  constexpr Ramp() = default;
  /// `lane` has the piece of 1 << log_size bytes that starts at byte `at` of the granule, a multiple of that
  /// size.
  constexpr Ramp(uint32_t lane, uint32_t at, uint32_t log_size)
      : code_(static_cast<uint8_t>((lane + kBias - (at >> log_size)) << 2 | log_size)) {}

  bool operator==(const Ramp&) const = default;
  bool is_none() const { return code_ == kNone; }
  uint32_t piece_bytes() const { return uint32_t{1} << (code_ & 3); }
  uint32_t lane(uint32_t byte) const { return (code_ >> 2) + (byte >> (code_ & 3)) - kBias; }
  uint32_t lanes(uint16_t bytes) const {
    uint32_t mask = 0;
    for (uint32_t m = bytes; m != 0; m &= m - 1)
      mask |= uint32_t{1} << lane(static_cast<uint32_t>(std::countr_zero(m)));
    return mask;
  }

 private:
  // The lane of byte 0, which may be one below 0, and the size.
  static constexpr uint32_t kBias = kGranule - 1;
  static constexpr uint8_t kNone = 0xff;
  uint8_t code_ = kNone;
};

/// An access that is remembered.
struct Record {
  static constexpr uint8_t kWrite = 1;
  static constexpr uint8_t kAsync = 2;   ///< through the asynchronous proxy
  static constexpr uint8_t kStrong = 4;  ///< atomic, volatile, relaxed, ...: two of them do not race ...
  static constexpr uint8_t kNarrow = 8;  ///< ... unless this one's scope does not reach the other's CTA

  Stamp stamp;
  uint32_t origin = 0;
  uint16_t bytes = 0;  ///< of the granule
  uint8_t flags = 0;
  Ramp ramp;

  /// The lanes that have accessed some of these bytes; all of them lie in `bytes`.
  uint32_t lanes_at(uint16_t some) const { return ramp.is_none() ? stamp.lanes : ramp.lanes(some); }

  bool writes() const { return (flags & kWrite) != 0; }
  bool is_async() const { return (flags & kAsync) != 0; }
  bool is_strong() const { return (flags & kStrong) != 0; }
  bool is_weak_write() const { return writes() && !is_strong(); }
  bool is_narrow() const { return (flags & kNarrow) != 0; }
  /// Whether it conflicts with all that an older access of the same lanes conflicts with.
  bool stands_for(const Record& older) const {
    const bool as_weak = !is_strong() || (older.is_strong() && (is_narrow() || !older.is_narrow()));
    return as_weak && (writes() || !older.writes());
  }
};

/// What 16 bytes remember: a reference to records, which equal granules share. Counted without locks, as
/// clocks are.
class Granule {
 public:
  Granule() = default;
  Granule(const Granule& other) : history_(other.history_) {
    if (history_ != nullptr) ++history_->users;
  }
  Granule& operator=(Granule other) noexcept {
    std::swap(history_, other.history_);
    return *this;
  }
  ~Granule() {
    if (history_ == nullptr || --history_->users != 0) return;
    bytes_held_ -= bytes_of(history_->capacity);
    ::operator delete(history_);
  }

  /// Whether the two share their records.
  bool operator==(const Granule& other) const { return history_ == other.history_; }

  /// Calls `f(record)` for the records that share bytes with `bytes`, each with its lanes on these bytes.
  template <class F>
  void for_overlapping(uint16_t bytes, F&& f) const {
    for (const Record& r : records()) {
      const auto common = static_cast<uint16_t>(r.bytes & bytes);
      if (common == 0) continue;
      if (r.ramp.is_none()) {
        f(r);
        continue;
      }
      Record part = r;
      part.bytes = common;
      part.stamp.lanes = r.ramp.lanes(common);
      f(std::as_const(part));
    }
  }
  static constexpr uint32_t kMostRecords = 48, kFewRecords = 4;

  /// Remembers the access, and forgets what it stands for. Returns how many others were forgotten so that
  /// there are not more records than `most`.
  uint32_t remember(Record record, uint32_t most = kMostRecords);
  /// Whether these lanes of the agent have made a strong access to the same bytes after this strong one.
  bool comes_before(const Record& older, AgentId agent, uint32_t lanes) const;
  /// Bytes of the records of all granules.
  static uint64_t bytes_held() { return bytes_held_; }

 private:
  struct History {
    uint32_t users = 1;
    uint16_t count = 0, capacity = 0;  ///< of records, which follow
    Record* records() { return reinterpret_cast<Record*>(this + 1); }
  };

  std::span<Record> records() const {
    if (history_ == nullptr) return {};
    return {history_->records(), history_->count};
  }
  static size_t bytes_of(size_t records) { return sizeof(History) + records * sizeof(Record); }
  bool holds(const Record& read) const;
  static void give_way(Record& older, Record& newer);
  void make_own(size_t more_than);
  void forget_oldest();

  inline static uint64_t bytes_held_ = 0;
  History* history_ = nullptr;
};

/// The granules of one address space.
class Shadow {
 public:
  /// Calls `f(granule, bytes, offset of the first of them)` for the granules of [first, first + size).
  template <class F>
  void for_granules(uint64_t first, uint64_t size, F&& f) {
    const uint64_t end = first + size;
    for (uint64_t at = first; at < end;) {
      const uint64_t base = at & ~uint64_t{kGranule - 1};
      const uint64_t next = base + kGranule < end ? base + kGranule : end;
      const auto low = static_cast<uint32_t>(at - base), high = static_cast<uint32_t>(next - base);
      f(granule(base), static_cast<uint16_t>(((uint32_t{1} << high) - 1) & ~((uint32_t{1} << low) - 1)), at);
      at = next;
    }
  }
  /// The same for those granules that lie in pages which something has touched.
  template <class F>
  void for_touched(uint64_t first, uint64_t size, F&& f) {
    const uint64_t end = first + size;
    for (uint64_t at = first; at < end;) {
      const uint64_t next = std::min(end, (at / kPage + 1) * kPage);
      if (pages_.contains(at / kPage)) for_granules(at, next - at, f);
      at = next;
    }
  }
  /// Forgets all pages of [first, first + size).
  void forget(uint64_t first, uint64_t size) {
    for (uint64_t page = first / kPage; page <= (first + size) / kPage; ++page) pages_.erase(page);
    last_ = nullptr;
  }
  void clear() {
    pages_.clear();
    last_ = nullptr;
  }
  /// How many records a granule may have now.
  uint32_t most_records() const {
    const uint64_t touched = pages_.size() * kPage;
    return Granule::bytes_held() <= kFixedBytes + kTimesTouched * touched ? Granule::kMostRecords
                                                                          : Granule::kFewRecords;
  }

 private:
  static constexpr uint64_t kPage = 4096;
  static constexpr uint64_t kFixedBytes = 64 << 20, kTimesTouched = 7;  // and half of it for the granules
  using Page = std::array<Granule, kPage / kGranule>;

  Granule& granule(uint64_t base) {
    const uint64_t page = base / kPage;
    if (last_ == nullptr || page != last_page_) {
      std::unique_ptr<Page>& found = pages_[page];
      if (found == nullptr) found = std::make_unique<Page>();
      last_ = found.get();
      last_page_ = page;
    }
    return (*last_)[base % kPage / kGranule];
  }

  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
  Page* last_ = nullptr;
  uint64_t last_page_ = 0;
};

}  // namespace sluice::check
