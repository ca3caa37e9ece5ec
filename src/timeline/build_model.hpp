// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The steps in which a model is made. Each relies on what those before it have filled in.
#pragma once

#include "timeline/model.hpp"

namespace sluice::timeline {

/// From waits, arrivals and copies to rings and their stages; tells barriers and agents what they are in
/// them.
void find_rings(Model& model);

/// Puts together the uses of each ring's stages; tells waits, arrivals and copies to which they belong.
void collect_uses(Model& model);

/// Shares, waits by role, what limits the ring.
void summarise(const Model& model, Ring& ring);

}  // namespace sluice::timeline
