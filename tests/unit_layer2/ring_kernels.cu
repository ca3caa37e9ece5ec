// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Typed rings at work: every kind of producer, each way to take stages, persistent work items with trip
// counts around the number of stages, clusters with multicast, wgmma with held stages. Each case moves
// distinct values through a ring and compares every element. Prints PASS or FAIL per case.
//
//   ring_kernels [--list] [PART_OF_A_NAME...]
#include "ring_kernels.hpp"

#include <cstring>

namespace ring_kernels {
namespace {

using namespace sluice;

constexpr int kMaxItems = 16;

/// Trip counts of a persistent CTA's work items.
struct Items {
  int count;
  int trips[kMaxItems];
};

int total_trips(const Items& items) {
  int total = 0;
  for (int i = 0; i < items.count; ++i) total += items.trips[i];
  return total;
}

// --- the copy engine fills, from a tensor map ---

enum class Way { Plain, Held1, Held2, Break, OneByOne };

template <class View, class T>
__device__ void copy_out(const View& tile, T* out, int thread, int threads) {
  for (int i = thread; i < View::rows() * View::columns(); i += threads) {
    out[i] = tile(i / View::columns(), i % View::columns());
  }
}

/// Copies stage after stage to `out`, in the given way.
template <Way kWay, class Consumer, class T>
__device__ void drain(Consumer& consumer, const Items& items, T* out, int thread, int threads) {
  using Tile = typename Consumer::Facts::template Tile<0>;
  int stage = 0;
  const auto place = [&](int number) { return out + number * Tile::kElements; };
  for (int item = 0; item < items.count; ++item) {
    const int trips = items.trips[item];
    if constexpr (kWay == Way::Plain) {
      for (auto full : consumer.take(trips)) {
        dawdle(thread / 32 == stage % 3);
        copy_out(full.template get<0>(), place(stage++), thread, threads);
      }
    } else if constexpr (kWay == Way::Held1 || kWay == Way::Held2) {
      // Reads each stage K trips late, when it would have been refilled had it been given back at once.
      constexpr int kHeld = kWay == Way::Held1 ? 1 : 2;
      const T* held[kHeld + 1] = {};
      int count = 0;
      for (auto full : consumer.take(trips, hold<kHeld>)) {
        for (int i = kHeld; i > 0; --i) held[i] = held[i - 1];
        held[0] = full.template get<0>().data();
        ++count;
        dawdle(thread / 32 == stage % 3);
        if (count > kHeld) {
          copy_out(TileView<Tile, const T>(held[kHeld]), place(stage++), thread, threads);
        }
      }
      for (int late = (count < kHeld ? count : kHeld) - 1; late >= 0; --late) {
        copy_out(TileView<Tile, const T>(held[late]), place(stage++), thread, threads);
      }
      if (item % 2 == 0) consumer.release_held();  // otherwise the next take does it
    } else if constexpr (kWay == Way::Break) {
      int taken = 0;
      for (auto full : consumer.take(trips)) {
        copy_out(full.template get<0>(), place(stage++), thread, threads);
        if (++taken > trips / 2) break;
      }
      for (auto full : consumer.take(trips - taken)) {
        copy_out(full.template get<0>(), place(stage++), thread, threads);
      }
    } else {
      for (int i = 0; i < trips; ++i) {
        const auto full = consumer.wait();
        copy_out(full.template get<0>(), place(stage++), thread, threads);
      }
    }
  }
}

template <class Ring, Way kWay, class T>
__global__ void tensor_kernel(const __grid_constant__ CUtensorMap map, const Items items, T* out) {
  using Tile = typename Ring::Facts::template Tile<0>;
  Ring ring(shared_memory<typename Ring::SharedStorage>());
  if (auto producer = ring.producer()) {
    int line = 0;
    for (int item = 0; item < items.count; ++item) {
      for (auto slot : producer.fill(items.trips[item])) {
        slot.load(from(map, 0, line));
        line += Tile::kLines;
      }
    }
  }
  if (auto consumer = ring.consumer()) {
    drain<kWay>(consumer, items, out, static_cast<int>(threadIdx.x) - 32, 96);
  }
}

/// The bits of an element, so that every type compares exactly.
template <class T>
std::vector<T> in_tile_order(const std::vector<T>& matrix, Major major, int rows, int columns) {
  if (major == Major::K) return matrix;
  // MN-major: the matrix holds columns one after the other; results are written row by row.
  std::vector<T> result(matrix.size());
  const std::size_t elements = static_cast<std::size_t>(rows * columns);
  for (std::size_t tile = 0; tile * elements < matrix.size(); ++tile) {
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < columns; ++column) {
        result[tile * elements + static_cast<std::size_t>(row * columns + column)] =
            matrix[tile * elements + static_cast<std::size_t>(column * rows + row)];
      }
    }
  }
  return result;
}

