// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The recorder in a kernel: notes with a time what the calling lanes do. Each thread has one, made at the top
// of the kernel from the buffer that the host gave; pipelines with Traced as their last template argument
// write into it, and calls by hand do for barriers that belong to no pipeline. Nothing is recorded from a CTA
// that the buffer leaves out.
//
//   __global__ void kernel(..., sluice::trace::Buffer buffer) {
//     sluice::trace::Recorder recorder(buffer);
//     sluice::PipelineTmaAsync<3, sluice::Traced> pipeline(storage, params, shape);
//     pipeline.record_in(recorder);
//     auto role = recorder.role("producer");
//
// Time is the SM's clock. Each lane that records reads it together with %globaltimer when it begins and when
// it ends, and the host turns the first into the second.
#pragma once

#include "sluice/trace/thread.hpp"
#include "sluice/trace/trip.hpp"

namespace sluice::trace {

class Recorder;

/// A role that ends with this object's life.
class Role {
 public:
  SLUICE_DEVICE explicit Role(Recorder* recorder) : recorder_(recorder) {}
  Role(Role const&) = delete;
  Role& operator=(Role const&) = delete;
  SLUICE_DEVICE ~Role();

 private:
  Recorder* recorder_;
};

/// Notes what a thread does. One per thread; lives as long as what writes into it.
class Recorder {
 public:
  SLUICE_DEVICE explicit Recorder(Buffer const& buffer)
      : buffer_(buffer), is_on_(detail::linear_cta() - buffer.first_cta < buffer.ctas) {}
  Recorder(Recorder const&) = delete;
  Recorder& operator=(Recorder const&) = delete;

  /// Closes what this lane has recorded. Each thread, by returning.
  SLUICE_DEVICE ~Recorder() {
    finish_wait();
    if (slice_.made != 0) close(slice_, buffer_.head);
  }

  /// Until the result's life ends the calling lanes have this role. A name has at most ten letters.
  template <int Size>
  [[nodiscard]] SLUICE_DEVICE Role role(char const (&name)[Size]) {
    begin_role(name);
    return Role(this);
  }

  /// The same as two calls.
  template <int Size>
  SLUICE_DEVICE void begin_role(char const (&name)[Size]) {
    note_name(RecordKind::RoleBegins, name);
  }
  SLUICE_DEVICE void end_role() { note(RecordKind::RoleEnds, 0, 0, 0); }

  /// A word at this moment, of at most ten letters.
  template <int Size>
  SLUICE_DEVICE void mark(char const (&name)[Size]) {
    note_name(RecordKind::Marks, name);
  }

  /// The barriers of a ring: from here on they have a ring, a stage and a part. Both arrays have `stages`
  /// barriers. The result is the ring's number in this recorder.
  SLUICE_DEVICE uint32_t ring(uint64_t const* full, uint64_t const* empty, uint32_t stages) {
    note(RecordKind::Ring, detail::barrier_place(full), detail::barrier_place(empty) | stages << 16, 0);
    return rings_++;
  }

  /// What a barrier is called, in at most eight letters.
  template <int Size>
  SLUICE_DEVICE void name(uint64_t const* barrier, char const (&name)[Size]) {
    static_assert(Size <= 9, "sluice: a barrier's name in a trace has at most 8 letters");
    note(RecordKind::Names, detail::barrier_place(barrier), detail::letters(name, 0, 4),
         detail::letters(name, 4, 4));
  }

  // Barriers by hand. `phase` counts the phases of the barrier from 0; -1 is the one before the first, for
  // which a wait returns at once. A call notes what its lanes do next to it, and does nothing else.

  /// A wait that did not have to wait, or one that has just ended without wait_begins.
  SLUICE_DEVICE void wait_passes(uint64_t const* barrier, int phase) {
    note_wait(RecordKind::WaitPasses, barrier, phase);
  }
  /// Before and after a wait that has to wait; by the same lanes.
  SLUICE_DEVICE void wait_begins(uint64_t const* barrier, int phase) {
    note_wait(RecordKind::WaitBegins, barrier, phase);
  }
  SLUICE_DEVICE void wait_ends(uint64_t const* barrier, int phase) {
    note_wait(RecordKind::WaitEnds, barrier, phase);
  }
  /// Each calling lane arrives `count` times.
  SLUICE_DEVICE void arrives(uint64_t const* barrier, int phase, uint32_t count = 1) {
    note(RecordKind::Arrives, detail::barrier_place(barrier), static_cast<uint32_t>(phase),
         Arrival::here(count * detail::count_lanes(detail::active_lanes())));
  }
  /// Each calling lane arrives once at the barrier of the same place in the CTA of rank `rank`.
  SLUICE_DEVICE void arrives_at(uint64_t const* barrier, int phase, uint32_t rank) {
    note(RecordKind::Arrives, detail::barrier_place(barrier), static_cast<uint32_t>(phase),
         Arrival::at(1u << rank, detail::count_lanes(detail::active_lanes())));
  }
  /// Each calling lane announces bytes and arrives.
  SLUICE_DEVICE void arms(uint64_t const* barrier, int phase, uint32_t bytes) {
    note_bytes(RecordKind::Arms, barrier, phase, bytes);
  }
  /// Each calling lane announces bytes.
  SLUICE_DEVICE void expects(uint64_t const* barrier, int phase, uint32_t bytes) {
    note_bytes(RecordKind::Expects, barrier, phase, bytes);
  }
  /// Around a wait for bulk groups of stores, and with their commit.
  SLUICE_DEVICE void store_wait_begins() { note(RecordKind::StoreWaitBegins, 0, 0, 0); }
  SLUICE_DEVICE void store_wait_ends() { note(RecordKind::StoreWaitEnds, 0, 0, 0); }
  SLUICE_DEVICE void commits_stores(uint32_t bytes) { note(RecordKind::CommitsStores, 0, bytes, 0); }

