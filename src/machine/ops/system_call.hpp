// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Functions that the CUDA device runtime provides without PTX code: vprintf, __assertfail, malloc, free, and
// what cooperative groups and the device runtime ask for. They are called like any function, with `.param`
// arguments.
#pragma once

#include <string_view>

#include "machine/bind.hpp"

namespace sluice::machine {

bool is_system_call(std::string_view name);
Result<Op> bind_system_call(Binder& binder, std::string_view name);

}  // namespace sluice::machine
