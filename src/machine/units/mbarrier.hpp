// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The mbarrier object. Its whole state is the 64-bit word in shared memory, so that a program that overwrites
// a barrier sees what a GPU shows and a copy of shared memory is a copy of its barriers. Only the unbounded
// ordinal of the phase lies beside it (Cta::mbarrier_phases). PTX ISA, "Parallel Synchronization and
// Communication Instructions: mbarrier".
#pragma once

#include <cstdint>
#include <string>

#include "machine/state.hpp"

namespace sluice::machine {

constexpr uint32_t kMostArrivals = (1u << 20) - 1;
constexpr uint32_t kMostTx = (1u << 20) - 1;

/// What the word of a barrier says.
struct MbarrierWord {
  uint32_t expected = 0;  ///< arrivals of the next phase
  uint32_t pending = 0;   ///< arrivals missing in this phase
  int32_t tx = 0;         ///< bytes due: positive when more are expected than have come
  bool phase = false;     ///< parity of the current phase

  static MbarrierWord unpack(uint64_t word);
  uint64_t pack() const;
};

/// A change of a barrier by one agent.
struct MbarrierChange {
  uint32_t arrivals = 0;
  uint32_t drop = 0;   ///< arrivals fewer from the next phase on
  int64_t expect = 0;  ///< bytes added to those due; negative for bytes that have come
};

/// A barrier's place.
struct MbarrierPlace {
  Cta* cta = nullptr;
  uint32_t offset = 0;
};

/// A change that an H200 answers with a launch failure. The barrier stays as it was.
enum class MbarrierViolation : uint8_t {
  None,
  Operand,      ///< a count or a number of bytes beyond 2^20 - 1
  OverArrival,  ///< more arrivals than are missing in the phase
  TxRange,      ///< the tx-count leaves -(2^20 - 1) .. 2^20
};

struct MbarrierResult {
  MbarrierViolation violation = MbarrierViolation::None;
  uint64_t before = 0;     ///< the word before the change: the state token of an arrival
  bool completed = false;  ///< the change completed that phase
};

/// Writes a fresh barrier. Nothing checks the count: one outside 1 .. 2^20 - 1 spoils the other fields.
void mbarrier_init(MbarrierPlace place, uint32_t count);

/// One more arrival is missing in this phase (cp.async.mbarrier.arrive without `.noinc`).
void mbarrier_add_pending(MbarrierPlace place);

/// Ends the barrier's life.
void mbarrier_invalidate(MbarrierPlace place);

/// Applies the change, completes the phase if nothing is missing any more, and wakes who waits for it. A
/// listener hears of the completion as an event of `agent` (its kind, place and phase are filled in here).
MbarrierResult mbarrier_apply(Worker& worker, MbarrierPlace place, MbarrierChange change,
                              const event::Event& agent);

/// A sentence on a violation: the rule, the numbers, what to do.
std::string mbarrier_violation_text(const MbarrierResult& result, MbarrierChange change);

/// Whether the change would complete the current phase.
bool mbarrier_completes(MbarrierPlace place, MbarrierChange change);

/// The same for a change by an asynchronous operation; a violation ends the launch.
void mbarrier_apply_operation(Worker& worker, const AsyncOp& op, MbarrierPlace place, MbarrierChange change,
                              const event::Event& agent);

/// Bytes of an asynchronous operation have landed and `place` counts them.
void mbarrier_complete_tx(Worker& worker, const AsyncOp& op, MbarrierPlace place, uint32_t bytes);

/// The word, as it is now.
uint64_t mbarrier_load(MbarrierPlace place);

/// Whether the phase with this parity has completed: it is then the one before the current phase.
inline bool mbarrier_parity_done(uint64_t word, uint32_t parity) {
  return MbarrierWord::unpack(word).phase != ((parity & 1) != 0);
}

/// Phases completed since init.
uint64_t mbarrier_completed(MbarrierPlace place);

}  // namespace sluice::machine
