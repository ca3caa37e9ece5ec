// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The one place where a misused Result ends the program.
#include "base/result.hpp"

#include <cstdio>
#include <cstdlib>

namespace sluice::detail {

void bad_result_access(const char* what) {
  std::fputs(what, stderr);
  std::abort();
}

}  // namespace sluice::detail
