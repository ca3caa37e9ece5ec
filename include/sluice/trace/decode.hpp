// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// From the bytes of a trace buffer to events in the order of time: clocks become nanoseconds, the two ends of
// a wait or a role one event, a trip a wait and an arrival, barriers get the ring, stage and part that the
// kernel has told. Host only, the standard library alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "sluice/trace/clock_map.hpp"
#include "sluice/trace/event.hpp"
#include "sluice/trace/trip.hpp"

namespace sluice::trace {

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

  template <class T>
  T read_cells(uint32_t number, uint32_t cell) const {
    T value;
    const unsigned char* slice = slices_ + number * Buffer::slice_bytes(buffer_.slice_records);
    std::memcpy(&value, slice + sizeof(SliceHead) + cell * sizeof(Cell), sizeof value);
    return value;
  }

  void gather_moments(const SliceHead& head) {
    if (head.begin.time != 0) clocks_.add(head.sm, head.begin);
    if (head.end.time != 0) clocks_.add(head.sm, head.end);
  }

  /// Goes through a slice and calls `see_record(record)` and `see_trip(cell)`; now_ is the clock then. A
  /// slice without an end holds what its kernel came to.
  template <class SeeRecord, class SeeTrip>
  void for_cells(uint32_t number, SeeRecord see_record, SeeTrip see_trip) {
    slice_ = head_of(number);
    if (slice_.is_taken == 0 || slice_.begin.time == 0) return;
    const bool has_ended = slice_.end.time != 0;
    const uint32_t room = buffer_.slice_records * kRecordCells;
    const uint32_t cells = has_ended ? std::min(slice_.cells, room) : room;
    now_ = slice_.begin.clock;
    for (uint32_t at = 0; at < cells;) {
      const Cell cell = read_cells<Cell>(number, at);
      if ((cell & Trip::kIsTrip) != 0) {
        now_ += Trip::of(cell).since;
        see_trip(cell);
        ++at;
        continue;
      }
      if (at + kRecordCells > cells) return;
      const Record record = read_cells<Record>(number, at);
      if (record.kind == RecordKind::None) return;
      now_ = clock_of(record, now_);
      see_record(record);
      at += kRecordCells;
    }
    // What lies longer apart than a record's clock can tell shows at the end.
    if (has_ended && cells != 0 && slice_.lost == 0 && slice_.end.clock - now_ >= kClockSpan / 2)
      fail("lies too long after the record before it: the clock of a record goes round in some minutes");
  }

  /// The clock of a record next to `near`.
  static uint64_t clock_of(const Record& record, uint64_t near) {
    const uint64_t low = record.clock | uint64_t{record.clock_8} << 32;
    uint64_t passed = (low - near) & (kClockSpan - 1);
    if (passed >= kClockSpan / 2) passed -= kClockSpan;
    return near + passed;
  }

  void fail(const std::string& what) {
    if (!out_.error.empty()) return;
    out_.error =
        "CTA " + std::to_string(slice_.cta) + ", warp " + std::to_string(slice_.warp) + ": a record " + what;
  }

  static RingPlace ring_of(const Record& record) { return {record.half, record.a & 0xffff, record.a >> 16}; }

  /// Who tells of a ring, and who uses it, may write to different slices.
  void gather_rings(uint32_t number) {
    for_cells(
        number,
        [&](const Record& record) {
          if (record.kind != RecordKind::Ring) return;
          const RingPlace ring = ring_of(record);
          known_[slice_.cta].push_back({time_of(now_), ring});
          if (std::find(out_.rings.begin(), out_.rings.end(), ring) == out_.rings.end())
            out_.rings.push_back(ring);
        },
        [](Cell) {});
  }

