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

#include "sluice/arch/shared_address.hpp"
#include "sluice/trace/record.hpp"

namespace sluice::trace {

namespace detail {

SLUICE_DEVICE uint64_t sm_clock() {
  uint64_t now = 0;
  SLUICE_PTX("mov.u64 %0, %%clock64;" : "=l"(now)::"memory");
  return now;
}

SLUICE_DEVICE uint64_t global_timer() {
  uint64_t now = 0;
  SLUICE_PTX("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
  return now;
}

/// A moment at which the timer has just stepped on: it counts in steps of many cycles.
SLUICE_DEVICE Moment moment() {
  constexpr int kMostTries = 256;
  uint64_t const before = global_timer();
  Moment now{sm_clock(), before};
#pragma unroll 1
  for (int i = 0; i < kMostTries && now.time == before; ++i) {
    now.time = global_timer();
    now.clock = sm_clock();
  }
  return now;
}

inline constexpr uint32_t kWholeWarp = 0xffffffff;

SLUICE_DEVICE uint32_t active_lanes() {
#if defined(__CUDA_ARCH__)
  return __activemask();
#else
  return 1;
#endif
}

/// These lanes, which all call it, go on as one. Something that they do as one is surer of that than a
/// barrier.
SLUICE_DEVICE void meet([[maybe_unused]] uint32_t lanes) {
  SLUICE_PTX("{\n\t.reg .pred met;\n\telect.sync _|met, %0;\n\t}" ::"r"(lanes) : "memory");
}

SLUICE_DEVICE uint32_t count_lanes(uint32_t lanes) {
#if defined(__CUDA_ARCH__)
  return static_cast<uint32_t>(__popc(lanes));
#else
  return lanes;
#endif
}

/// The lanes of `lanes`, which all call it, where `holds` does; and the bits that any of them has.
SLUICE_DEVICE uint32_t lanes_where([[maybe_unused]] uint32_t lanes, bool holds) {
#if defined(__CUDA_ARCH__)
  return __ballot_sync(lanes, holds);
#else
  return holds;
#endif
}
SLUICE_DEVICE uint32_t or_over_lanes([[maybe_unused]] uint32_t lanes, uint32_t bits) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_or_sync(lanes, bits);
#else
  return bits;
#endif
}

SLUICE_DEVICE bool is_lowest_of(uint32_t lanes) {
  uint32_t lower = 0;
  SLUICE_PTX_PURE("mov.u32 %0, %%lanemask_lt;" : "=r"(lower));
  return (lanes & lower) == 0;
}

SLUICE_DEVICE uint32_t linear_thread() {
#if defined(__CUDA_ARCH__)
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
#else
  return 0;
#endif
}

SLUICE_DEVICE uint32_t linear_cta() {
#if defined(__CUDA_ARCH__)
  return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
#else
  return 0;
#endif
}

SLUICE_DEVICE uint32_t sm_number() {
  uint32_t number = 0;
  SLUICE_PTX_PURE("mov.u32 %0, %%smid;" : "=r"(number));
  return number;
}

/// The place of a barrier in a record.
SLUICE_DEVICE uint16_t barrier_place(void const* barrier) {
  return static_cast<uint16_t>((ptx::shared_address(barrier) & 0xffffff) / 8);
}

/// Letters `first` to `first + count - 1` of a name as a number.
template <int Size>
SLUICE_DEVICE constexpr uint32_t letters(char const (&name)[Size], int first, int count) {
  uint32_t packed = 0;
  for (int i = 0; i < count && first + i < Size; ++i)
    packed |= static_cast<uint32_t>(static_cast<unsigned char>(name[first + i])) << (8 * i);
  return packed;
}

}  // namespace detail

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
      : buffer_(buffer),
        lane_(detail::linear_thread() % kThreadsPerWarp),
        is_on_(detail::linear_cta() - buffer.first_cta < buffer.ctas) {}
  Recorder(Recorder const&) = delete;
  Recorder& operator=(Recorder const&) = delete;

