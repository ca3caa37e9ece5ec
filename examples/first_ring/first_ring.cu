// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A whole program on a typed ring: y = A x. A stage holds two operands, a tile of the matrix that comes
// through a tensor map and the part of the vector that goes with it, a bulk copy. Warp 0 loads, warps 1 and 2
// multiply.
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <vector>

#include <sluice/host/launch.hpp>
#include <sluice/host/tile_map.hpp>
#include <sluice/ring.hpp>

constexpr int kRows = 64, kColumns = 32;
using Matrix = sluice::Tile<float, kRows, kColumns, sluice::Swizzle::B128>;
using Vector = sluice::Row<float, kColumns>;
using Loads = sluice::Ring<sluice::Stage<Matrix, Vector>, 4, sluice::CopyEngine<sluice::Warps<0>>,
                           sluice::Consumers<sluice::Warps<1, 2>>>;

__global__ void multiply(const __grid_constant__ CUtensorMap matrix, const float* x, float* y, int tiles) {
  Loads loads(sluice::shared_memory<Loads::SharedStorage>());
  const int first_row = blockIdx.x * kRows;
  if (auto producer = loads.producer()) {
    for (auto slot : producer.fill(tiles)) {
      const int first_column = slot.trip() * kColumns;
      slot.load(sluice::from(matrix, first_column, first_row), sluice::from(x + first_column));
    }
  }
  if (auto consumer = loads.consumer()) {
    const int row = threadIdx.x - 32;
    float sum = 0;
    for (auto [a, part] : consumer.take(tiles)) {
      for (int i = 0; i < kColumns; ++i) sum += a(row, i) * part(0, i);
    }
    y[first_row + row] = sum;
  }
}

int fail(const char* what) {
  std::fprintf(stderr, "first_ring: %s\n", what);
  return 2;
}

int main() {
  constexpr int kHeight = 4 * kRows, kWidth = 50 * kColumns;
  std::vector<float> matrix(kHeight * kWidth), x(kWidth), y(kHeight);
  for (int i = 0; i < kHeight * kWidth; ++i)
    matrix[i] = static_cast<float>(i % 1009 * 613 % 1009) / 1009 - 0.5f;
  for (int i = 0; i < kWidth; ++i) x[i] = static_cast<float>(i % 17) - 8;

  float *device_matrix = nullptr, *device_x = nullptr, *device_y = nullptr;
  if (cudaMalloc(&device_matrix, matrix.size() * sizeof(float)) != cudaSuccess ||
      cudaMalloc(&device_x, x.size() * sizeof(float)) != cudaSuccess ||
      cudaMalloc(&device_y, y.size() * sizeof(float)) != cudaSuccess)
    return fail("no CUDA device, or no memory; `build/bin/sluice run -- first_ring` needs no device");
  cudaMemcpy(device_matrix, matrix.data(), matrix.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(device_x, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice);

  // The map's box, swizzle and element type are those of operand 0 of the ring.
  const auto map = sluice::operand_map<Loads, 0>(device_matrix, kHeight, kWidth).encode();
  if (!map) return fail(map.message());
  const sluice::LaunchShape shape{
      .grid = kHeight / kRows, .cta = 3 * 32, .shared_bytes = Loads::kSharedBytes};
  if (const auto error = sluice::launch(multiply, shape, *map, device_x, device_y, kWidth / kColumns))
    return fail(error.text);
  if (const cudaError_t status =
          cudaMemcpy(y.data(), device_y, y.size() * sizeof(float), cudaMemcpyDeviceToHost))
    return fail(cudaGetErrorString(status));

  int wrong = 0;
  for (int row = 0; row < kHeight; ++row) {
    double sum = 0;
    for (int i = 0; i < kWidth; ++i) sum += double{matrix[row * kWidth + i]} * x[i];
    wrong += !(std::fabs(sum - y[row]) < 1e-2);
  }
  std::printf("%s (%d of %d rows wrong)\n", wrong == 0 ? "PASS" : "FAIL", wrong, kHeight);
  return wrong == 0 ? 0 : 1;
}
