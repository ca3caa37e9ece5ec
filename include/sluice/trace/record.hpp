// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What lies in a trace buffer between the kernel that writes it and the host that reads it: slices, each a
// sequence of cells of 8 bytes. A slice belongs to one lane, the lowest of those that act together, so that
// writing needs neither atomics nor a look at what others do. It is taken with the first record.
//
// A record fills two cells. A trip, which is what a warp does with one stage, fills one: recording costs a
// kernel what it costs to write the buffer to memory, and nothing else that can be measured. trip.hpp has it.
#pragma once

#include "sluice/arch/config.hpp"

namespace sluice::trace {

/// What a record tells. `half`, `a` and `b` are the members of Record that are free for it.
enum class RecordKind : uint8_t {
  None,
  Ring,             ///< a ring exists: half full barriers, a empty barriers | stages << 16
  RoleBegins,       ///< a name of up to ten letters in half, a, b
  RoleEnds,         ///
  WaitPasses,       ///< half barrier, a phase, b parity: the wait did not have to wait
  WaitBegins,       ///< the same: it has to
  WaitEnds,         ///< the same: it went on
  Arrives,          ///< half barrier, a phase, b Arrival
  Arms,             ///< half barrier, a phase, b bytes of one lane | lanes << 24
  Expects,          ///< the same without an arrival
  StoreWaitBegins,  ///< waits until stores have read shared memory
  StoreWaitEnds,    ///
  CommitsStores,    ///< a bytes, 0 where they are not known
  Marks,            ///< a name like a role's
  Names,            ///< half barrier, its name of up to eight letters in a, b
  Trips,  ///< what the trips that follow are: half the ring's full barriers, a the count of the first, b
          ///< TripForm
};

/// One thing that happened. Barriers are shared addresses in units of 8 bytes, which 15 bits hold. The
/// highest bit of the first 64 is free: a trip has it.
struct Record {
  uint32_t clock;  ///< bits 0 to 31 of the SM's clock
  uint16_t half;
  uint8_t clock_8;  ///< bits 32 to 39
  RecordKind kind;
  uint32_t a;
  uint32_t b;
};
static_assert(sizeof(Record) == 16);

/// The unit of a slice.
using Cell = uint64_t;
inline constexpr uint32_t kRecordCells = sizeof(Record) / sizeof(Cell);

/// Record::b of an arrival: a count for this CTA; or, with kNamed, the cluster ranks of the targets in bits 0
/// to 15 and the count for each of them above.
struct Arrival {
  static constexpr uint32_t kNamed = 1u << 31;

  SLUICE_HOST_DEVICE static constexpr uint32_t here(uint32_t count) { return count; }
  SLUICE_HOST_DEVICE static constexpr uint32_t at(uint32_t ranks, uint32_t count) {
    return kNamed | count << 16 | ranks;
  }
};

/// The same moment on the SM's clock and on the GPU's timer.
struct Moment {
  uint64_t clock;  ///< cycles
  uint64_t time;   ///< nanoseconds
};

/// In front of a slice's records. A kernel that did not end leaves `end` and `count` 0.
struct alignas(128) SliceHead {
  uint32_t cta;
  uint32_t warp;
  uint32_t sm;
  uint32_t lane;
  Moment begin;
  Moment end;
  uint32_t count;  ///< records and trips made, those that had no room included
  uint32_t lost;   ///< those
  uint32_t cells;  ///< written
  uint32_t is_taken;
};
static_assert(sizeof(SliceHead) == 128);

/// In front of all slices.
struct alignas(128) BufferHead {
  uint32_t taken;  ///< slices that were asked for, which may be more than there are
  uint64_t lost;   ///< records that got no slice
};

/// A trace buffer as a kernel takes it, by value. The default records nothing.
struct Buffer {
  BufferHead* head = nullptr;
  uint32_t slices = 0;         ///< how many slices follow the head
  uint32_t slice_records = 0;  ///< records that a slice has room for
  uint32_t first_cta = 0;      ///< these CTAs are recorded, the others are not
  uint32_t ctas = 0;

  SLUICE_HOST_DEVICE static constexpr uint64_t slice_bytes(uint32_t records) {
    return sizeof(SliceHead) + (uint64_t{records} + 7) / 8 * 8 * sizeof(Record);  // whole lines
  }
  SLUICE_HOST_DEVICE static constexpr uint64_t bytes(uint32_t slices, uint32_t records) {
    return sizeof(BufferHead) + slices * slice_bytes(records);
  }
  SLUICE_HOST_DEVICE SliceHead* slice(uint32_t number) const {
    auto* const first = reinterpret_cast<unsigned char*>(head + 1);
    return reinterpret_cast<SliceHead*>(first + number * slice_bytes(slice_records));
  }
};

}  // namespace sluice::trace
