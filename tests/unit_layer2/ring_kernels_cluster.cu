// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Cases of ring_kernels with clusters: tiles that all CTAs of a row, of a column or of the cluster receive,
// each CTA loading its share; one CTA and one warp late in turn; persistent work items; held stages.
#include "ring_kernels.hpp"

namespace ring_kernels {
namespace {

using namespace sluice;

using Halves64 = Tile<std::uint16_t, 64, 64, Swizzle::B128>;
using Floats = Tile<float, 32, 32, Swizzle::B128>;

/// Every CTA writes what it received to its own part of `out`.
template <class Ring, class View, class T>
__device__ void copy_tile(const View& tile, T* out, int thread, int threads) {
  for (int i = thread; i < View::rows() * View::columns(); i += threads) {
    out[i] = tile(i / View::columns(), i % View::columns());
  }
}

// --- one operand for the whole row of CTAs ---

template <class Ring, int kHeld>
__global__ void row_kernel(const __grid_constant__ CUtensorMap map, int items, int trips,
                           std::uint16_t* out) {
  using Halves = typename Ring::Facts::template Tile<0>;
  Ring ring(shared_memory<typename Ring::SharedStorage>());
  const int rank = static_cast<int>(ptx::cluster_ctarank());
  std::uint16_t* mine = out + rank * items * trips * Halves::kElements;
  if (auto producer = ring.producer()) {
    int tile = 0;
    for (int item = 0; item < items; ++item) {
      for (auto slot : producer.fill(trips)) {
        dawdle(rank == tile % 5);
        slot.load(from(map, 0, Halves::kRows * tile++));
      }
    }
  }
  if (auto consumer = ring.consumer()) {
    const int thread = static_cast<int>(threadIdx.x) - 32;
    int tile = 0;
    for (int item = 0; item < items; ++item) {
      for (auto full : consumer.take(trips, hold<kHeld>)) {
        dawdle(rank == tile % 3 && thread / 32 == tile % 2);
        copy_tile<Ring>(full.tile(), mine + tile++ * Halves::kElements, thread, 96);
      }
    }
  }
}

template <class Cluster, Along kAlong, int kStages, int kHeld, class Halves = Halves64>
std::string run_shared(int items, int trips) {
  using Ring = sluice::Ring<Stage<Multicast<Halves, kAlong>>, kStages, CopyEngine<Warps<0>, Cluster>,
                            Consumers<Warps<1, 3>>>;
  using Extent = detail::ClusterTraits<Cluster>;
  const std::size_t elements = static_cast<std::size_t>(items * trips * Halves::kElements);
  const auto input = distinct_values<std::uint16_t>(elements);
  const Buffer<std::uint16_t> in(input);
  const Buffer<std::uint16_t> out(elements * Extent::kSize);
  const auto map = operand_map<Ring, 0>(in.data(), static_cast<std::uint64_t>(items * trips * Halves::kRows),
                                        Halves::kColumns)
                       .encode();
  if (!map) return map.message();
  const LaunchShape shape{.grid = dim3(Extent::kX, Extent::kY, 1),
                          .cta = 128,
                          .shared_bytes = Ring::kSharedBytes,
                          .cluster = dim3(Extent::kX, Extent::kY, 1)};
  if (auto error = run_kernel(row_kernel<Ring, kHeld>, shape, *map, items, trips, out.data());
      !error.empty()) {
    return error;
  }
  std::vector<std::uint16_t> expected;
  for (int cta = 0; cta < Extent::kSize; ++cta) expected.insert(expected.end(), input.begin(), input.end());
  return difference(out.read(), expected);
}

// --- two operands, as a matrix product shares them: A along the columns of CTAs, B along the rows ---

template <class Ring>
__global__ void grid_kernel(const __grid_constant__ CUtensorMap map_a,
                            const __grid_constant__ CUtensorMap map_b, const float* bias, int trips,
                            float* out) {
  Ring ring(shared_memory<typename Ring::SharedStorage>());
  const int x = static_cast<int>(ptx::cluster_ctaid_x());
  const int y = static_cast<int>(ptx::cluster_ctaid_y());
  const int rank = static_cast<int>(ptx::cluster_ctarank());
  if (auto producer = ring.producer()) {
    for (auto slot : producer.fill(trips)) {
      dawdle(rank == slot.trip() % 4);
      slot.load(from(map_a, 32 * slot.trip(), 32 * x), from(map_b, 32 * slot.trip(), 32 * y),
                from(bias + 256 * slot.trip()));
    }
  }
  if (auto consumer = ring.consumer()) {
    const int thread = static_cast<int>(threadIdx.x) - 128;
    for (auto full : consumer.take(trips)) {
      const int trip = full.trip();
      auto& [a, b, c] = full;
      dawdle(rank == trip % 3);
      float* mine = out + (rank * trips + trip) * 1024;
      for (int i = thread; i < 1024; i += 128) {
        const int row = i / 32;
        const int column = i % 32;
        mine[i] = a(row, column) + 3 * b(row, column) + c[i % 256];
      }
    }
  }
}

template <int kX, int kY>
std::string run_grid(int trips) {
  using Cluster = ClusterShape<kX, kY>;
  using Bias = Multicast<Row<float, 256>, Along::All>;
  using Ring = sluice::Ring<Stage<Multicast<Floats, Along::Y>, Multicast<Floats, Along::X>, Bias>, 3,
                            CopyEngine<Warps<0>, Cluster>, Consumers<Warpgroups<1>>>;
  const int columns = 32 * trips;
  const auto a = distinct_values<float>(static_cast<std::size_t>(32 * kX * columns));
  const auto b = distinct_values<float>(static_cast<std::size_t>(32 * kY * columns));
  const auto bias = distinct_values<float>(static_cast<std::size_t>(256 * trips));
  const Buffer<float> device_a(a), device_b(b), device_bias(bias);
  const Buffer<float> out(static_cast<std::size_t>(kX * kY * trips * 1024));
  const auto map_a =
      operand_map<Ring, 0>(device_a.data(), 32 * kX, static_cast<std::uint64_t>(columns)).encode();
  const auto map_b =
      operand_map<Ring, 1>(device_b.data(), 32 * kY, static_cast<std::uint64_t>(columns)).encode();
  if (!map_a) return map_a.message();
  if (!map_b) return map_b.message();
  const LaunchShape shape{
      .grid = dim3(kX, kY, 1), .cta = 256, .shared_bytes = Ring::kSharedBytes, .cluster = dim3(kX, kY, 1)};
  if (auto error =
          run_kernel(grid_kernel<Ring>, shape, *map_a, *map_b, device_bias.data(), trips, out.data());
      !error.empty()) {
    return error;
  }
  std::vector<float> expected;
  for (int rank = 0; rank < kX * kY; ++rank) {
    for (int trip = 0; trip < trips; ++trip) {
      for (int i = 0; i < 1024; ++i) {
        const int row = i / 32;
        const int column = 32 * trip + i % 32;
        expected.push_back(a[static_cast<std::size_t>((32 * (rank % kX) + row) * columns + column)] +
                           3 * b[static_cast<std::size_t>((32 * (rank / kX) + row) * columns + column)] +
                           bias[static_cast<std::size_t>(256 * trip + i % 256)]);
      }
    }
  }
  return difference(out.read(), expected);
}

}  // namespace

void add_cluster_cases(std::vector<Case>& cases) {
  const auto add = [&](const std::string& name, auto run) { cases.push_back({name, run}); };
  for (int trips : {1, 3, 7}) {
    const std::string count = "_trips_" + std::to_string(trips);
    add("cluster_2_row" + count, [=] { return run_shared<ClusterShape<2>, Along::X, 3, 0>(1, trips); });
    add("cluster_4_row" + count, [=] { return run_shared<ClusterShape<4>, Along::X, 3, 0>(1, trips); });
    add("cluster_8_row" + count, [=] { return run_shared<ClusterShape<8>, Along::X, 2, 0>(1, trips); });
    add("cluster_1x2_column" + count,
        [=] { return run_shared<ClusterShape<1, 2>, Along::Y, 3, 0>(1, trips); });
    add("cluster_2x2_all" + count,
        [=] { return run_shared<ClusterShape<2, 2>, Along::All, 3, 0>(1, trips); });
    add("cluster_2_panels" + count,
        [=] { return run_shared<ClusterShape<2>, Along::X, 2, 0, Panels<Halves64, 3>>(1, trips); });
    add("cluster_2_hold_1" + count, [=] { return run_shared<ClusterShape<2>, Along::X, 3, 1>(1, trips); });
    add("cluster_4_persistent" + count,
        [=] { return run_shared<ClusterShape<4>, Along::X, 3, 0>(5, trips); });
    add("cluster_4_persistent_hold_2" + count,
        [=] { return run_shared<ClusterShape<4>, Along::X, 4, 2>(5, trips); });
    add("cluster_2x2_operands" + count, [=] { return run_grid<2, 2>(trips); });
    add("cluster_4x2_operands" + count, [=] { return run_grid<4, 2>(trips); });
    add("cluster_2x4_operands" + count, [=] { return run_grid<2, 4>(trips); });
  }
}

}  // namespace ring_kernels