template <class Tile, int kStages, Way kWay>
std::string run_tensor(const Items& items) {
  using T = typename Tile::Element;
  using Ring = sluice::Ring<Stage<Tile>, kStages, CopyEngine<Warps<0>>, Consumers<Warps<1, 3>>>;
  const int tiles = total_trips(items);
  const int map_tiles = tiles > 0 ? tiles : 1;
  const auto input = distinct_values<T>(static_cast<std::size_t>(map_tiles * Tile::kElements));
  const Buffer<T> in(input);
  const Buffer<T> out(static_cast<std::size_t>(tiles * Tile::kElements));
  // Tiles follow each other along the lines' dimension.
  const bool k_major = Tile::kMajor == Major::K;
  const auto map = operand_map<Ring, 0>(
                       in.data(), static_cast<std::uint64_t>(k_major ? map_tiles * Tile::kRows : Tile::kRows),
                       static_cast<std::uint64_t>(k_major ? Tile::kColumns : map_tiles * Tile::kColumns))
                       .encode();
  if (!map) return map.message();
  const LaunchShape shape{.grid = 1, .cta = 128, .shared_bytes = Ring::kSharedBytes};
  if (auto error = run_kernel(tensor_kernel<Ring, kWay, T>, shape, *map, items, out.data()); !error.empty())
    return error;
  auto expected = in_tile_order(input, Tile::kMajor, Tile::kRows, Tile::kColumns);
  expected.resize(static_cast<std::size_t>(tiles * Tile::kElements));
  return difference(out.read(), expected);
}

// --- bulk copies of plain bytes, the last one short ---

template <class Ring>
__global__ void bulk_kernel(const float* in, int elements, float* out) {
  constexpr int kTile = Ring::Facts::template Tile<0>::kElements;
  Ring ring(shared_memory<typename Ring::SharedStorage>());
  const int tiles = (elements + kTile - 1) / kTile;
  if (auto producer = ring.producer()) {
    for (auto slot : producer.fill(tiles)) {
      const int first = slot.trip() * kTile;
      slot.load(from(in + first, min(kTile, elements - first)).with(ptx::CachePolicy::EvictFirst));
    }
  }
  if (auto consumer = ring.consumer()) {
    for (auto tile : consumer.take(tiles)) {
      const int first = tile.trip() * kTile;
      for (int i = static_cast<int>(threadIdx.x) - 32; i < min(kTile, elements - first); i += 64)
        out[first + i] = tile[i];
    }
  }
}

std::string run_bulk(int elements) {
  using Ring = sluice::Ring<Stage<Row<float, 512>>, 3, CopyEngine<Warps<0>>, Consumers<Warps<1, 2>>>;
  const auto input = distinct_values<float>(static_cast<std::size_t>(elements));
  const Buffer<float> in(input);
  const Buffer<float> out(input.size());
  const LaunchShape shape{.grid = 1, .cta = 96, .shared_bytes = Ring::kSharedBytes};
  if (auto error = run_kernel(bulk_kernel<Ring>, shape, in.data(), elements, out.data()); !error.empty())
    return error;
  return difference(out.read(), input);
}

// --- a stage with three tiles of different kinds ---

template <class Ring>
__global__ void mixed_kernel(const __grid_constant__ CUtensorMap map_a,
                             const __grid_constant__ CUtensorMap map_b, const float* scales, int trips,
                             float* out) {
  Ring ring(shared_memory<typename Ring::SharedStorage>());
  if (auto producer = ring.producer()) {
    for (auto slot : producer.fill(trips)) {
      slot.load(from(map_a, 32 * slot.trip(), 0), from(map_b, 16 * slot.trip(), 0),
                from(scales + 4 * slot.trip()));
    }
  }
  if (auto consumer = ring.consumer()) {
    for (auto full : consumer.take(trips)) {
      const int trip = full.trip();
      auto& [a, b, scale] = full;
      const int lane = static_cast<int>(threadIdx.x) % 32;
      const int warp = static_cast<int>(threadIdx.x) / 32;
      for (int row = warp; row < 64; row += 2) {
        out[(trip * 64 + row) * 32 + lane] = a(row, lane) + b(row % 8, lane % 16) * scale[row % 4];
      }
    }
  }
}

