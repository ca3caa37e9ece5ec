// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The recorded durations of a ring with another number of stages: what would more of them have brought? Each
// warp does what it did, in the order and with the pauses in which it did, but its waits end by the rule of a
// ring of that many stages: trip i may be filled when trip i - stages is released, and read when it is full.
// How long a filling took from its last arm or copy to full stays as recorded (on a GPU, at most the quickest
// that was waited for where nobody had to), even where copies would then queue.
#pragma once

#include <optional>

#include "timeline/model.hpp"

namespace sluice::timeline {

/// Time from the first operation on the ring to the last, or nothing where the recording does not tell: a
/// trip that was never released, a ring whose stages are not acquired.
std::optional<uint64_t> replay(const Model& model, const Ring& ring, uint32_t stages);

}  // namespace sluice::timeline
