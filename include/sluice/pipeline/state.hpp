// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Where an agent stands in a ring of stages: which stage comes next, which phase bit to wait for, and how
// many stages it has gone through. Plain arithmetic, on the host and on the device; the barriers are
// elsewhere.
#pragma once

#include "sluice/arch/config.hpp"

namespace sluice {

/// A cursor over `Stages_` stages. The phase bit flips each time the index comes back to 0. With 0 stages it
/// exists and never moves.
template <uint32_t Stages_>
struct PipelineState {
  static constexpr uint32_t Stages = Stages_;

  int index_ = 0;
  uint32_t phase_ = 0;
  uint32_t count_ = 0;

  SLUICE_HOST_DEVICE PipelineState() {}

  SLUICE_HOST_DEVICE PipelineState(int index, uint32_t phase, uint32_t count)
      : index_(index), phase_(phase), count_(count) {}

  /// The stage that comes next, 0 to Stages - 1.
  SLUICE_HOST_DEVICE int index() const { return index_; }

  /// The phase bit to wait for there, 0 or 1.
  SLUICE_HOST_DEVICE uint32_t phase() const { return phase_; }

  /// Steps taken since the start, modulo 2^32.
  SLUICE_HOST_DEVICE uint32_t count() const { return count_; }

  /// Goes to the next stage.
  SLUICE_HOST_DEVICE void operator++() {
    if constexpr (Stages > 0) {
      ++index_;
      ++count_;
      if (index_ == static_cast<int>(Stages)) {
        index_ = 0;
        phase_ ^= 1;
      }
    }
  }

  /// Goes `steps` stages further, as that many `++` would.
  SLUICE_HOST_DEVICE PipelineState& advance(uint32_t steps) {
    if constexpr (Stages > 0) {
      uint32_t rounds = steps / Stages;
      uint32_t index = static_cast<uint32_t>(index_) + steps % Stages;
      if (index >= Stages) {
        index -= Stages;
        ++rounds;
      }
      index_ = static_cast<int>(index);
      phase_ ^= rounds & 1;
      count_ += steps;
    }
    return *this;
  }

  /// The same as advance.
  SLUICE_HOST_DEVICE PipelineState& operator+=(uint32_t steps) { return advance(steps); }

  /// A copy of `start`, `steps` stages further.
  SLUICE_HOST_DEVICE static PipelineState make_pipeline_state(PipelineState start, uint32_t steps) {
    return start.advance(steps);
  }
};

/// Where a producer of `Pipeline` starts: stage 0, phase 1. All stages are free at first, and waiting for the
/// odd phase of a fresh barrier returns at once (PTX ISA, "mbarrier.test_wait": the phase before the first
/// one counts as complete).
template <class Pipeline>
SLUICE_HOST_DEVICE PipelineState<Pipeline::Stages> make_producer_start_state() {
  return PipelineState<Pipeline::Stages>(0, 1, 0);
}

}  // namespace sluice
