// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A model as JSON: the members and lists of Model under their own names, members that are kNone or absent
// left out, enumerators as words. What a page embeds.
#pragma once

#include <nlohmann/json.hpp>

#include "timeline/model.hpp"

namespace sluice::timeline {

nlohmann::ordered_json to_json(const Model& model);

}  // namespace sluice::timeline