std::string run_mixed(int trips) {
  using A = Tile<float, 64, 32, Swizzle::B128>;
  using B = Tile<float, 8, 16, Swizzle::B64>;
  using Ring = sluice::Ring<Stage<A, B, Row<float, 4>>, 3, CopyEngine<Warps<2>>, Consumers<Warps<0, 2>>>;
  const int columns_a = 32 * trips;
  const int columns_b = 16 * trips;
  const auto a = distinct_values<float>(static_cast<std::size_t>(64 * columns_a));
  const auto b = distinct_values<float>(static_cast<std::size_t>(8 * columns_b));
  auto scales = distinct_values<float>(static_cast<std::size_t>(4 * trips));
  for (float& scale : scales)
    scale = static_cast<float>(static_cast<int>(scale) % 16);  // exact with and without fma
  const Buffer<float> device_a(a), device_b(b), device_scales(scales);
  const Buffer<float> out(static_cast<std::size_t>(trips * 64 * 32));
  const auto map_a =
      operand_map<Ring, 0>(device_a.data(), 64, static_cast<std::uint64_t>(columns_a)).encode();
  const auto map_b = operand_map<Ring, 1>(device_b.data(), 8, static_cast<std::uint64_t>(columns_b)).encode();
  if (!map_a) return map_a.message();
  if (!map_b) return map_b.message();
  const LaunchShape shape{.grid = 1, .cta = 96, .shared_bytes = Ring::kSharedBytes};
  if (auto error =
          run_kernel(mixed_kernel<Ring>, shape, *map_a, *map_b, device_scales.data(), trips, out.data());
      !error.empty()) {
    return error;
  }
  std::vector<float> expected;
  for (int trip = 0; trip < trips; ++trip) {
    for (int row = 0; row < 64; ++row) {
      for (int column = 0; column < 32; ++column) {
        expected.push_back(a[static_cast<std::size_t>(row * columns_a + 32 * trip + column)] +
                           b[static_cast<std::size_t>(row % 8 * columns_b + 16 * trip + column % 16)] *
                               scales[static_cast<std::size_t>(4 * trip + row % 4)]);
      }
    }
  }
  return difference(out.read(), expected);
}

// --- cp.async gathers rows by an index list; indices below zero give zero rows ---

template <class Ring>
__global__ void gather_kernel(const float* table, const int* indices, int trips, float* out) {
  using Tile = typename Ring::Facts::template Tile<0>;
  Ring ring(shared_memory<typename Ring::SharedStorage>());
  if (auto producer = ring.producer()) {
    for (auto slot : producer.fill(trips)) {
      for (int chunk = producer.rank(); chunk < Tile::kChunks; chunk += producer.size()) {
        const int row = chunk / (Tile::kColumns / 4);
        const int column = chunk % (Tile::kColumns / 4) * 4;
        const int index = indices[slot.trip() * Tile::kRows + row];
        const float* source = table + max(index, 0) * Tile::kColumns + column;
        slot.copy_or_zero(row, column, source, index < 0 ? 0 : 16);
      }
    }
  }
  if (auto consumer = ring.consumer()) {
    for (auto tile : consumer.take(trips)) {
      copy_out(tile.tile(), out + tile.trip() * Tile::kElements, static_cast<int>(threadIdx.x) - 64, 64);
    }
  }
}

std::string run_gather(int trips) {
  using Tile = sluice::Tile<float, 16, 32, Swizzle::B128>;
  using Ring = sluice::Ring<Stage<Tile>, 3, CpAsync<Warps<0, 2>>, Consumers<Warps<2, 2>>>;
  const auto table = distinct_values<float>(64 * 32);
  std::vector<int> indices(static_cast<std::size_t>(trips * 16));
  std::vector<float> expected;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    indices[i] = i % 7 == 3 ? -1 : static_cast<int>(i * 37 % 64);
    for (std::size_t column = 0; column < 32; ++column) {
      expected.push_back(indices[i] < 0 ? 0 : table[static_cast<std::size_t>(indices[i]) * 32 + column]);
    }
  }
  const Buffer<float> device_table(table);
  const Buffer<int> device_indices(indices);
  const Buffer<float> out(expected.size());
  const LaunchShape shape{.grid = 1, .cta = 128, .shared_bytes = Ring::kSharedBytes};
  if (auto error = run_kernel(gather_kernel<Ring>, shape, device_table.data(), device_indices.data(), trips,
                              out.data());
      !error.empty()) {
    return error;
  }
  return difference(out.read(), expected);
}