  void read_slice(uint32_t number) {
    open_ = kNone;
    role_ = kNone;
    trips_ = {};
    for_cells(
        number, [&](const Record& record) { read(record); }, [&](Cell cell) { read_trip(cell); });
    out_.left_out += slice_.lost;
    // A wait whose end had no room would look as if it never went on.
    if (slice_.lost == 0 || open_ == kNone) return;
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
        return end(role_);
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
        return end(open_);
      case RecordKind::Arrives:
        return add_arrivals(r.half, r.a, r.b);
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
      case RecordKind::Trips:
        return begin_trips(r);
    }
  }

  /// What the next trip of a ring is.
  struct NextTrip {
    RingPlace ring;
    TripForm form{};
    uint32_t count = 0;
  };

  void begin_trips(const Record& r) {
    const TripForm form = TripForm::of(r.b);
    for (const auto& [since, ring] : known_[slice_.cta]) {
      if (ring.full != r.half || ring.stages == 0 || since > time_of(now_)) continue;
      trips_[form.ring] = {ring, form, r.a};
      return;
    }
    fail("is of a ring that no record tells of");
  }

  void read_trip(Cell cell) {
    NextTrip& next = trips_[Trip::ring_of(cell)];
    if (next.ring.stages == 0) return fail("is missing before a trip");
    const Trip trip = Trip::of(cell);
    const TripForm& form = next.form;
    const uint64_t waited_until = now_ - trip.hold;
    const auto use_of = [&](uint32_t count, bool is_full) {
      return StageUse{count, count % next.ring.stages, next.ring.stages, is_full};
    };
    const auto barrier_of = [&](const StageUse& use) {
      return (use.is_full ? next.ring.full : next.ring.empty) + use.index;
    };
    const StageUse wait = use_of(next.count, form.waits_for_full);
    Event& event =
        add_at_barrier(EventKind::Wait, waited_until - trip.wait, barrier_of(wait), wait.awaited_phase());
    event.parity = wait.awaited_phase() & 1;
    event.waited = trip.wait != 0;
    event.end = time_of(waited_until);
    event.has_end = true;
    const StageUse arrival = use_of(next.count - form.lag, !form.waits_for_full);
    add_trip_arrival(form, barrier_of(arrival), arrival.use());
    ++next.count;
  }

  void add_trip_arrival(const TripForm& form, uint32_t barrier, uint32_t phase) {
    switch (form.arrival) {
      case TripForm::Nothing:
        return;
      case TripForm::Here:
        add_at_barrier(EventKind::Arrive, now_, barrier, phase).count = form.payload;
        return;
      case TripForm::Arms: {
        Event& event = add_at_barrier(EventKind::Arrive, now_, barrier, phase);
        event.count = 1;
        event.bytes = form.payload;
        return;
      }
      case TripForm::Named:
        return add_arrivals(barrier, phase, Arrival::at(form.payload & 0xffff, (form.payload >> 16) + 1));
    }
  }

  uint64_t time_of(uint64_t clock) {
    const uint64_t t = clocks_.time(slice_.sm, clock);
    out_.end = std::max(out_.end, t);
    return t;
  }

  Event& add(EventKind kind, uint64_t clock) {
    Event event;
    event.kind = kind;
    event.t = event.end = time_of(clock);
    event.cta = event.of = slice_.cta;
    event.warp = slice_.warp;
    out_.events.push_back(event);
    return out_.events.back();
  }
  Event& add(EventKind kind, const Record&) { return add(kind, now_); }

  Event& add_at_barrier(EventKind kind, const Record& r) { return add_at_barrier(kind, now_, r.half, r.a); }

  /// `barrier` is a place in units of 8 bytes.
  Event& add_at_barrier(EventKind kind, uint64_t clock, uint32_t barrier, uint32_t phase) {
    Event& event = add(kind, clock);
    event.barrier = barrier * 8;
    event.phase = static_cast<int32_t>(phase);
    for (const auto& [since, ring] : known_[slice_.cta]) {
      const bool is_full = barrier - ring.full < ring.stages;
      if (since > event.t || (!is_full && barrier - ring.empty >= ring.stages)) continue;
      event.ring =
          static_cast<int>(std::find(out_.rings.begin(), out_.rings.end(), ring) - out_.rings.begin());
      event.is_empty = !is_full;
      event.stage = barrier - (is_full ? ring.full : ring.empty);
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

  void add_arrivals(uint32_t barrier, uint32_t phase, uint32_t arrival) {
    if ((arrival & Arrival::kNamed) == 0) {
      add_at_barrier(EventKind::Arrive, now_, barrier, phase).count = arrival;
      return;
    }
    for (uint32_t rank = 0; rank < 16; ++rank) {
      if ((arrival >> rank & 1) == 0) continue;
      Event& event = add_at_barrier(EventKind::Arrive, now_, barrier, phase);
      event.count = (arrival & ~Arrival::kNamed) >> 16;
      event.of = out_.launched.peer(slice_.cta, rank);
    }
  }

  void end(std::size_t& open) {
    if (open == kNone) return;
    out_.events[open].end = time_of(now_);
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

  static constexpr uint64_t kClockSpan = uint64_t{1} << 40;  ///< after which a record's clock goes round
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  const Buffer& buffer_;
  Decoded& out_;
  BufferHead head_;
  const unsigned char* slices_;
  ClockMap clocks_;
  SliceHead slice_{};
  uint64_t now_ = 0;                                      ///< clock of what is read
  std::array<NextTrip, TripForm::kMaxRing + 1> trips_{};  ///< of the slice, by ring
  std::map<uint32_t, std::vector<KnownRing>> known_;      ///< in each CTA, the newest first
  std::size_t open_ = kNone;                              ///< the wait that has not ended
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
