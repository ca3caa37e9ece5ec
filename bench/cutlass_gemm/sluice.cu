// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The GEMM on sluice's pipelines. Compiled with compat/cutlass in front of CUTLASS's headers.
#include "kernel.hpp"

namespace cutlass_gemm {

static_assert(kRunsOnSluice, "CUTLASS's own pipeline slipped in: put compat/cutlass in front of its headers");

std::unique_ptr<Gemm> make_sluice_gemm(Problem const& problem) {
  return make_gemm(problem);
}

}  // namespace cutlass_gemm