// --- stores fill a second ring from the first (its consumers are the second's producer), a store ring writes
// out ---

template <class Loads, class Converted, class Out>
struct ChainShared {
  typename Loads::SharedStorage loads;
  typename Converted::SharedStorage converted;
  typename Out::SharedStorage out;
};

template <class Loads, class Converted, class Out>
__global__ void chain_kernel(const __grid_constant__ CUtensorMap in,
                             const __grid_constant__ CUtensorMap out_map, int trips) {
  using Shared = ChainShared<Loads, Converted, Out>;
  auto& shared = shared_memory<Shared>();
  Loads loads(shared.loads, sync_later);
  Converted converted(shared.converted);
  Out out(shared.out);
  if (auto producer = loads.producer()) {
    for (auto slot : producer.fill(trips)) slot.load(from(in, 0, 32 * slot.trip()));
  }
  if (auto halves = loads.consumer()) {
    auto producer = converted.producer();
    for (auto tile : halves.take(trips)) {
      auto slot = producer.acquire();
      for (int i = producer.rank(); i < 32 * 64; i += producer.size()) {
        slot(i / 64, i % 64) = static_cast<float>(tile(i / 64, i % 64)) + 0.5f;
      }
    }
  }
  if (auto floats = converted.consumer()) {
    auto writer = out.writer();
    for (auto slot : writer.fill(trips)) {
      const auto tile = floats.wait();
      auto& [left, right] = slot;
      for (int i = writer.rank(); i < 32 * 64; i += writer.size()) {
        const int row = i / 64;
        const int column = i % 64;
        (column < 32 ? left : right)(row, column % 32) = tile(row, column);
      }
      slot.store(to(out_map, 0, 32 * slot.trip()), to(out_map, 32, 32 * slot.trip()));
    }
  }
}

std::string run_chain(int trips) {
  using Half = sluice::Tile<std::uint16_t, 32, 64, Swizzle::B128>;
  using Float = sluice::Tile<float, 32, 64>;
  using Out = sluice::Tile<float, 32, 32, Swizzle::B128>;
  using Loads = Ring<Stage<Half>, 3, CopyEngine<Warps<0>>, Consumers<Warps<1, 2>>>;
  using Converted = Ring<Stage<Float>, 2, Stores<Warps<1, 2>>, Consumers<Warps<3, 4>>>;
  using OutRing = StoreRing<Stage<Out, Out>, 2, Warps<3, 4>>;
  const auto input = distinct_values<std::uint16_t>(static_cast<std::size_t>(trips * 32 * 64));
  const Buffer<std::uint16_t> in(input);
  const Buffer<float> out(input.size());
  const auto in_map = operand_map<Loads, 0>(in.data(), static_cast<std::uint64_t>(32 * trips), 64).encode();
  const auto out_map = tile_map<Out>(out.data(), static_cast<std::uint64_t>(32 * trips), 64).encode();
  if (!in_map) return in_map.message();
  if (!out_map) return out_map.message();
  const LaunchShape shape{
      .grid = 1, .cta = 7 * 32, .shared_bytes = sizeof(ChainShared<Loads, Converted, OutRing>)};
  if (auto error = run_kernel(chain_kernel<Loads, Converted, OutRing>, shape, *in_map, *out_map, trips);
      !error.empty()) {
    return error;
  }
  std::vector<float> expected;
  for (const auto value : input) expected.push_back(static_cast<float>(value) + 0.5f);
  return difference(out.read(), expected);
}

// --- a store ring of one warp, plain bytes ---

