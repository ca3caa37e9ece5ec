// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What main.cu knows of the two matrix multiplications: the same interface, made by two translation units
// that see different pipelines. No CUTLASS type appears, so the two never meet.
#pragma once

#include <cuda_runtime.h>

#include <memory>

namespace cutlass_gemm {

/// D = A * B, bf16 with fp32 accumulation: A is m x k row-major, B is k x n column-major, D is m x n
/// row-major, all in device memory, packed.
struct Problem {
  int m;
  int n;
  int k;
  void const* a;
  void const* b;
  void* d;
};

/// A multiplication whose tensor maps and workspace are ready.
class Gemm {
 public:
  virtual ~Gemm() = default;

  /// Launches the kernel; returns false if that failed. Does not wait for it.
  virtual bool launch(cudaStream_t stream) = 0;
};

/// The kernel on CUTLASS's own pipelines, and the same kernel on sluice's. Null if the problem cannot be set
/// up.
std::unique_ptr<Gemm> make_published_gemm(Problem const& problem);
std::unique_ptr<Gemm> make_sluice_gemm(Problem const& problem);

}  // namespace cutlass_gemm
