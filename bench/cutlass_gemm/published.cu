// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The GEMM on CUTLASS's own pipelines. Compiled without compat/cutlass, and with -Dcutlass=cutlass_published.
#include "kernel.hpp"

namespace cutlass_gemm {

static_assert(!kRunsOnSluice, "sluice's pipeline slipped into the comparison");

std::unique_ptr<Gemm> make_published_gemm(Problem const& problem) {
  return make_gemm(problem);
}

}  // namespace cutlass_gemm
