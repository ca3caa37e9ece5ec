// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A model as text: the barrier table of each ring, its summary, and the log of every change of a barrier.
#pragma once

#include <string>

#include "timeline/model.hpp"

namespace sluice::timeline {

struct TableOptions {
  bool all_tiles = false;  ///< also those in the middle of a long run
  bool log = false;        ///< the states of barriers and pipelines, change by change
};

/// What is shown, and on which clock.
std::string heading(const Model& model);
/// One row per tile, laps set apart.
std::string table(const Model& model, const Ring& ring, const TableOptions& options);
/// Waits by role, shares of the stages' states, what limits.
std::string summary(const Model& model, const Ring& ring);
/// Barriers that belong to no ring, and waits that never ended.
std::string remainder(const Model& model);
/// Every change of a barrier's state, and the PipelineStates of each ring.
std::string state_log(const Model& model, const TableOptions& options);

/// All of these.
std::string to_text(const Model& model, const TableOptions& options);

}  // namespace sluice::timeline
