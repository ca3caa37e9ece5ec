// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The recorder in a kernel: notes with a time what the calling lanes do. Each thread has one, made at the top
// of the kernel from the buffer that the host gave; pipelines with Traced as their last template argument
// write into it, and calls by hand do for barriers that belong to no pipeline. Nothing is recorded from a CTA
// that the buffer leaves out. One lane writes for all that do something together; lanes of a warp that come
// apart write apart, and each that does needs a place (Extent::lanes_of_warp), or what it notes is counted as
// left out.
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
    Together const together(key_of(barrier, phase, count));
    note(together, RecordKind::Arrives, detail::barrier_place(barrier), static_cast<uint32_t>(phase),
         Arrival::here(count * together.count()));
  }
  /// Each calling lane arrives once at the barrier of the same place in the CTA of rank `rank`.
  SLUICE_DEVICE void arrives_at(uint64_t const* barrier, int phase, uint32_t rank) {
    Together const together(key_of(barrier, phase, rank));
    note(together, RecordKind::Arrives, detail::barrier_place(barrier), static_cast<uint32_t>(phase),
         Arrival::at(1u << rank, together.count()));
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
    Slice slice = slice_;
    write_wait(slice, buffer_, barrier, phase, parity, began, ended);
    slice_ = slice;
  }

  /// The same for a stage; kept until what follows it is known.
  SLUICE_DEVICE void waited_for_stage(uint32_t ring, uint16_t barrier, StageUse use, uint32_t parity,
                                      uint64_t began, uint64_t ended) {
    finish_wait();
    wait_ = {began, ended, use, ring, parity, barrier, true};
  }

  /// An arrival that hands a stage on, as a trip tells it (`form` without its lag, or kNoForm) and as a
  /// record does (`kind` None: there is none).
  struct Handing {
    static constexpr uint32_t kNoForm = UINT32_MAX;

    uint32_t form;
    RecordKind kind;
    uint32_t b;
  };

  /// The next trip of a ring, if it is like the last one.
  struct NextTrip {
    uint32_t form = Handing::kNoForm - 1;
    uint32_t count = 0;
    uint32_t parity = 0;
    uint32_t wait_index = 0;
    uint32_t arrival_index = 0;
  };

  /// The calling lane hands a stage of ring `ring` on.
  SLUICE_DEVICE void hands_on(uint32_t ring, uint16_t barrier, StageUse use, Handing const& handing,
                              NextTrip& next) {
    uint64_t const now = detail::sm_clock();
    Trip const trip{now - slice_.last, wait_.ended - wait_.began, now - wait_.ended};
    uint32_t const form = handing.form | (wait_.use.count - use.count) << TripForm::kLagShift;
    // No branches: this is the way of nearly all.
    bool const is_like = (wait_.is_there & (wait_.ring == ring) & (form == next.form)) &
                         ((wait_.use.count == next.count) & (wait_.parity == next.parity)) &
                         ((wait_.use.index == next.wait_index) & (use.index == next.arrival_index));
    if (is_like & trip.fits() & (slice_.left != 0)) {
      --slice_.left;
      ++slice_.made;
      slice_.last = now;
      detail::store_cached(slice_.next++, trip.bits(ring));
      wait_.is_there = false;
      step(next, use.stages);
    } else {
      Slice slice = slice_;
      NextTrip after = next;
      if (write_handing(slice, buffer_, wait_, {ring, barrier, use, handing, now}, after))
        wait_.is_there = false;
      slice_ = slice;
      next = after;
    }
  }

 private:
  using Together = detail::Together<false>;

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
    Together const together(key_of(barrier, phase, bytes));
    note(together, kind, detail::barrier_place(barrier), static_cast<uint32_t>(phase),
         bytes | together.count() << 24);
  }

  SLUICE_DEVICE void note(RecordKind kind, uint16_t half, uint32_t a, uint32_t b) {
    note(Together(half | a << 16), kind, half, a, b);
  }
  SLUICE_DEVICE void note(Together const& together, RecordKind kind, uint16_t half, uint32_t a, uint32_t b) {
    if (speaks_for(together.alike())) write(kind, half, a, b, detail::sm_clock());
  }

  /// Lanes that do the same at a barrier have the same key.
  SLUICE_DEVICE static uint32_t key_of(uint64_t const* barrier, int phase, uint32_t what) {
    return (detail::barrier_place(barrier) | static_cast<uint32_t>(phase) << 16) + what * 0x9e3779b9u;
  }

  /// A wait for a stage that nothing has followed yet.
  struct LastWait {
    uint64_t began, ended;
    StageUse use;
    uint32_t ring;
    uint32_t parity;
    uint16_t barrier;
    bool is_there;
  };

  /// Nothing followed it that would make it a trip.
  SLUICE_DEVICE void finish_wait() {
    if (!wait_.is_there) return;
    wait_.is_there = false;
    waited(wait_.barrier, wait_.use.awaited_phase(), wait_.parity, wait_.began, wait_.ended);
  }

  SLUICE_DEVICE static void step(NextTrip& next, uint32_t stages) {
    ++next.count;
    if (++next.arrival_index == stages) next.arrival_index = 0;
    if (++next.wait_index == stages) {
      next.wait_index = 0;
      next.parity ^= 1;
    }
  }

  /// What a lane has written, and the room that it still has. Functions that are not inlined get a copy, so
  /// that the slice itself can stay in registers.
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
    Slice slice = slice_;
    write_record(slice, buffer_, head_of(kind, half), a, b, now);
    slice_ = slice;
  }

  SLUICE_DEVICE_COLD static void write_wait(Slice& slice, Buffer buffer, uint16_t barrier, uint32_t phase,
                                            uint32_t parity, uint64_t began, uint64_t ended) {
    if (began == ended) {
      write_record(slice, buffer, head_of(RecordKind::WaitPasses, barrier), phase, parity, ended);
    } else {
      write_record(slice, buffer, head_of(RecordKind::WaitBegins, barrier), phase, parity, began);
      write_record(slice, buffer, head_of(RecordKind::WaitEnds, barrier), phase, parity, ended);
    }
  }

  /// Where and when a stage is handed on.
  struct HandedOn {
    uint32_t ring;
    uint16_t barrier;
    StageUse use;
    Handing handing;
    uint64_t now;
  };

  /// Writes what is not like the trip before: a trip with a record before it, or the arrival alone. True
  /// where the wait is told with it.
  SLUICE_DEVICE_COLD static bool write_handing(Slice& slice, Buffer buffer, LastWait wait, HandedOn on,
                                               NextTrip& next) {
    uint32_t const lag = wait.use.count - on.use.count;
    Trip const trip{0, wait.ended - wait.began, on.now - wait.ended};
    bool const is_trip = wait.is_there && on.handing.form != Handing::kNoForm && wait.ring == on.ring &&
                         on.ring <= TripForm::kMaxRing && wait.use.is_full != on.use.is_full &&
                         lag <= TripForm::kMaxLag && wait.use.is_regular() && on.use.is_regular() &&
                         (wait.use.awaited_phase() & 1) == wait.parity && trip.fits();
    if (!is_trip) {
      if (on.handing.kind != RecordKind::None)
        write_record(slice, buffer, head_of(on.handing.kind, on.barrier), on.use.use(), on.handing.b, on.now);
      return false;
    }
    if (slice.has_asked && slice.left == 0) {
      ++slice.made;
      ++slice.lost;
      return true;
    }
    next = {on.handing.form | lag << TripForm::kLagShift, wait.use.count, wait.parity, wait.use.index,
            on.use.index};
    uint32_t const first = on.use.is_full ? on.barrier - on.use.index : wait.barrier - wait.use.index;
    write_record(slice, buffer, head_of(RecordKind::Trips, static_cast<uint16_t>(first)), next.count,
                 next.form, on.now);
    ++slice.made;
    if (slice.left != 0) {
      --slice.left;
      detail::store_cached(slice.next++, trip.bits(on.ring));
    } else {
      ++slice.lost;
    }
    step(next, on.use.stages);
    return true;
  }

  /// Bits 32 to 63 of a record, without its clock.
  SLUICE_DEVICE static uint32_t head_of(RecordKind kind, uint16_t half) {
    return half | static_cast<uint32_t>(kind) << 24;
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
    detail::store_cached(slice.next++,
                         Cell{static_cast<uint32_t>(now)} | (Cell{head} | (now >> 32 & 0xff) << 16) << 32);
    detail::store_cached(slice.next++, a | Cell{b} << 32);
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
