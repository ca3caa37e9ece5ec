// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The model as a file for ui.perfetto.dev: Chrome's trace event JSON. A step of the engine is shown as a
// nanosecond.
#pragma once

#include <nlohmann/json.hpp>

#include "timeline/model.hpp"

namespace sluice::timeline {

/// Waits, spans and arrivals on a track per warp, copies as asynchronous slices, uses of stages on a track
/// per stage, and a flow from what completed a phase to the wait that it ended.
nlohmann::ordered_json to_perfetto(const Model& model);

}  // namespace sluice::timeline
