// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The bulk copies' part of the asynchronous family.
#pragma once

#include <span>

#include "machine/bind.hpp"

namespace sluice::machine {

/// cp.async.bulk, cp.reduce.async.bulk, their prefetch and their groups.
std::span<const BindRow> bulk_copy_rows();

}  // namespace sluice::machine
