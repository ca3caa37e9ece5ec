// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The model as a page for a browser: one file that needs nothing else. Its parts are the files of page/.
#pragma once

#include <string>

#include "timeline/model.hpp"

namespace sluice::timeline {

/// The whole page, with the model in it.
std::string to_html(const Model& model);

}  // namespace sluice::timeline
