// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A ring of stages on the way out: one thread fills a stage, hands it to the copy engine as a bulk group and
// goes on. The engine is the consumer, so there are no barriers, only the count of groups that may still be
// reading shared memory. One thread calls all of it: groups belong to threads.
#pragma once

#include <type_traits>

#include "sluice/arch/cp_async_bulk.hpp"
#include "sluice/pipeline/state.hpp"

namespace sluice {

/// `UnacquiredStages_` groups may still be in flight when producer_acquire returns.
template <int Stages_, int UnacquiredStages_ = Stages_ - 1>
class PipelineTmaStore {
 public:
  static_assert(Stages_ > 0, "sluice: a PipelineTmaStore has no negative number of stages");
  static_assert(UnacquiredStages_ >= 0, "sluice: no negative number of stores can be in flight");

  static constexpr uint32_t Stages = Stages_;
  static constexpr uint32_t UnacquiredStages = static_cast<uint32_t>(UnacquiredStages_);
  using PipelineState = sluice::PipelineState<Stages>;

  /// Tells this class from CUTLASS's of the same name.
  static constexpr bool kIsSluice = true;

  struct Params {
    /// Wait even where the state's count says that no stage has been used yet.
    bool always_wait = false;
  };

  SLUICE_DEVICE PipelineTmaStore(Params params = {}) : params_(params) {}

  /// Blocks until the stage may be written: at most UnacquiredStages groups still read their sources.
  SLUICE_DEVICE void producer_acquire(PipelineState state) {
    if (params_.always_wait || state.count() > UnacquiredStages) {
      ptx::cp_async_bulk_wait_group_read<UnacquiredStages_>();
    }
  }

  /// Closes the group of the stores issued since the last commit. Does not block.
  SLUICE_DEVICE void producer_commit(PipelineState) { ptx::cp_async_bulk_commit_group(); }

  /// Blocks until no group reads shared memory any more.
  SLUICE_DEVICE void producer_tail(PipelineState) { ptx::cp_async_bulk_wait_group_read<0>(); }

 private:
  Params params_;
};

/// No stages: nothing can be acquired, but groups can be committed and waited for.
template <>
class PipelineTmaStore<0, -1> {
 public:
  static constexpr uint32_t Stages = 0;
  static constexpr uint32_t UnacquiredStages = 0;
  using PipelineState = sluice::PipelineState<Stages>;

  /// Tells this class from CUTLASS's of the same name.
  static constexpr bool kIsSluice = true;

  struct Params {
    bool always_wait = false;
  };

  PipelineTmaStore() = default;
  SLUICE_DEVICE PipelineTmaStore(Params) {}

  template <class Never = void>
  SLUICE_DEVICE void producer_acquire(PipelineState) {
    static_assert(!std::is_void_v<Never>, "sluice: a PipelineTmaStore with 0 stages has no stage to acquire");
  }

  SLUICE_DEVICE void producer_commit(PipelineState) { ptx::cp_async_bulk_commit_group(); }
  SLUICE_DEVICE void producer_tail(PipelineState) { ptx::cp_async_bulk_wait_group_read<0>(); }
};

}  // namespace sluice
