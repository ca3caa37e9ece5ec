// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading a trace buffer on the host: clocks, pairs of records, what had no room, and the file's lines.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "sluice/trace/file.hpp"

namespace sluice::trace {
namespace {

/// A buffer as a kernel would leave it: 2 cycles per nanosecond, time 1000 at clock 0.
class Memory {
 public:
  Memory(uint32_t slices, uint32_t records) {
    buffer_.slices = slices;
    buffer_.slice_records = records;
    buffer_.ctas = 8;
    bytes_.resize(Buffer::bytes(slices, records));
  }

  /// A slice whose lane began at `begin` cycles and ended at `end`; 0: it did not.
  void open(uint32_t cta, uint32_t warp, uint64_t begin, uint64_t end, uint32_t sm = 0) {
    SliceHead head{};
    head.cta = cta;
    head.warp = warp;
    head.sm = sm;
    head.begin = {begin, 1000 + begin / 2};
    if (end != 0) head.end = {end, 1000 + end / 2};
    head.is_taken = 1;
    put(slice(taken_++), head);
  }

  void add(RecordKind kind, uint64_t clock, uint32_t half = 0, uint32_t a = 0, uint32_t b = 0) {
    write(Record{static_cast<uint32_t>(clock), static_cast<uint16_t>(half), static_cast<uint8_t>(clock >> 32),
                 kind, a, b});
  }

  void add(uint32_t ring, const Trip& trip) { write(trip.bits(ring)); }

  Decoded decode(const Launched& launched = {}, uint32_t taken = 0, uint64_t lost = 0) {
    BufferHead head{};
    head.taken = taken == 0 ? taken_ : taken;
    head.lost = lost;
    put(bytes_.data(), head);
    return trace::decode(bytes_.data(), buffer_, launched, 1.5);
  }

 private:
  template <class T>
  static void put(unsigned char* at, const T& value) {
    std::memcpy(at, &value, sizeof value);
  }
  /// Into the slice that was opened last, if it has room.
  template <class T>
  void write(const T& value) {
    unsigned char* const at = slice(taken_ - 1);
    SliceHead head;
    std::memcpy(&head, at, sizeof head);
    ++head.count;
    constexpr uint32_t kCells = sizeof value / sizeof(Cell);
    if (head.lost == 0 && head.cells + kCells <= buffer_.slice_records * kRecordCells) {
      put(at + sizeof head + head.cells * sizeof(Cell), value);
      head.cells += kCells;
    } else {
      ++head.lost;
    }
    put(at, head);
  }

  unsigned char* slice(uint32_t number) {
    return bytes_.data() + sizeof(BufferHead) + number * Buffer::slice_bytes(buffer_.slice_records);
  }

