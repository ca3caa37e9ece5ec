// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Cases of ring_kernels in which wgmma reads the stages: 64 x 64 x K products of small integers in half
// precision, exact in float, with one or two products in flight and as many stages held. Checks the
// descriptors of K-major and MN-major tiles and the order of holding and giving back. One case fills the
// stages by ordinary stores.
#include "ring_kernels.hpp"
#include "sluice/arch/wgmma.hpp"

#include <cuda_fp16.h>

namespace ring_kernels {
namespace {

using namespace sluice;

/// Adds the product of 64 x 16 halves of A and 16 x 64 of B. `TransposeA`/`TransposeB` 1: the tile is
/// MN-major. PTX: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
template <int TransposeA, int TransposeB>
__device__ void multiply(float (&d)[32], std::uint64_t a, std::uint64_t b) {
  asm volatile(
      "{\n\t.reg .pred adds;\n\tsetp.ne.b32 adds, 1, 0;\n\t"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "%32, %33, adds, 1, 1, %34, %35;\n\t}"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
        "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
        "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]),
        "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]),
        "+f"(d[30]), "+f"(d[31])
      : "l"(a), "l"(b), "n"(TransposeA), "n"(TransposeB)
      : "memory");
}

/// Row and column of accumulator `i` of a thread (PTX ISA, the D fragment of wgmma.m64nNk16).
__device__ int row_of(int thread, int i) {
  return 16 * (thread / 32) + thread % 32 / 4 + 8 * (i / 2 % 2);
}
__device__ int column_of(int thread, int i) {
  return 8 * (i / 4) + 2 * (thread % 4) + i % 2;
}

/// The consumers' part: multiplies `trips` stages per item and writes the product.
template <int kHeld, class Consumer>
__device__ void multiply_stages(Consumer& consumer, int items, int trips, float* out) {
  using A = typename Consumer::Facts::template Tile<0>;
  using B = typename Consumer::Facts::template Tile<1>;
  constexpr int kTransposeA = A::kMajor == Major::MN;
  constexpr int kTransposeB = B::kMajor == Major::MN;
  const int thread = static_cast<int>(threadIdx.x) % 128;
  for (int item = 0; item < items; ++item) {
    float d[32] = {};
    for (auto full : consumer.take(trips, hold<kHeld>)) {
      auto& [a, b] = full;
      ptx::wgmma_fence();
      for (int k = 0; k < A::kColumns; k += 16) {
        multiply<kTransposeA, kTransposeB>(d, a.wgmma_descriptor(k), b.wgmma_descriptor(k));
      }
      ptx::wgmma_commit_group();
      ptx::wgmma_wait_group<kHeld>();
    }
    ptx::wgmma_wait_group<0>();
    for (float& value : d) ptx::wgmma_hold(value);
    consumer.release_held();
    for (int i = 0; i < 32; ++i) out[item * 4096 + row_of(thread, i) * 64 + column_of(thread, i)] = d[i];
  }
}

template <class Ring, int kHeld>
__global__ void product_kernel(const __grid_constant__ CUtensorMap map_a,
                               const __grid_constant__ CUtensorMap map_b, int items, int trips, float* out) {
  using A = typename Ring::Facts::template Tile<0>;
  using B = typename Ring::Facts::template Tile<1>;
  Ring ring(shared_memory<typename Ring::SharedStorage>());
  if (auto producer = ring.producer()) {
    int k = 0;
    for (int item = 0; item < items; ++item) {
      for (auto slot : producer.fill(trips)) {
        // K is the inner dimension of a K-major tile's map and the outer one of an MN-major tile's.
        constexpr bool kInnerA = A::kMajor == Major::K;
        constexpr bool kInnerB = B::kMajor == Major::K;
        slot.load(from(map_a, kInnerA ? k : 0, kInnerA ? 0 : k),
                  from(map_b, kInnerB ? k : 0, kInnerB ? 0 : k));
        k += A::kColumns;
      }
    }
  }
  if (auto consumer = ring.consumer()) multiply_stages<kHeld>(consumer, items, trips, out);
}

/// Fills the stages by stores: the value of A is its row plus k, that of B its row minus k, modulo 5.
template <class Ring>
__global__ void stored_product_kernel(int items, int trips, float* out) {
  Ring ring(shared_memory<typename Ring::SharedStorage>());
  if (auto producer = ring.producer()) {
    int k = 0;
    for (int item = 0; item < items; ++item) {
      for (auto slot : producer.fill(trips)) {
        auto& [a, b] = slot;
        for (int i = producer.rank(); i < 4096; i += producer.size()) {
          a(i / 64, i % 64) = __float2half(static_cast<float>((i / 64 + k + i % 64) % 5));
          b(i / 64, i % 64) = __float2half(static_cast<float>((i / 64 + 5 * 64 * 1000 - k - i % 64) % 5));
        }
        k += 64;
      }
    }
  }
  if (auto consumer = ring.consumer()) multiply_stages<1>(consumer, items, trips, out);
}

/// Fills the stages by cp.async from K-major matrices.
template <class Ring>
__global__ void copied_product_kernel(const __half* in_a, const __half* in_b, int depth, int items, int trips,
                                      float* out) {
  Ring ring(shared_memory<typename Ring::SharedStorage>());
  if (auto producer = ring.producer()) {
    int k = 0;
    for (int item = 0; item < items; ++item) {
      for (auto slot : producer.fill(trips)) {
        auto& [a, b] = slot;
        for (int chunk = producer.rank(); chunk < 64 * 8; chunk += producer.size()) {
          const int row = chunk / 8;
          const int column = chunk % 8 * 8;
          a.copy(row, column, in_a + row * depth + k + column);
          b.copy(row, column, in_b + row * depth + k + column);
        }
        k += 64;
      }
    }
  }
  if (auto consumer = ring.consumer()) multiply_stages<1>(consumer, items, trips, out);
}

/// The expected products of `items` times `depth` columns; `a` and `b` give the elements at (row, k).
template <class ElementA, class ElementB>
std::vector<float> products(int items, int depth, ElementA a, ElementB b) {
  std::vector<float> result(static_cast<std::size_t>(items * 4096));
  for (int item = 0; item < items; ++item) {
    for (int row = 0; row < 64; ++row) {
      for (int column = 0; column < 64; ++column) {
        float sum = 0;
        for (int k = item * depth; k < (item + 1) * depth; ++k) sum += a(row, k) * b(column, k);
        result[static_cast<std::size_t>(item * 4096 + row * 64 + column)] = sum;
      }
    }
  }
  return result;
}

template <Major kMajorA, Major kMajorB, int kStages, int kHeld,
          class A = Tile<__half, 64, 64, Swizzle::B128, kMajorA>,
          class B = Tile<__half, 64, 64, Swizzle::B128, kMajorB>>
std::string run_product(int items, int trips) {
  using Ring = sluice::Ring<Stage<A, B>, kStages, CopyEngine<Warps<4>>, Consumers<Warpgroups<0>>>;
  const int depth = items * trips * A::kColumns;
  const auto a = [](int row, int k) { return static_cast<float>((row * 3 + k * 7) % 11 - 5); };
  const auto b = [](int row, int k) { return static_cast<float>((row * 5 + k * 2) % 7 - 3); };
  // Both matrices are 64 x depth; MN-major ones are stored by columns.
  const auto stored = [&](Major major, auto element) {
    std::vector<__half> values(static_cast<std::size_t>(64 * depth));
    for (int row = 0; row < 64; ++row) {
      for (int k = 0; k < depth; ++k) {
        values[static_cast<std::size_t>(major == Major::K ? row * depth + k : k * 64 + row)] =
            __float2half(element(row, k));
      }
    }
    return values;
  };
  const Buffer<__half> device_a(stored(kMajorA, a)), device_b(stored(kMajorB, b));
  const Buffer<float> out(static_cast<std::size_t>(items * 4096));
  const auto map_a = operand_map<Ring, 0>(device_a.data(), 64, static_cast<std::uint64_t>(depth)).encode();
  const auto map_b = operand_map<Ring, 1>(device_b.data(), 64, static_cast<std::uint64_t>(depth)).encode();
  if (!map_a) return map_a.message();
  if (!map_b) return map_b.message();
  const LaunchShape shape{.grid = 1, .cta = 160, .shared_bytes = Ring::kSharedBytes};
  if (auto error = run_kernel(product_kernel<Ring, kHeld>, shape, *map_a, *map_b, items, trips, out.data());
      !error.empty()) {
    return error;
  }
  return difference(out.read(), products(items, trips * A::kColumns, a, b));
}

std::string run_stored_product(int items, int trips) {
  using Operand = Tile<__half, 64, 64, Swizzle::B128>;
  using Ring = sluice::Ring<Stage<Operand, Operand>, 3, Stores<Warps<4, 2>, ReadBy::AsyncProxy>,
                            Consumers<Warpgroups<0>>>;
  const Buffer<float> out(static_cast<std::size_t>(items * 4096));
  const LaunchShape shape{.grid = 1, .cta = 192, .shared_bytes = Ring::kSharedBytes};
  if (auto error = run_kernel(stored_product_kernel<Ring>, shape, items, trips, out.data()); !error.empty())
    return error;
  const auto a = [](int row, int k) { return static_cast<float>((row + k) % 5); };
  const auto b = [](int row, int k) { return static_cast<float>((row + 5 * 64 * 1000 - k) % 5); };
  return difference(out.read(), products(items, trips * 64, a, b));
}

template <int kStages>
std::string run_copied_product(int items, int trips) {
  using Operand = Tile<__half, 64, 64, Swizzle::B128>;
  using Ring = sluice::Ring<Stage<Operand, Operand>, kStages, CpAsync<Warps<4, 2>, ReadBy::AsyncProxy>,
                            Consumers<Warpgroups<0>>>;
  const int depth = items * trips * 64;
  const auto a = [](int row, int k) { return static_cast<float>((row * 3 + k * 7) % 11 - 5); };
  const auto b = [](int row, int k) { return static_cast<float>((row * 5 + k * 2) % 7 - 3); };
  std::vector<__half> values_a;
  std::vector<__half> values_b;
  for (int row = 0; row < 64; ++row) {
    for (int k = 0; k < depth; ++k) {
      values_a.push_back(__float2half(a(row, k)));
      values_b.push_back(__float2half(b(row, k)));
    }
  }
  const Buffer<__half> device_a(values_a), device_b(values_b);
  const Buffer<float> out(static_cast<std::size_t>(items * 4096));
  const LaunchShape shape{.grid = 1, .cta = 192, .shared_bytes = Ring::kSharedBytes};
  if (auto error = run_kernel(copied_product_kernel<Ring>, shape, device_a.data(), device_b.data(), depth,
                              items, trips, out.data());
      !error.empty()) {
    return error;
  }
  return difference(out.read(), products(items, trips * 64, a, b));
}

}  // namespace

void add_wgmma_cases(std::vector<Case>& cases) {
  const auto add = [&](const std::string& name, auto run) { cases.push_back({name, run}); };
  for (int trips : {1, 2, 5}) {
    const std::string count = "_trips_" + std::to_string(trips);
    add("wgmma_waited" + count, [=] { return run_product<Major::K, Major::K, 3, 0>(1, trips); });
    add("wgmma_hold_1" + count, [=] { return run_product<Major::K, Major::K, 3, 1>(1, trips); });
    add("wgmma_hold_2" + count, [=] { return run_product<Major::K, Major::K, 4, 2>(1, trips); });
    add("wgmma_persistent_hold_1" + count, [=] { return run_product<Major::K, Major::K, 2, 1>(4, trips); });
    add("wgmma_panels" + count, [=] {
      using Wide = Panels<Tile<__half, 64, 64, Swizzle::B128>, 2>;
      return run_product<Major::K, Major::K, 3, 1, Wide, Wide>(2, trips);
    });
    add("wgmma_narrow_swizzle" + count, [=] {
      using Narrow = Tile<__half, 64, 32, Swizzle::B64>;
      return run_product<Major::K, Major::K, 3, 1, Narrow, Narrow>(2, trips);
    });
    add("wgmma_b_mn_major" + count, [=] { return run_product<Major::K, Major::MN, 3, 1>(1, trips); });
    add("wgmma_a_mn_major" + count, [=] { return run_product<Major::MN, Major::K, 3, 1>(1, trips); });
    add("wgmma_copied_operands_3_stages" + count, [=] { return run_copied_product<3>(2, trips); });
    add("wgmma_copied_operands_6_stages" + count, [=] { return run_copied_product<6>(2, trips); });
    add("wgmma_stored_operands" + count, [=] { return run_stored_product(2, trips); });
  }
}

}  // namespace ring_kernels
