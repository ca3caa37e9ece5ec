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
#include "sluice/trace/not_traced.hpp"

namespace sluice {

/// `UnacquiredStages_` groups may still be in flight when producer_acquire returns.
template <int Stages_, int UnacquiredStages_ = Stages_ - 1, class Trace_ = NotTraced>
class PipelineTmaStore : private Trace_ {
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

  /// Where a traced pipeline notes what the calling thread does with it, and how many bytes a stage stores
  /// (0: not known).
  template <class Recorder>
  SLUICE_DEVICE void record_in(Recorder& recorder, uint32_t stage_bytes = 0) {
    static_assert(
        !std::is_same_v<Trace_, NotTraced>,
        "sluice: this pipeline is not recorded: give it sluice::Traced as its last template argument");
    Trace_::record_in(recorder);
    Trace_::stage_bytes(stage_bytes);
  }

  /// Blocks until the stage may be written: at most UnacquiredStages groups still read their sources.
  SLUICE_DEVICE void producer_acquire(PipelineState state) {
    if (params_.always_wait || state.count() > UnacquiredStages) {
      wait_for_stores<UnacquiredStages_>();
    }
  }

  /// Closes the group of the stores issued since the last commit. Does not block.
  SLUICE_DEVICE void producer_commit(PipelineState) {
    Trace_::commits_stores();
    ptx::cp_async_bulk_commit_group();
  }

  /// Blocks until no group reads shared memory any more.
  SLUICE_DEVICE void producer_tail(PipelineState) { wait_for_stores<0>(); }

 private:
  template <int InFlight>
  SLUICE_DEVICE void wait_for_stores() const {
    Trace_::store_wait_begins();
    ptx::cp_async_bulk_wait_group_read<InFlight>();
    Trace_::store_wait_ends();
  }

  Params params_;
};

/// No stages: nothing can be acquired, but groups can be committed and waited for.
template <class Trace_>
class PipelineTmaStore<0, -1, Trace_> {
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
