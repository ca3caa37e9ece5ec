// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The model as a still picture, for papers and documents: lanes of warps, copies and stages, 900 wide, light
// or dark as the reader's system.
#pragma once

#include <string>

#include "timeline/model.hpp"

namespace sluice::timeline {

std::string to_svg(const Model& model);

}  // namespace sluice::timeline
