// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Linking of PTX modules (`-rdc=true` programs and cuLink): one module out of several, in which a symbol that
// one module declares and another defines is one thing, and symbols private to a module stay apart.
#pragma once

#include <vector>

#include "base/result.hpp"
#include "ptx/ast.hpp"

namespace sluice::cuda {

/// A single module is handed through. Errors: a symbol defined twice, or referred to and never defined.
Result<ptx::Module> link_modules(std::vector<ptx::Module> modules);

}  // namespace sluice::cuda
