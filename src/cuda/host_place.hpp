// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Where in the program a call of the API was made.
#pragma once

#include <vector>

#include "report/diagnostic.hpp"

namespace sluice::cuda {

/// The calls in the program's own objects that led to the running call of the API, the nearest first, as
/// places in machine code (Place::offset). Empty where the stack cannot be walked.
std::vector<report::Place> host_places();

}  // namespace sluice::cuda
