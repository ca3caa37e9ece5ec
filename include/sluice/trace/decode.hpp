// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// From the bytes of a trace buffer to events in the order of time: clocks become nanoseconds, the two ends of
// a wait or a role one event, barriers get the ring, stage and part that the kernel has told. Host only, the
// standard library alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "sluice/trace/clock_map.hpp"
#include "sluice/trace/record.hpp"

namespace sluice::trace {

/// What a launch looked like. CTAs are counted with x fastest.
struct Launched {
  std::string kernel;
  std::array<uint32_t, 3> grid{1, 1, 1};
  std::array<uint32_t, 3> cta{1, 1, 1};      ///< threads
  std::array<uint32_t, 3> cluster{1, 1, 1};  ///< CTAs
  bool failed = false;

  uint32_t ctas() const { return grid[0] * grid[1] * grid[2]; }

  /// The linear CTA of rank `rank` in the cluster of CTA `cta`.
  uint32_t peer(uint32_t cta, uint32_t rank) const {
    const uint32_t x = cta % grid[0] / cluster[0] * cluster[0] + rank % cluster[0];
    const uint32_t y = cta / grid[0] % grid[1] / cluster[1] * cluster[1] + rank / cluster[0] % cluster[1];
    const uint32_t z = cta / grid[0] / grid[1] / cluster[2] * cluster[2] + rank / cluster[0] / cluster[1];
    return x + grid[0] * (y + grid[1] * z);
  }
};

/// A ring of the kernel: addresses in units of 8 bytes.
struct RingPlace {
  uint32_t full = 0, empty = 0, stages = 0;
  bool operator==(const RingPlace& other) const {
    return full == other.full && empty == other.empty && stages == other.stages;
  }
};

enum class EventKind { Role, Wait, Arrive, Copy, StoreWait, Mark };

/// One line of a trace.
struct Event {
  EventKind kind{};
  uint64_t t = 0;
  uint64_t end = 0;
  bool has_end = false;
  bool waited = false;
  uint32_t cta = 0, warp = 0;
  uint32_t barrier = 0;  ///< address in bytes; 0 where there is none
  uint32_t of = 0;
  int32_t phase = 0;
  uint32_t parity = 0;
  uint32_t count = 0;
  uint64_t bytes = 0;
  int ring = -1;  ///< into Decoded::rings
  uint32_t stage = 0;
  bool is_empty = false;  ///< the barrier is the stage's empty one
  std::string name;
};

struct Decoded {
  Launched launched;
  uint32_t first_cta = 0, recorded_ctas = 0;
  std::vector<RingPlace> rings;
  std::vector<std::pair<uint32_t, std::string>> names;  ///< of barriers, by address
  std::vector<Event> events;                            ///< by t
  uint64_t end = 0;
  uint64_t left_out = 0;  ///< records that had no room
  bool is_clock_measured = false;
  std::string error;  ///< why there are no events
};

namespace detail {

/// Reads the slices of one buffer one after the other.
class Decoder {
 public:
  Decoder(const unsigned char* bytes, const Buffer& buffer, Decoded& out) : buffer_(buffer), out_(out) {
    std::memcpy(&head_, bytes, sizeof head_);
    slices_ = bytes + sizeof head_;
  }

  void decode(double nominal_rate) {
    out_.left_out = head_.lost;
    const uint32_t slices = std::min(head_.taken, buffer_.slices);
    for (uint32_t i = 0; i < slices; ++i) gather_moments(head_of(i));
    clocks_.settle(nominal_rate);
    out_.is_clock_measured = clocks_.is_measured();
    for (uint32_t i = 0; i < slices; ++i) gather_rings(i);
    for (auto& [cta, rings] : known_) {
      std::stable_sort(rings.begin(), rings.end(),
                       [](const KnownRing& a, const KnownRing& b) { return a.since > b.since; });
    }
    std::sort(out_.rings.begin(), out_.rings.end(), [](const RingPlace& a, const RingPlace& b) {
      return a.full != b.full ? a.full < b.full : a.stages < b.stages;
    });
    for (uint32_t i = 0; i < slices && out_.error.empty(); ++i) read_slice(i);
    std::stable_sort(out_.events.begin(), out_.events.end(),
                     [](const Event& a, const Event& b) { return a.t < b.t; });
  }

