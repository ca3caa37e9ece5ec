// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Plain loads of 16 bytes: no shared memory, no copy engine. Eight CTAs per SM keep enough loads in flight.
// And the kernel that makes the data.
#include "adding.hpp"
#include "data.hpp"
#include "shapes.hpp"

namespace stream {
namespace {

template <class Shape>
__global__ void __launch_bounds__(kConsumerThreads) plain_loads_kernel(Job job) {
  const int thread = static_cast<int>(threadIdx.x);
  Sum sum = 0;
  for (std::uint32_t tile = blockIdx.x; tile < job.tiles; tile += gridDim.x) {
    const Piece* source = job.data + static_cast<std::uint64_t>(tile) * Shape::TilePieces;
    Piece pieces[Shape::TilePieces / kConsumerThreads];
#pragma unroll
    for (int i = 0; i < Shape::TilePieces / kConsumerThreads; ++i) {
      pieces[i] = __ldg(source + i * kConsumerThreads + thread);
    }
#pragma unroll
    for (const Piece& piece : pieces) sum += add(piece);
  }
  write_cta_sum(job, sum, thread);
}

__global__ void fill_kernel(Piece* data, std::uint64_t pieces, unsigned long long* total) {
  const std::uint64_t step = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  Sum sum = 0;
  for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < pieces;
       i += step) {
    const Piece piece = {normal_number(4 * i), normal_number(4 * i + 1), normal_number(4 * i + 2),
                         normal_number(4 * i + 3)};
    data[i] = piece;
    sum += add(piece);
  }
  atomicAdd(total, static_cast<unsigned long long>(sum));
}

}  // namespace

cudaError_t launch_plain_loads(const Job& job, int ctas, Shape shape) {
  return with_shape(shape, [&](auto static_shape) {
    return launch(plain_loads_kernel<decltype(static_shape)>, job, ctas, kConsumerThreads, 0);
  });
}

cudaError_t launch_fill(Piece* data, std::uint64_t pieces, unsigned long long* sum) {
  const std::uint64_t wanted = (pieces + kConsumerThreads - 1) / kConsumerThreads;
  const int ctas = static_cast<int>(wanted < 2048 ? wanted : 2048);
  fill_kernel<<<ctas, kConsumerThreads>>>(data, pieces, sum);
  return cudaGetLastError();
}

}  // namespace stream
