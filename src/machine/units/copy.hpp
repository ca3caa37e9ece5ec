// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What all asynchronous copies share: places in shared memory of a cluster, the checks at issue, and how much
// of a copy lands in one piece.
#pragma once

#include <cstdint>

#include "machine/ops/access.hpp"
#include "machine/payload_marks.hpp"
#include "machine/state.hpp"
#include "machine/units/mbarrier.hpp"

namespace sluice::machine {

/// Turns the address of lane `lane` into a shared::cluster address with the CTA's rank in it, after checking
/// that `bytes` at it exist and that it is a multiple of `alignment`. False after a fault.
bool resolve_shared(Warp& w, const Address& operand, uint32_t lane, uint64_t address, uint32_t bytes,
                    uint32_t alignment, uint32_t& out);

/// Whether the shared side of a copy lies beyond the window of an SM's shared memory, 256 KiB (MODEL: an
/// H200's answers at 229 and 257 KiB differ). A GPU neither moves such bytes nor counts them on a barrier,
/// and reports nothing.
bool is_lost(const Address& operand, uint64_t address);

/// Takes the mask of a multicast; false after a fault, when it names a CTA that the cluster has not.
bool take_multicast_mask(Warp& w, uint32_t lane, uint32_t operand, uint16_t& mask);

/// The CTA and offset of a resolved address. The CTA may have ended meanwhile; its memory still exists.
inline MbarrierPlace locate(const AsyncOp& op, uint32_t resolved) {
  return {op.cta->cluster->ctas[resolved >> kSharedRankShift].get(), resolved & kSharedOffsetMask};
}

/// The same offset in another CTA of the cluster, for multicast.
inline MbarrierPlace locate_in(const AsyncOp& op, uint32_t rank, uint32_t resolved) {
  return {op.cta->cluster->ctas[rank].get(), resolved & kSharedOffsetMask};
}

/// The CTAs that a copy writes to, as a mask of ranks.
inline uint32_t target_ranks(bool multicast, uint16_t mask, uint32_t resolved) {
  return multicast ? mask : uint32_t{1} << (resolved >> kSharedRankShift);
}

/// Units of work (rows, 16-byte chunks) that land in one piece, of `total`: all of them when copies land at
/// once, else a quarter, so that a reader who does not wait can see a part.
inline uint32_t piece_of(Worker& worker, uint32_t total) {
  if (worker.launch().request->options.timing == CopyTiming::Early) return total;
  return (total + 3) / 4;
}

inline bool wants_data(Worker& worker) {
  return !worker.launch().request->options.no_data;
}

/// In a run without data: a copy would have written `bytes` at `first`.
inline void skip_data(Worker& worker, const uint8_t* first, uint32_t bytes) {
  worker.launch().payload->mark(first, bytes);
}

/// Ordinal of the bulk group that the lane fills.
uint32_t bulk_group_of(Warp& w, uint32_t lane);

}  // namespace sluice::machine