 private:
  SliceHead head_of(uint32_t number) const {
    SliceHead head;
    std::memcpy(&head, slices_ + number * Buffer::slice_bytes(buffer_.slice_records), sizeof head);
    return head;
  }

  Record record_of(uint32_t number, uint32_t place) const {
    Record record;
    const unsigned char* slice = slices_ + number * Buffer::slice_bytes(buffer_.slice_records);
    std::memcpy(&record, slice + sizeof(SliceHead) + place * sizeof(Record), sizeof record);
    return record;
  }

  void gather_moments(const SliceHead& head) {
    if (head.begin.time != 0) clocks_.add(head.sm, head.begin);
    if (head.end.time != 0) clocks_.add(head.sm, head.end);
  }

  /// Calls `see` with the records of a slice. One without an end holds what its kernel came to.
  template <class See>
  void for_records(uint32_t number, See see) const {
    const SliceHead head = head_of(number);
    if (head.is_taken == 0 || head.begin.time == 0) return;
    const uint32_t made = head.end.time == 0 ? buffer_.slice_records : head.count;
    for (uint32_t i = 0; i < std::min(made, buffer_.slice_records); ++i) {
      const Record record = record_of(number, i);
      if (record.kind == RecordKind::None) return;
      see(record);
    }
  }

  static RingPlace ring_of(const Record& record) { return {record.half, record.a & 0xffff, record.a >> 16}; }

  /// Who tells of a ring, and who uses it, may write to different slices.
  void gather_rings(uint32_t number) {
    slice_ = head_of(number);
    for_records(number, [&](const Record& record) {
      if (record.kind != RecordKind::Ring) return;
      const RingPlace ring = ring_of(record);
      known_[slice_.cta].push_back({time_of(record), ring});
      if (std::find(out_.rings.begin(), out_.rings.end(), ring) == out_.rings.end())
        out_.rings.push_back(ring);
    });
  }

  void read_slice(uint32_t number) {
    slice_ = head_of(number);
    open_ = kNone;
    role_ = kNone;
    for_records(number, [&](const Record& record) { read(record); });
    if (slice_.count <= buffer_.slice_records) return;
    out_.left_out += slice_.count - buffer_.slice_records;
    // A wait whose end had no room would look as if it never went on.
    if (open_ == kNone) return;
    out_.events.erase(out_.events.begin() + static_cast<std::ptrdiff_t>(open_));
    ++out_.left_out;
  }

  void read(const Record& r) {
    switch (r.kind) {
      case RecordKind::None:
      case RecordKind::Ring:
        return;
      case RecordKind::Names:
        return keep_name(r);
      case RecordKind::RoleBegins:
        role_ = out_.events.size();
        add(EventKind::Role, r).name = name_of(r);
        return;
      case RecordKind::RoleEnds:
        return end(role_, r);
      case RecordKind::WaitPasses:
        add_wait(r).has_end = true;
        return;
      case RecordKind::WaitBegins:
        open_ = out_.events.size();
        add_wait(r).waited = true;
        return;
      case RecordKind::StoreWaitBegins:
        open_ = out_.events.size();
        add(EventKind::StoreWait, r);
        return;
      case RecordKind::WaitEnds:
      case RecordKind::StoreWaitEnds:
        return end(open_, r);
      case RecordKind::Arrives:
        return add_arrivals(r);
      case RecordKind::Arms:
      case RecordKind::Expects: {
        Event& event = add_at_barrier(EventKind::Arrive, r);
        const uint32_t lanes = r.b >> 24;
        event.count = r.kind == RecordKind::Arms ? lanes : 0;
        event.bytes = uint64_t{r.b & 0xffffff} * lanes;
        return;
      }
      case RecordKind::CommitsStores:
        add(EventKind::Copy, r).bytes = r.a;
        return;
      case RecordKind::Marks:
        add(EventKind::Mark, r).name = name_of(r);
        return;
    }
  }

  uint64_t time_of(const Record& r) {
    constexpr uint64_t kMask = (uint64_t{1} << 40) - 1;
    const uint64_t low = r.clock | uint64_t{r.clock_8} << 32;
    const uint64_t t = clocks_.time(slice_.sm, slice_.begin.clock + ((low - slice_.begin.clock) & kMask));
    out_.end = std::max(out_.end, t);
    return t;
  }

