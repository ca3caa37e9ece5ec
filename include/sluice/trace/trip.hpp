// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A trip: the wait for a stage and the arrival that hands the stage on, in 8 bytes. Consumers wait for full
// and arrive at empty, producers the other way round; one trip of a warp is like the next, a stage further.
// So a record of kind Trips says once where in the ring they are and what the arrival is, and a trip says
// only when. What is not like the trip before it gets a new record; what does not fit is not a trip, and is
// written as records.
#pragma once

#include "sluice/trace/record.hpp"

namespace sluice::trace {

/// How a PipelineState sees a stage: the `count`-th to be used in a ring of `stages`, at place `index`; and
/// which of its two barriers is meant.
struct StageUse {
  uint32_t count;
  uint32_t index;
  uint32_t stages;
  bool is_full;

  /// How often the stage has been used before.
  SLUICE_HOST_DEVICE uint32_t use() const { return stages == 0 ? 0 : count / stages; }
  /// The phase of the barrier for which one waits: 0 is the one after its init.
  SLUICE_HOST_DEVICE uint32_t awaited_phase() const { return use() - (is_full ? 0 : 1); }
  /// Do the count and the place fit?
  SLUICE_HOST_DEVICE bool is_regular() const { return count - use() * stages == index; }
};

/// Record::b of Trips: all that one trip has in common with the next.
struct TripForm {
  /// What the arrival is, and its payload.
  enum Arrival : uint32_t {
    Nothing,  ///< there is none
    Here,     ///< so many arrivals in this CTA
    Arms,     ///< one, which announces so many bytes
    Named,    ///< at the ranks in bits 0 to 15, one more than bits 16 to 20 say at each
  };

  static constexpr uint32_t kPayloadBits = 21;
  static constexpr uint32_t kLagShift = 23;
  static constexpr uint32_t kMaxLag = 7;
  static constexpr uint32_t kMaxRing = 15;

  Arrival arrival;
  uint32_t payload;
  uint32_t lag;         ///< by how many stages the arrival is behind the wait
  bool waits_for_full;  ///< else for empty
  uint32_t ring;        ///< number of the ring in the recorder

  SLUICE_HOST_DEVICE constexpr uint32_t bits() const {
    return payload | arrival << 21 | lag << kLagShift | static_cast<uint32_t>(waits_for_full) << 26 |
           ring << 27;
  }
  SLUICE_HOST_DEVICE static constexpr TripForm of(uint32_t bits) {
    return {static_cast<Arrival>(bits >> 21 & 3), bits & 0x1fffff, bits >> kLagShift & 7,
            (bits >> 26 & 1) != 0, bits >> 27 & 15};
  }
};

/// When a trip happened, in cycles.
struct Trip {
  static constexpr uint32_t kSinceBits = 20;
  static constexpr uint32_t kSpanBits = 19;
  static constexpr Cell kIsTrip = Cell{1} << 63;

  uint64_t since;  ///< from the end of the record or trip before this one in the slice to the end of this one
  uint64_t wait;   ///< how long it waited; 0: it did not have to
  uint64_t hold;   ///< from the wait's end to this one's

  /// Can it be written?
  SLUICE_HOST_DEVICE constexpr bool fits() const {
    return ((since >> kSinceBits) | ((wait | hold) >> kSpanBits)) == 0;
  }

  SLUICE_HOST_DEVICE constexpr Cell bits(uint32_t ring) const {
    return kIsTrip | Cell{ring} << 58 | since << 38 | wait << 19 | hold;
  }
  SLUICE_HOST_DEVICE static constexpr Trip of(Cell bits) {
    constexpr Cell kSpan = (Cell{1} << kSpanBits) - 1;
    return {bits >> 38 & ((Cell{1} << kSinceBits) - 1), bits >> 19 & kSpan, bits & kSpan};
  }
  /// Whose trip the bits are.
  SLUICE_HOST_DEVICE static constexpr uint32_t ring_of(Cell bits) {
    return static_cast<uint32_t>(bits >> 58) & TripForm::kMaxRing;
  }
};

}  // namespace sluice::trace