template <class Ring>
__global__ void store_kernel(int tiles, float* out) {
  constexpr int kTile = Ring::Facts::template Tile<0>::kElements;
  Ring ring(shared_memory<typename Ring::SharedStorage>());
  if (auto writer = ring.writer()) {
    for (auto slot : writer.fill(tiles)) {
      for (int i = writer.rank(); i < kTile; i += writer.size()) {
        slot[i] = static_cast<float>(slot.trip() * kTile + i);
      }
      if (slot.trip() % 5 != 3) slot.store(to(out + slot.trip() * kTile));  // some tiles are not stored
    }
  }
}

template <class Warps>
std::string run_store(int tiles) {
  using Ring = StoreRing<Stage<Row<float, 256>>, 3, Warps, 2>;
  const Buffer<float> out(static_cast<std::size_t>(tiles * 256));
  auto expected = out.read();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (i / 256 % 5 != 3) expected[i] = static_cast<float>(i);
  }
  const LaunchShape shape{.grid = 1, .cta = 256, .shared_bytes = Ring::kSharedBytes};
  if (auto error = run_kernel(store_kernel<Ring>, shape, tiles, out.data()); !error.empty()) return error;
  return difference(out.read(), expected);
}

// --- two groups take turns ---

template <class Ring>
__global__ void turns_kernel(const float* in, const Items items, float* out) {
  constexpr int kTile = Ring::Facts::template Tile<0>::kElements;
  Ring ring(shared_memory<typename Ring::SharedStorage>());
  if (auto producer = ring.producer()) {
    int tile = 0;
    for (int item = 0; item < items.count; ++item) {
      for (auto slot : producer.fill(items.trips[item])) slot.load(from(in + kTile * tile++));
    }
  }
  if (auto consumer = ring.consumer()) {
    const int group = (static_cast<int>(threadIdx.x) - 32) / 64;
    const int thread = static_cast<int>(threadIdx.x) % 64;
    int tile = 0;
    for (int item = 0; item < items.count; ++item) {
      if (item % 2 != group) {
        consumer.skip(items.trips[item]);
        tile += items.trips[item];
        continue;
      }
      for (auto full : consumer.take(items.trips[item])) {
        dawdle(group == 1);
        for (int i = thread; i < kTile; i += 64) out[kTile * tile + i] = full[i];
        ++tile;
      }
    }
  }
}

std::string run_turns(const Items& items) {
  using Ring = sluice::Ring<Stage<Row<float, 256>>, 3, CopyEngine<Warps<0>>, TakingTurns<Warps<1, 4>, 2>>;
  const auto input = distinct_values<float>(static_cast<std::size_t>(256 * total_trips(items)));
  const Buffer<float> in(input);
  const Buffer<float> out(input.size());
  const LaunchShape shape{.grid = 1, .cta = 160, .shared_bytes = Ring::kSharedBytes};
  if (auto error = run_kernel(turns_kernel<Ring>, shape, in.data(), items, out.data()); !error.empty())
    return error;
  return difference(out.read(), input);
}

}  // namespace