  /// Closes what this lane has recorded. Each thread, by returning.
  SLUICE_DEVICE ~Recorder() {
    if (alone_.count != 0) close(buffer_.head, alone_);
    if (lane_ < together_.count % kLineRecords)
      write_kept(together_.count / kLineRecords * kLineRecords + lane_);
    if (lane_ == 0 && together_.count != 0) close(buffer_.head, together_);
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
  /// barriers.
  SLUICE_DEVICE void ring(uint64_t const* full, uint64_t const* empty, uint32_t stages) {
    note(RecordKind::Ring, detail::barrier_place(full), detail::barrier_place(empty) | stages << 16, 0);
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
    wait_passes(barrier, phase, phase & 1);
  }
  /// Before and after a wait that has to wait; by the same lanes.
  SLUICE_DEVICE void wait_begins(uint64_t const* barrier, int phase) {
    wait_begins(barrier, phase, phase & 1);
  }
  SLUICE_DEVICE void wait_ends(uint64_t const* barrier, int phase) { wait_ends(barrier, phase, phase & 1); }
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
  /// The same, but each calling lane at the CTA of its own `rank`, and only where `signals` holds. Equally
  /// many lanes go to each of them.
  SLUICE_DEVICE void arrives_spread(uint64_t const* barrier, int phase, uint32_t rank, bool signals) {
    uint32_t const lanes = detail::active_lanes();
    uint32_t const ranks = detail::or_over_lanes(lanes, signals ? 1u << rank : 0);
    uint32_t const signallers = detail::count_lanes(detail::lanes_where(lanes, signals));
    if (ranks == 0) return;
    note(RecordKind::Arrives, detail::barrier_place(barrier), static_cast<uint32_t>(phase),
         Arrival::at(ranks, signallers / detail::count_lanes(ranks)));
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

  // For pipelines, which know the parity that they wait for.
  SLUICE_DEVICE void wait_passes(uint64_t const* barrier, int phase, uint32_t parity) {
    note(RecordKind::WaitPasses, detail::barrier_place(barrier), static_cast<uint32_t>(phase), parity);
  }
  SLUICE_DEVICE void wait_begins(uint64_t const* barrier, int phase, uint32_t parity) {
    note(RecordKind::WaitBegins, detail::barrier_place(barrier), static_cast<uint32_t>(phase), parity);
  }
  SLUICE_DEVICE void wait_ends(uint64_t const* barrier, int phase, uint32_t parity) {
    note(RecordKind::WaitEnds, detail::barrier_place(barrier), static_cast<uint32_t>(phase), parity);
  }

 private:
  static constexpr uint32_t kLineRecords = 8;  ///< 128 bytes

  /// A Record in registers.
  struct Words {
    uint32_t clock, head, a, b;
  };

  template <int Size>
  SLUICE_DEVICE void note_name(RecordKind kind, char const (&name)[Size]) {
    static_assert(Size <= 11, "sluice: a name in a trace has at most 10 letters");
    note(kind, static_cast<uint16_t>(detail::letters(name, 0, 2)), detail::letters(name, 2, 4),
         detail::letters(name, 6, 4));
  }

  SLUICE_DEVICE void note_bytes(RecordKind kind, uint64_t const* barrier, int phase, uint32_t bytes) {
    note(kind, detail::barrier_place(barrier), static_cast<uint32_t>(phase),
         bytes | detail::count_lanes(detail::active_lanes()) << 24);
  }

  /// Where this lane writes, alone or with its whole warp.
  struct Place {
    SliceHead* slice = nullptr;
    uint32_t count = 0;  ///< records made there
  };

  SLUICE_DEVICE void note(RecordKind kind, uint16_t half, uint32_t a, uint32_t b) {
    if (!is_on_) return;
    uint32_t const lanes = detail::active_lanes();
    if (lanes == detail::kWholeWarp) {
      note_together(kind, half, a, b);
    } else if (detail::is_lowest_of(lanes)) {
      if (alone_.count == 0) alone_.slice = open(buffer_);
      if (alone_.slice != nullptr && alone_.count < buffer_.slice_records)
        write(alone_.slice, alone_.count, make_words(kind, half, a, b));
      ++alone_.count;
    }
  }

  /// A whole warp keeps a line of records, one in each of its first lanes, and writes it when it is full.
  SLUICE_DEVICE void note_together(RecordKind kind, uint16_t half, uint32_t a, uint32_t b) {
    if (together_.count == 0) together_.slice = open_together(buffer_, lane_);
    uint32_t const place = together_.count % kLineRecords;
    Words const words = make_words(kind, half, a, b);
    if (lane_ == place) kept_ = words;
    ++together_.count;
    if (place == kLineRecords - 1 && lane_ < kLineRecords) write_kept(together_.count - kLineRecords + lane_);
  }

  SLUICE_DEVICE static Words make_words(RecordKind kind, uint16_t half, uint32_t a, uint32_t b) {
    uint64_t const now = detail::sm_clock();
    return {static_cast<uint32_t>(now),
            static_cast<uint32_t>(now >> 32 & 0xff) | static_cast<uint32_t>(kind) << 8 |
                static_cast<uint32_t>(half) << 16,
            a, b};
  }

  SLUICE_DEVICE void write_kept(uint32_t place) const {
    if (together_.slice != nullptr && place < buffer_.slice_records) write(together_.slice, place, kept_);
  }

  /// As one store of 16 bytes.
  SLUICE_DEVICE static void write([[maybe_unused]] SliceHead* slice, [[maybe_unused]] uint32_t place,
                                  [[maybe_unused]] Words const& words) {
#if defined(__CUDA_ARCH__)
    reinterpret_cast<uint4*>(slice + 1)[place] = make_uint4(words.clock, words.head, words.a, words.b);
#endif
  }

  /// Takes a slice for this lane; null if all are taken.
  SLUICE_DEVICE_COLD static SliceHead* open([[maybe_unused]] Buffer buffer) {
#if defined(__CUDA_ARCH__)
    uint32_t const number = atomicAdd(&buffer.head->taken, 1u);
    if (number >= buffer.slices) return nullptr;
    SliceHead* const slice = buffer.slice(number);
    slice->cta = detail::linear_cta();
    slice->warp = detail::linear_thread() / kThreadsPerWarp;
    slice->lane = detail::linear_thread() % kThreadsPerWarp;
    slice->sm = detail::sm_number();
    slice->is_taken = 1;
    slice->begin = detail::moment();
    return slice;
#else
    return nullptr;
#endif
  }

  /// Takes one for the whole warp, whose lanes all call it.
  SLUICE_DEVICE_COLD static SliceHead* open_together([[maybe_unused]] Buffer buffer,
                                                     [[maybe_unused]] uint32_t lane) {
#if defined(__CUDA_ARCH__)
    uint64_t const slice = lane == 0 ? reinterpret_cast<uint64_t>(open(buffer)) : 0;
    return reinterpret_cast<SliceHead*>(__shfl_sync(detail::kWholeWarp, slice, 0));
#else
    return nullptr;
#endif
  }

  SLUICE_DEVICE_COLD static void close([[maybe_unused]] BufferHead* head, [[maybe_unused]] Place place) {
#if defined(__CUDA_ARCH__)
    if (place.slice == nullptr) {
      atomicAdd(reinterpret_cast<unsigned long long*>(&head->lost), place.count);
      return;
    }
    place.slice->end = detail::moment();
    place.slice->count = place.count;
#endif
  }

  Buffer buffer_;
  Place alone_;
  Place together_;
  Words kept_{};
  uint32_t lane_;
  bool is_on_;
};

SLUICE_DEVICE Role::~Role() {
  recorder_->end_role();
}

}  // namespace sluice::trace
