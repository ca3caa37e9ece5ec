// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// From a shape that is known when the program runs to a kernel that is compiled for it.
#pragma once

#include <type_traits>

#include "stream.hpp"

namespace stream {

template <int Stages_, int TileKib_>
struct StaticShape {
  static constexpr int Stages = Stages_;
  static constexpr int TileBytes = TileKib_ * kBytesPerKib;
  static constexpr int TilePieces = TileBytes / static_cast<int>(sizeof(Piece));
  static constexpr std::size_t SharedBytes = ring_shared_bytes({Stages_, TileKib_});
  /// Whether a CTA of an H200 (227 KiB) can have it at all; a shape that cannot is not compiled.
  static constexpr bool fits = SharedBytes <= 227 * kBytesPerKib;
};

namespace detail {

template <int Stages, class Function>
cudaError_t with_stages(int tile_kib, Function function) {
  if (tile_kib == 8) return function(StaticShape<Stages, 8>{});
  if (tile_kib == 16) return function(StaticShape<Stages, 16>{});
  if (tile_kib == 32) return function(StaticShape<Stages, 32>{});
  return cudaErrorInvalidValue;
}

}  // namespace detail

/// Calls `function(StaticShape<...>{})` for `shape`, or returns cudaErrorInvalidValue if there is none.
template <class Function>
cudaError_t with_shape(Shape shape, Function function) {
  switch (shape.stages) {
    case 2:
      return detail::with_stages<2>(shape.tile_kib, function);
    case 3:
      return detail::with_stages<3>(shape.tile_kib, function);
    case 4:
      return detail::with_stages<4>(shape.tile_kib, function);
    case 6:
      return detail::with_stages<6>(shape.tile_kib, function);
    case 8:
      return detail::with_stages<8>(shape.tile_kib, function);
    case 12:
      return detail::with_stages<12>(shape.tile_kib, function);
    default:
      return cudaErrorInvalidValue;
  }
}

/// Launches `kernel` with `threads` threads and `shared_bytes` of dynamic shared memory.
template <class KernelJob>
cudaError_t launch(void (*kernel)(KernelJob), const KernelJob& job, int ctas, int threads,
                   std::size_t shared_bytes) {
  const int bytes = static_cast<int>(shared_bytes);
  const cudaError_t status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status != cudaSuccess) return status;
  kernel<<<ctas, threads, shared_bytes>>>(job);
  return cudaGetLastError();
}

}  // namespace stream