void add_single_cta_cases(std::vector<Case>& cases) {
  const auto add = [&](const std::string& name, auto run) { cases.push_back({name, run}); };
  using Halves = Tile<std::uint16_t, 32, 64, Swizzle::B128>;
  using Floats = Tile<float, 16, 32, Swizzle::B128>;

  // Trip counts around the number of stages.
  for (int trips : {0, 1, 2, 3, 4, 6, 7, 20}) {
    const Items items{1, {trips}};
    const std::string count = std::to_string(trips);
    add("tensor_3_stages_trips_" + count, [=] { return run_tensor<Halves, 3, Way::Plain>(items); });
    add("tensor_1_stage_trips_" + count, [=] { return run_tensor<Halves, 1, Way::Plain>(items); });
    add("tensor_hold_1_trips_" + count, [=] { return run_tensor<Floats, 3, Way::Held1>(items); });
    add("tensor_hold_2_trips_" + count, [=] { return run_tensor<Floats, 4, Way::Held2>(items); });
    add("gather_trips_" + count, [=] { return run_gather(trips); });
    add("store_one_warp_trips_" + count, [=] { return run_store<Warps<2>>(trips); });
    add("store_four_warps_trips_" + count, [=] { return run_store<Warps<4, 4>>(trips); });
    if (trips == 0) continue;
    add("mixed_trips_" + count, [=] { return run_mixed(trips); });
    add("chain_trips_" + count, [=] { return run_chain(trips); });
  }

  // Work items of a persistent CTA: empty ones in odd and even numbers, odd trips.
  const Items lists[] = {
      {3, {0, 0, 5}}, {5, {1, 0, 2, 3, 1}}, {6, {3, 3, 3, 0, 7, 1}}, {7, {5, 0, 0, 0, 4, 1, 6}}};
  for (const Items& items : lists) {
    std::string name;
    for (int i = 0; i < items.count; ++i) name += "_" + std::to_string(items.trips[i]);
    add("persistent" + name, [=] { return run_tensor<Halves, 3, Way::Plain>(items); });
    add("persistent_hold_1" + name, [=] { return run_tensor<Halves, 2, Way::Held1>(items); });
    add("persistent_hold_2" + name, [=] { return run_tensor<Floats, 3, Way::Held2>(items); });
    add("persistent_break" + name, [=] { return run_tensor<Halves, 3, Way::Break>(items); });
    add("persistent_one_by_one" + name, [=] { return run_tensor<Halves, 4, Way::OneByOne>(items); });
    add("turns" + name, [=] { return run_turns(items); });
  }

  // Each swizzle, element size and order.
  const Items five{1, {5}};
  add("swizzle_none", [=] { return run_tensor<Tile<std::uint16_t, 24, 40>, 3, Way::Plain>(five); });
  add("swizzle_32",
      [=] { return run_tensor<Tile<std::uint16_t, 24, 16, Swizzle::B32>, 3, Way::Plain>(five); });
  add("swizzle_64",
      [=] { return run_tensor<Tile<std::uint16_t, 24, 32, Swizzle::B64>, 3, Way::Plain>(five); });
  add("swizzle_128_bytes",
      [=] { return run_tensor<Tile<std::uint8_t, 40, 128, Swizzle::B128>, 3, Way::Plain>(five); });
  add("swizzle_128_doubles",
      [=] { return run_tensor<Tile<double, 16, 16, Swizzle::B128>, 3, Way::Plain>(five); });
  add("mn_major",
      [=] { return run_tensor<Tile<float, 32, 24, Swizzle::B128, Major::MN>, 3, Way::Plain>(five); });
  add("panels",
      [=] { return run_tensor<Panels<Tile<std::uint16_t, 24, 64, Swizzle::B128>, 3>, 3, Way::Plain>(five); });
  add("panels_mn_major", [=] {
    return run_tensor<Panels<Tile<float, 32, 16, Swizzle::B128, Major::MN>, 2>, 3, Way::Held1>(five);
  });
  add("mn_major_plain",
      [=] { return run_tensor<Tile<float, 20, 6, Swizzle::None, Major::MN>, 3, Way::Plain>(five); });

  for (int elements : {4, 508, 512, 516, 512 * 7 + 100}) {
    add("bulk_" + std::to_string(elements), [=] { return run_bulk(elements); });
  }
}

}  // namespace ring_kernels

int main(int argc, char** argv) {
  std::vector<ring_kernels::Case> cases;
  ring_kernels::add_single_cta_cases(cases);
  ring_kernels::add_cluster_cases(cases);
  ring_kernels::add_wgmma_cases(cases);
  if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
    for (const auto& one : cases) std::printf("%s\n", one.name.c_str());
    return 0;
  }
  int devices = 0;
  cudaDeviceProp properties{};
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0 ||
      cudaGetDeviceProperties(&properties, 0) != cudaSuccess || properties.major != 9) {
    std::printf(
        "ring_kernels: skipped, these kernels need a Hopper GPU (compute capability 9.0) and there is "
        "none\n");
    return 77;
  }
  int failed = 0;
  int run = 0;
  for (const auto& one : cases) {
    bool is_wanted = argc == 1;
    for (int i = 1; i < argc; ++i) is_wanted |= one.name.find(argv[i]) != std::string::npos;
    if (!is_wanted) continue;
    const std::string problem = one.run();
    std::printf("%s %s%s%s\n", problem.empty() ? "PASS" : "FAIL", one.name.c_str(),
                problem.empty() ? "" : ": ", problem.c_str());
    std::fflush(stdout);
    ++run;
    failed += !problem.empty();
    // A kernel that failed leaves the context unusable.
    if (cudaGetLastError() != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess) break;
  }
  std::printf("%d cases, %d failed\n", run, failed);
  return failed == 0 && run > 0 ? 0 : 1;
}