  // For pipelines. Of the lanes that do something together one speaks for all.

  /// Does the calling lane speak for `lanes`, those that call it?
  SLUICE_DEVICE bool speaks_for(uint32_t lanes) const { return is_on_ && detail::is_lowest_of(lanes); }

  /// A wait that began at `began` and went on at `ended`; equal where it did not have to wait.
  SLUICE_DEVICE void waited(uint16_t barrier, uint32_t phase, uint32_t parity, uint64_t began,
                            uint64_t ended) {
    if (began == ended) {
      write(RecordKind::WaitPasses, barrier, phase, parity, ended);
    } else {
      write(RecordKind::WaitBegins, barrier, phase, parity, began);
      write(RecordKind::WaitEnds, barrier, phase, parity, ended);
    }
  }

  /// The same for a stage; kept until what follows it is known.
  SLUICE_DEVICE void waited_for_stage(uint32_t ring, uint16_t barrier, StageUse use, uint32_t parity,
                                      uint64_t began, uint64_t ended) {
    finish_wait();
    uint32_t const phase = use.awaited_phase();
    bool const is_regular = use.is_regular() && (phase & 1) == parity;
    wait_ = {began, ended, use.count, phase, parity, ring, barrier, use.index, use.is_full, is_regular, true};
  }

  /// An arrival as a trip and as a record tell it. No form: it is only a record; no kind: there is none.
  struct Handing {
    bool has_form;
    TripForm::Arrival arrival;
    uint32_t payload;
    RecordKind kind;
    uint32_t b;
  };

  /// What the next trip of a ring is compared with.
  struct NextTrip {
    uint32_t count = 0;
    uint32_t form = UINT32_MAX;
  };

  /// The calling lane hands a stage on.
  SLUICE_DEVICE void hands_on(uint32_t ring, uint16_t barrier, StageUse use, Handing const& handing,
                              NextTrip& next) {
    uint64_t const now = detail::sm_clock();
    if (ends_trip(ring, use, handing, now)) {
      write_trip(barrier, use, handing, next, now);
    } else if (handing.kind != RecordKind::None) {
      write(handing.kind, barrier, use.use(), handing.b, now);
    }
  }

 private:
  template <int Size>
  SLUICE_DEVICE void note_name(RecordKind kind, char const (&name)[Size]) {
    static_assert(Size <= 11, "sluice: a name in a trace has at most 10 letters");
    note(kind, static_cast<uint16_t>(detail::letters(name, 0, 2)), detail::letters(name, 2, 4),
         detail::letters(name, 6, 4));
  }

  SLUICE_DEVICE void note_wait(RecordKind kind, uint64_t const* barrier, int phase) {
    note(kind, detail::barrier_place(barrier), static_cast<uint32_t>(phase),
         static_cast<uint32_t>(phase & 1));
  }

  SLUICE_DEVICE void note_bytes(RecordKind kind, uint64_t const* barrier, int phase, uint32_t bytes) {
    note(kind, detail::barrier_place(barrier), static_cast<uint32_t>(phase),
         bytes | detail::count_lanes(detail::active_lanes()) << 24);
  }

  SLUICE_DEVICE void note(RecordKind kind, uint16_t half, uint32_t a, uint32_t b) {
    if (speaks_for(detail::active_lanes())) write(kind, half, a, b, detail::sm_clock());
  }

  /// A wait for a stage that nothing has followed yet.
  struct LastWait {
    uint64_t began, ended;
    uint32_t count, phase, parity;
    uint32_t ring;
    uint16_t barrier;
    uint32_t index;
    bool is_full;
    bool is_regular;  ///< count, index and parity fit each other
    bool is_there;
  };