  Buffer buffer_;
  std::vector<unsigned char> bytes_;
  uint32_t taken_ = 0;
};

TEST(ClockMap, takes_the_rate_of_the_sm_itself) {
  ClockMap clocks;
  clocks.add(3, {1000, 50000});
  clocks.add(3, {21000, 60000});
  clocks.add(4, {0, 50000});
  clocks.add(4, {30000, 60000});
  clocks.settle(9);
  EXPECT_TRUE(clocks.is_measured());
  EXPECT_EQ(clocks.time(3, 11000), 55000u);
  EXPECT_EQ(clocks.time(4, 15000), 55000u);
}

TEST(ClockMap, a_short_span_takes_the_rate_of_the_longest) {
  ClockMap clocks;
  clocks.add(0, {0, 1000});
  clocks.add(0, {40000, 21000});
  clocks.add(1, {500, 7000});
  clocks.add(1, {700, 7032});
  clocks.settle(9);
  EXPECT_EQ(clocks.time(1, 600), 7050u);
}

TEST(ClockMap, without_a_span_the_nominal_rate_counts) {
  ClockMap clocks;
  clocks.add(0, {100, 1000});
  clocks.settle(2);
  EXPECT_FALSE(clocks.is_measured());
  EXPECT_EQ(clocks.time(0, 300), 1100u);
  EXPECT_EQ(clocks.time(0, 80), 990u);
}

TEST(Decode, clocks_of_40_bits_go_on_after_their_wrap) {
  const uint64_t begin = (uint64_t{7} << 40) - 1000;
  Memory memory(1, 4);
  memory.open(0, 0, begin, begin + 100000);
  memory.add(RecordKind::Marks, (begin + 3000) & ((uint64_t{1} << 40) - 1));
  const Decoded decoded = memory.decode();
  ASSERT_EQ(decoded.events.size(), 1u);
  EXPECT_EQ(decoded.events[0].t, 1000 + begin / 2 + 1500);
}

TEST(Decode, records_longer_apart_than_a_clock_goes_round_are_an_error) {
  Memory memory(1, 4);
  memory.open(2, 1, 0, uint64_t{1} << 41);
  memory.add(RecordKind::Marks, 3000);
  EXPECT_NE(memory.decode().error.find("CTA 2, warp 1"), std::string::npos);
}

TEST(Decode, a_wait_is_one_event_with_the_ring_stage_and_part) {
  Memory memory(1, 8);
  memory.open(5, 2, 0, 100000);
  memory.add(RecordKind::Ring, 10, 100, 103 | 3 << 16);
  memory.add(RecordKind::WaitBegins, 200, 104, 1, 1);
  memory.add(RecordKind::WaitEnds, 400, 104, 1, 1);
  memory.add(RecordKind::WaitPasses, 500, 102, 2, 0);
  memory.add(RecordKind::WaitPasses, 600, 106, 0, 0);
  const Decoded decoded = memory.decode();
  ASSERT_EQ(decoded.events.size(), 3u);
  const Event& waited = decoded.events[0];
  EXPECT_EQ(waited.t, 1100u);
  EXPECT_EQ(waited.end, 1200u);
  EXPECT_TRUE(waited.waited && waited.has_end && waited.is_empty);
  EXPECT_EQ(waited.stage, 1u);
  EXPECT_EQ(waited.barrier, 832u);
  EXPECT_EQ(waited.cta, 5u);
  EXPECT_EQ(waited.warp, 2u);
  EXPECT_FALSE(decoded.events[1].waited || decoded.events[1].is_empty);
  EXPECT_EQ(decoded.events[1].stage, 2u);
  EXPECT_EQ(decoded.events[2].ring, -1) << "the barrier behind the ring belongs to none";
}

TEST(Decode, barriers_made_anew_belong_to_the_newer_ring) {
  Memory memory(1, 8);
  memory.open(0, 0, 0, 100000);
  memory.add(RecordKind::Ring, 10, 100, 104 | 4 << 16);
  memory.add(RecordKind::WaitPasses, 20, 102, 0, 0);
  memory.add(RecordKind::Ring, 30, 100, 102 | 2 << 16);
  memory.add(RecordKind::WaitPasses, 40, 102, 0, 0);
  const Decoded decoded = memory.decode();
  ASSERT_EQ(decoded.rings.size(), 2u);
  ASSERT_EQ(decoded.events.size(), 2u);
  EXPECT_FALSE(decoded.events[0].is_empty);
  EXPECT_TRUE(decoded.events[1].is_empty);
  EXPECT_NE(decoded.events[0].ring, decoded.events[1].ring);
}

TEST(Decode, a_wait_that_never_went_on_has_no_end) {
  Memory memory(1, 8);
  memory.open(0, 0, 0, 0);
  memory.add(RecordKind::WaitBegins, 20, 102, 0, 0);
  const Decoded decoded = memory.decode();
  ASSERT_EQ(decoded.events.size(), 1u);
  EXPECT_FALSE(decoded.events[0].has_end);
  EXPECT_EQ(decoded.left_out, 0u);
  EXPECT_FALSE(decoded.is_clock_measured);
}

TEST(Decode, what_had_no_room_is_counted_and_half_a_wait_is_none) {
  Memory memory(2, 2);
  memory.open(0, 0, 0, 100000);
  memory.add(RecordKind::WaitPasses, 10, 102, 0, 0);
  memory.add(RecordKind::WaitBegins, 20, 102, 1, 1);
  memory.add(RecordKind::WaitEnds, 30, 102, 1, 1);
  const Decoded decoded = memory.decode({}, 5, 7);
  ASSERT_EQ(decoded.events.size(), 1u);
  EXPECT_EQ(decoded.left_out, 7u + 1 + 1);
}

TEST(Trip, forms_and_trips_are_what_they_were_before_they_became_bits) {
  const TripForm form{TripForm::Named, 0x1fffff, 7, true, TripForm::kMaxRing};
  const TripForm same = TripForm::of(form.bits());
  EXPECT_EQ(same.arrival, form.arrival);
  EXPECT_EQ(same.payload, form.payload);
  EXPECT_EQ(same.lag, form.lag);
  EXPECT_EQ(same.waits_for_full, form.waits_for_full);
  EXPECT_EQ(same.ring, form.ring);
  const Trip trip{0xfffff, 0x7ffff, 0x7fffe};
  const Cell bits = trip.bits(TripForm::kMaxRing);
  EXPECT_EQ(Trip::ring_of(bits), TripForm::kMaxRing);
  EXPECT_EQ(Trip::of(bits).since, trip.since);
  EXPECT_EQ(Trip::of(bits).wait, trip.wait);
  EXPECT_EQ(Trip::of(bits).hold, trip.hold);
  EXPECT_TRUE(trip.fits());
  for (const Trip& longer : {Trip{0x100000, 0, 0}, Trip{0, 0x80000, 0}, Trip{0, 0, 0x80000}})
    EXPECT_FALSE(longer.fits());
}

/// A slice of a ring of 3 stages with its full barriers at 100, in CTA 0.
Memory ring_memory(uint32_t records, uint64_t end = 100000) {
  Memory memory(1, records);
  memory.open(0, 0, 0, end);
  memory.add(RecordKind::Ring, 10, 100, 103 | 3 << 16);
  return memory;
}

TEST(Decode, a_trip_is_a_wait_and_an_arrival) {
  Memory memory = ring_memory(8);
  memory.add(RecordKind::Trips, 1000, 100, 2, TripForm{TripForm::Here, 32, 0, true, 1}.bits());
  memory.add(1, Trip{0, 200, 300});
  memory.add(1, Trip{400, 0, 100});
  const Decoded decoded = memory.decode();
  ASSERT_EQ(decoded.error, "");
  ASSERT_EQ(decoded.events.size(), 4u);
  const Event& wait = decoded.events[0];
  EXPECT_EQ(wait.t, 1250u);
  EXPECT_EQ(wait.end, 1350u);
  EXPECT_TRUE(wait.kind == EventKind::Wait && wait.waited && wait.has_end && !wait.is_empty);
  EXPECT_EQ(wait.stage, 2u);
  EXPECT_EQ(wait.phase, 0);
  const Event& arrival = decoded.events[1];
  EXPECT_EQ(arrival.t, 1500u);
  EXPECT_TRUE(arrival.kind == EventKind::Arrive && arrival.is_empty);
  EXPECT_EQ(arrival.stage, 2u);
  EXPECT_EQ(arrival.phase, 0);
  EXPECT_EQ(arrival.count, 32u);
  // The next stage is the first one, in its next phase.
  EXPECT_EQ(decoded.events[2].t, 1650u);
  EXPECT_EQ(decoded.events[2].end, 1650u);
  EXPECT_FALSE(decoded.events[2].waited);
  EXPECT_EQ(decoded.events[2].stage, 0u);
  EXPECT_EQ(decoded.events[2].phase, 1);
  EXPECT_EQ(decoded.events[2].parity, 1u);
  EXPECT_EQ(decoded.events[3].t, 1700u);
}

TEST(Decode, a_trip_of_a_producer_waits_for_the_phase_before) {
  Memory memory = ring_memory(8);
  memory.add(RecordKind::Trips, 1000, 100, 0, TripForm{TripForm::Arms, 4096, 0, false, 0}.bits());
  memory.add(0, Trip{0, 0, 300});
  const Decoded decoded = memory.decode();
  ASSERT_EQ(decoded.events.size(), 2u);
  EXPECT_TRUE(decoded.events[0].is_empty);
  EXPECT_EQ(decoded.events[0].phase, -1);
  EXPECT_EQ(decoded.events[0].parity, 1u);
  EXPECT_FALSE(decoded.events[1].is_empty);
  EXPECT_EQ(decoded.events[1].phase, 0);
  EXPECT_EQ(decoded.events[1].bytes, 4096u);
  EXPECT_EQ(decoded.events[1].count, 1u);
}

TEST(Decode, a_trip_may_hand_on_an_earlier_stage_or_none) {
  Memory memory = ring_memory(8);
  memory.add(RecordKind::Trips, 1000, 100, 3, TripForm{TripForm::Here, 32, 1, true, 0}.bits());
  memory.add(0, Trip{0, 0, 10});
  memory.add(RecordKind::Trips, 2000, 100, 4, TripForm{TripForm::Nothing, 0, 0, true, 0}.bits());
  memory.add(0, Trip{0, 0, 10});
  const Decoded decoded = memory.decode();
  ASSERT_EQ(decoded.events.size(), 3u);
  EXPECT_EQ(decoded.events[0].stage, 0u);
  EXPECT_EQ(decoded.events[0].phase, 1);
  EXPECT_EQ(decoded.events[1].stage, 2u);
  EXPECT_EQ(decoded.events[1].phase, 0);
  EXPECT_EQ(decoded.events[2].kind, EventKind::Wait);
}

TEST(Decode, trips_of_two_rings_follow_each_other_in_one_slice) {
  Memory memory = ring_memory(8);
  memory.add(RecordKind::Ring, 20, 200, 202 | 2 << 16);
  memory.add(RecordKind::Trips, 1000, 100, 0, TripForm{TripForm::Here, 1, 0, true, 0}.bits());
  memory.add(0, Trip{0, 0, 0});
  memory.add(RecordKind::Trips, 1010, 200, 5, TripForm{TripForm::Here, 1, 0, true, 1}.bits());
  memory.add(1, Trip{0, 0, 0});
  memory.add(0, Trip{10, 0, 0});
  const Decoded decoded = memory.decode();
  ASSERT_EQ(decoded.events.size(), 6u);
  EXPECT_EQ(decoded.events[4].ring, 0);
  EXPECT_EQ(decoded.events[4].stage, 1u);
  EXPECT_EQ(decoded.events[2].ring, 1);
  EXPECT_EQ(decoded.events[2].stage, 1u);
  EXPECT_EQ(decoded.events[2].phase, 2);
}

TEST(Decode, trips_of_what_no_record_tells_of_are_an_error) {
  Memory no_form = ring_memory(8);
  no_form.add(0, Trip{0, 0, 0});
  EXPECT_NE(no_form.decode().error.find("missing before a trip"), std::string::npos);
  Memory no_ring(1, 8);
  no_ring.open(0, 0, 0, 100000);
  no_ring.add(RecordKind::Trips, 10, 100, 0, TripForm{TripForm::Here, 1, 0, true, 0}.bits());
  EXPECT_NE(no_ring.decode().error.find("ring that no record tells of"), std::string::npos);
}

TEST(Decode, trips_that_had_no_room_are_counted) {
  Memory memory = ring_memory(3);
  memory.add(RecordKind::Trips, 1000, 100, 0, TripForm{TripForm::Here, 32, 0, true, 0}.bits());
  for (int i = 0; i < 5; ++i) memory.add(0, Trip{100, 0, 0});
  const Decoded decoded = memory.decode();
  EXPECT_EQ(decoded.events.size(), 4u);
  EXPECT_EQ(decoded.left_out, 3u);
}

TEST(Decode, a_release_in_a_cluster_is_one_event_per_target) {
  Launched launched;
  launched.grid = {4, 4, 1};
  launched.cluster = {2, 2, 1};
  Memory memory(1, 4);
  memory.open(10, 0, 0, 100000);  // x 2, y 2: rank 0 of its cluster
  memory.add(RecordKind::Arrives, 10, 64, 0, Arrival::at(0b1101, 1));
  memory.add(RecordKind::Arrives, 20, 64, 1, Arrival::here(96));
  const Decoded decoded = memory.decode(launched);
  ASSERT_EQ(decoded.events.size(), 4u);
  EXPECT_EQ(decoded.events[0].of, 10u);
  EXPECT_EQ(decoded.events[1].of, 14u);
  EXPECT_EQ(decoded.events[2].of, 15u);
  EXPECT_EQ(decoded.events[2].count, 1u);
  EXPECT_EQ(decoded.events[3].count, 96u);
  EXPECT_EQ(decoded.events[3].of, 10u);
}

TEST(Decode, bytes_are_those_of_all_lanes) {
  Memory memory(1, 4);
  memory.open(0, 0, 0, 100000);
  memory.add(RecordKind::Arms, 10, 64, 0, 1000 | 2 << 24);
  memory.add(RecordKind::Expects, 20, 64, 0, 500 | 1 << 24);
  const Decoded decoded = memory.decode();
  ASSERT_EQ(decoded.events.size(), 2u);
  EXPECT_EQ(decoded.events[0].bytes, 2000u);
  EXPECT_EQ(decoded.events[0].count, 2u);
  EXPECT_EQ(decoded.events[1].bytes, 500u);
  EXPECT_EQ(decoded.events[1].count, 0u);
}

TEST(Decode, a_parity_that_does_not_fit_its_phase_is_an_error) {
  Memory memory(1, 4);
  memory.open(3, 1, 0, 100000);
  memory.add(RecordKind::WaitPasses, 10, 64, 0, 1);
  EXPECT_NE(memory.decode().error.find("CTA 3, warp 1 waits for parity 1"), std::string::npos);
}

TEST(Decode, events_of_all_warps_are_in_the_order_of_time) {
  Memory memory(2, 4);
  memory.open(0, 0, 0, 100000);
  memory.add(RecordKind::Marks, 500);
  memory.open(0, 1, 0, 100000);
  memory.add(RecordKind::Marks, 100);
  const Decoded decoded = memory.decode();
  ASSERT_EQ(decoded.events.size(), 2u);
  EXPECT_EQ(decoded.events[0].warp, 1u);
}

TEST(TraceFile, has_a_header_launches_and_their_ends) {
  Launched launched;
  launched.kernel = "a \"kernel\"<\\>\n";
  launched.grid = {9, 1, 1};
  Memory memory(1, 8);
  memory.open(0, 0, 0, 100000);
  memory.add(RecordKind::Ring, 10, 100, 103 | 3 << 16);
  memory.add(RecordKind::WaitPasses, 20, 103, 0xffffffff, 1);
  memory.add(RecordKind::Arms, 40, 100, 0, 64 | 1 << 24);
  memory.add(RecordKind::Names, 50, 100, 'f' | 'u' << 8 | 'l' << 16 | 'l' << 24, '0');
  const std::string text = trace_text({memory.decode(launched)}, {"./app", "x"});
  EXPECT_EQ(
      text,
      R"({"format":"sluice-trace","version":1,"source":"gpu","clock":"ns","about":"%globaltimer in nanoseconds, )"
      R"(from clocks of the SMs that were read next to it","program":["./app","x"]})"
      "\n"
      R"({"kind":"launch","launch":0,"kernel":"a \"kernel\"<\\>\u000a","grid":[9,1,1],"block":[1,1,1],)"
      R"("cluster":[1,1,1],"ctas":[0,1,2,3,4,5,6,7],"ctas_left_out":1})"
      "\n"
      R"({"kind":"name","barrier":800,"name":"full0"})"
      "\n"
      R"({"kind":"wait","t":1010,"end":1010,"cta":0,"warp":0,"barrier":824,"phase":-1,"ring":0,"stage":0,)"
      R"("part":"empty","stages":3,"parity":1,"waited":false})"
      "\n"
      R"({"kind":"arrive","t":1020,"cta":0,"warp":0,"barrier":800,"phase":0,"ring":0,"stage":0,"part":"full",)"
      R"("stages":3,"count":1,"bytes":64})"
      "\n"
      R"({"kind":"end","t":1020,"failed":false,"left_out":0})"
      "\n");
}

}  // namespace
}  // namespace sluice::trace
