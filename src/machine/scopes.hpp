// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Which scopes a kernel's synchronisation on global memory has.
#pragma once

#include "machine/kernel.hpp"

namespace sluice::machine {

/// Whether some fence, atomic or strong access outside shared memory reaches its own CTA or cluster only.
bool has_narrow_scopes(const Kernel& kernel);

}  // namespace sluice::machine