  /// Nothing followed it that would make it a trip.
  SLUICE_DEVICE void finish_wait() {
    if (!wait_.is_there) return;
    wait_.is_there = false;
    waited(wait_.barrier, wait_.phase, wait_.parity, wait_.began, wait_.ended);
  }

  /// Do the last wait and this arrival make a trip?
  SLUICE_DEVICE bool ends_trip(uint32_t ring, StageUse use, Handing const& handing, uint64_t now) const {
    return wait_.is_there && handing.has_form && wait_.ring == ring && ring <= TripForm::kMaxRing &&
           wait_.is_full != use.is_full && wait_.count - use.count <= TripForm::kMaxLag && wait_.is_regular &&
           use.is_regular() && Trip::fits(wait_.ended - wait_.began, now - wait_.ended);
  }

  SLUICE_DEVICE void write_trip(uint16_t barrier, StageUse use, Handing const& handing, NextTrip& next,
                                uint64_t now) {
    TripForm const form{handing.arrival, handing.payload, wait_.count - use.count, wait_.is_full, wait_.ring};
    if (wait_.count != next.count || form.bits() != next.form || !Trip::fits_since(now - slice_.last)) {
      uint32_t const first = use.is_full ? barrier - use.index : wait_.barrier - wait_.index;
      write(RecordKind::Trips, static_cast<uint16_t>(first), wait_.count, form.bits(), now);
    }
    wait_.is_there = false;
    next = {wait_.count + 1, form.bits()};
    Trip const trip{now - slice_.last, wait_.ended - wait_.began, now - wait_.ended};
    slice_.last = now;
    ++slice_.made;
    if (slice_.left != 0) {
      --slice_.left;
      *slice_.next++ = trip.bits(wait_.ring);
    } else {
      ++slice_.lost;
    }
  }

  /// What a lane has written, and the room that it still has.
  struct Slice {
    SliceHead* head = nullptr;
    Cell* next = nullptr;
    uint64_t last = 0;       ///< clock of the last record or trip
    uint32_t left = 0;       ///< cells
    uint32_t made = 0;       ///< records and trips
    uint32_t lost = 0;       ///< of them, for want of room
    bool has_asked = false;  ///< for a slice
  };

  SLUICE_DEVICE void write(RecordKind kind, uint16_t half, uint32_t a, uint32_t b, uint64_t now) {
    // A copy, so that the slice itself can stay in registers.
    Slice slice = slice_;
    write_record(slice, buffer_, half | static_cast<uint32_t>(kind) << 24, a, b, now);
    slice_ = slice;
  }

  SLUICE_DEVICE_COLD static void write_record(Slice& slice, Buffer buffer, uint32_t head, uint32_t a,
                                              uint32_t b, uint64_t now) {
    if (!slice.has_asked) open(slice, buffer);
    slice.last = now;
    ++slice.made;
    if (slice.left < kRecordCells) {
      slice.left = 0;
      ++slice.lost;
      return;
    }
    slice.left -= kRecordCells;
    *slice.next++ = Cell{static_cast<uint32_t>(now)} | (Cell{head} | (now >> 32 & 0xff) << 16) << 32;
    *slice.next++ = a | Cell{b} << 32;
  }

  /// Takes a slice, where one is left.
  SLUICE_DEVICE static void open([[maybe_unused]] Slice& slice, [[maybe_unused]] Buffer const& buffer) {
#if defined(__CUDA_ARCH__)
    slice.has_asked = true;
    uint32_t const number = atomicAdd(&buffer.head->taken, 1u);
    if (number >= buffer.slices) return;
    SliceHead* const head = buffer.slice(number);
    head->cta = detail::linear_cta();
    head->warp = detail::linear_thread() / kThreadsPerWarp;
    head->lane = detail::linear_thread() % kThreadsPerWarp;
    head->sm = detail::sm_number();
    head->is_taken = 1;
    head->begin = detail::moment();
    slice.head = head;
    slice.next = reinterpret_cast<Cell*>(head + 1);
    slice.left = buffer.slice_records * kRecordCells;
#endif
  }

  SLUICE_DEVICE_COLD static void close([[maybe_unused]] Slice slice, [[maybe_unused]] BufferHead* buffer) {
#if defined(__CUDA_ARCH__)
    SliceHead* const head = slice.head;
    if (head == nullptr) {
      atomicAdd(reinterpret_cast<unsigned long long*>(&buffer->lost), slice.made);
      return;
    }
    head->count = slice.made;
    head->lost = slice.lost;
    head->cells = static_cast<uint32_t>(slice.next - reinterpret_cast<Cell*>(head + 1));
    head->end = detail::moment();
#endif
  }

  Buffer buffer_;
  Slice slice_;
  uint32_t rings_ = 0;  ///< told so far
  LastWait wait_{};
  bool is_on_;
};

SLUICE_DEVICE Role::~Role() {
  recorder_->end_role();
}

}  // namespace sluice::trace