  Event& add(EventKind kind, const Record& r) {
    Event event;
    event.kind = kind;
    event.t = event.end = time_of(r);
    event.cta = event.of = slice_.cta;
    event.warp = slice_.warp;
    out_.events.push_back(event);
    return out_.events.back();
  }

  Event& add_at_barrier(EventKind kind, const Record& r) {
    Event& event = add(kind, r);
    event.barrier = uint32_t{r.half} * 8;
    event.phase = static_cast<int32_t>(r.a);
    for (const auto& [since, ring] : known_[slice_.cta]) {
      const bool is_full = r.half - ring.full < ring.stages;
      if (since > event.t || (!is_full && r.half - ring.empty >= ring.stages)) continue;
      event.ring =
          static_cast<int>(std::find(out_.rings.begin(), out_.rings.end(), ring) - out_.rings.begin());
      event.is_empty = !is_full;
      event.stage = r.half - (is_full ? ring.full : ring.empty);
      break;
    }
    return event;
  }

  Event& add_wait(const Record& r) {
    Event& event = add_at_barrier(EventKind::Wait, r);
    event.parity = r.b;
    if ((r.a & 1) != r.b) {
      out_.error = "CTA " + std::to_string(event.cta) + ", warp " + std::to_string(event.warp) +
                   " waits for parity " + std::to_string(r.b) + " of the barrier at " +
                   std::to_string(event.barrier) + " in what its PipelineState counts as phase " +
                   std::to_string(event.phase) +
                   ": start states with their count and move them with ++ or advance";
    }
    return event;
  }

  void add_arrivals(const Record& r) {
    if ((r.b & Arrival::kNamed) == 0) {
      add_at_barrier(EventKind::Arrive, r).count = r.b;
      return;
    }
    for (uint32_t rank = 0; rank < 16; ++rank) {
      if ((r.b >> rank & 1) == 0) continue;
      Event& event = add_at_barrier(EventKind::Arrive, r);
      event.count = (r.b & ~Arrival::kNamed) >> 16;
      event.of = out_.launched.peer(slice_.cta, rank);
    }
  }

  void end(std::size_t& open, const Record& r) {
    if (open == kNone) return;
    out_.events[open].end = time_of(r);
    out_.events[open].has_end = true;
    open = kNone;
  }

  void keep_name(const Record& r) {
    std::string name;
    append(name, r.a, 4);
    append(name, r.b, 4);
    const std::pair<uint32_t, std::string> named{uint32_t{r.half} * 8, name};
    if (std::find(out_.names.begin(), out_.names.end(), named) == out_.names.end())
      out_.names.push_back(named);
  }

  static std::string name_of(const Record& r) {
    std::string name;
    append(name, r.half, 2);
    append(name, r.a, 4);
    append(name, r.b, 4);
    return name;
  }

  static void append(std::string& name, uint32_t packed, int letters) {
    for (int i = 0; i < letters; ++i) {
      const char letter = static_cast<char>(packed >> (8 * i) & 0xff);
      if (letter != 0) name += letter;
    }
  }

  struct KnownRing {
    uint64_t since;
    RingPlace ring;
  };

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  const Buffer& buffer_;
  Decoded& out_;
  BufferHead head_;
  const unsigned char* slices_;
  ClockMap clocks_;
  SliceHead slice_{};
  std::map<uint32_t, std::vector<KnownRing>> known_;  ///< in each CTA, the newest first
  std::size_t open_ = kNone;                          ///< the wait that has not ended
  std::size_t role_ = kNone;
};

}  // namespace detail

/// The events in `bytes`, a copy of all of `buffer`. `nominal_rate` is in cycles per nanosecond.
inline Decoded decode(const unsigned char* bytes, const Buffer& buffer, const Launched& launched,
                      double nominal_rate) {
  Decoded decoded;
  decoded.launched = launched;
  decoded.first_cta = std::min(buffer.first_cta, launched.ctas());
  decoded.recorded_ctas = std::min(buffer.ctas, launched.ctas() - decoded.first_cta);
  detail::Decoder(bytes, buffer, decoded).decode(nominal_rate);
  return decoded;
}

}  // namespace sluice::trace
