// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// cute_async_pipeline: the job of async_pipeline as a user of CuTe writes it: tensors with layouts, a
// TiledCopy from make_tma_copy, partitions, and `copy(tma.with(barrier), ...)`. The pipeline is CUTLASS's by
// name and sluice's in fact, because compat/cutlass comes before CUTLASS's headers on the include path. Exit
// status: 0 all elements right, 1 some wrong, 2 bad input, no GPU or a CUDA error.
#include <cutlass/numeric_types.h>
#include <cstdio>
#include <cute/tensor.hpp>
#include <cutlass/pipeline/pipeline.hpp>
#include <type_traits>

#include "command_line.hpp"
#include "device.hpp"
#include "dispatch.hpp"
#include "ring_report.hpp"
#include "sluice/host/launch.hpp"
#include "sluice/pipeline.hpp"
#include "tile_data.hpp"

// CUTLASS's own pipeline must not slip in.
static_assert(std::is_same_v<cutlass::PipelineTmaAsync<3>, sluice::PipelineTmaAsync<3>>,
              "put compat/cutlass before CUTLASS's include directory");

// NOTE: not in an anonymous namespace, because nvcc cannot tell it from the one that CuTe has.
namespace cute_example {

using namespace cute;
using namespace example;

constexpr const char* kProgram = "cute_async_pipeline";

using Element = cutlass::half_t;
using TileShape = Shape<Int<kTileRows>, Int<kTileCols>>;

/// A tile in shared memory: K-major with the 128-byte swizzle, one after the other for each stage.
template <int kStages>
using TileLayout = decltype(tile_to_shape(GMMA::Layout_K_SW128_Atom<Element>{},
                                          Shape<Int<kTileRows>, Int<kTileCols>, Int<kStages>>{}));

template <int kStages>
struct Shared {
  alignas(128) Element tiles[cosize_v<TileLayout<kStages>>];
  typename cutlass::PipelineTmaAsync<kStages>::SharedStorage barriers;
};

template <int kStages, class TmaCopy>
__global__ void __launch_bounds__(kThreads)
    cute_async_pipeline(const __grid_constant__ TmaCopy tma, int columns, const TileJob job) {
  using Pipeline = cutlass::PipelineTmaAsync<kStages>;

  extern __shared__ __align__(1024) unsigned char shared_bytes[];
  auto& shared = *reinterpret_cast<Shared<kStages>*>(shared_bytes);
  const int warp = cutlass::canonical_warp_idx_sync();
  const bool is_leader = threadIdx.x == 0;

  // See the matrix as tiles, the shared memory as stages, and both as the copy engine moves them.
  Tensor matrix = tma.get_tma_tensor(make_shape(Int<kTileRows>{}, columns));        // (row, column)
  Tensor source = local_tile(matrix, TileShape{}, make_coord(0, _));                // (row, col, place)
  Tensor stages = make_tensor(make_smem_ptr(shared.tiles), TileLayout<kStages>{});  // (row, col, stage)
  auto [from, to] = tma_partition(tma, Int<0>{}, Layout<_1>{}, group_modes<0, 2>(stages),
                                  group_modes<0, 2>(source));  // (copy, place), (copy, stage)

  // Make the barriers.
  typename Pipeline::Params params;
  params.role = warp == 0 ? Pipeline::ThreadCategory::Producer : Pipeline::ThreadCategory::Consumer;
  params.is_leader = is_leader;
  params.num_consumers = kConsumerThreads;
  params.transaction_bytes = kTileBytes;
  Pipeline pipeline(shared.barriers, params, Shape<_1, _1, _1>{});
  __syncthreads();

  if (is_leader) {
    // Produce.
    auto write = cutlass::make_producer_start_state<Pipeline>();
    for (int tile = 0; tile < job.tiles; ++tile) {
      job.log_producer(tile, write);
      pipeline.producer_acquire(write);
      copy(tma.with(*pipeline.producer_get_barrier(write)), from(_, job.place(tile)), to(_, write.index()));
      ++write;
    }
    job.log_producer(job.tiles, write);
    pipeline.producer_tail(write);
  } else if (warp != 0) {
    // Consume.
    typename Pipeline::PipelineState read;
    const int thread = threadIdx.x - 32;
    for (int tile = 0; tile < job.tiles; ++tile) {
      if (thread == 0) job.log_consumer(tile, read);
      pipeline.consumer_wait(read);
      Tensor stage = stages(_, _, read.index());
      unsigned verified = 0;
      unsigned wrong = 0;
      for (int i = thread; i < size(stage); i += kConsumerThreads, ++verified) {
        const int row = i / kTileCols;
        const int col = i % kTileCols;
        wrong += stage(row, col).raw() != element_bits(job.place(tile), row, col);
      }
      pipeline.consumer_release(read);
      ++read;
      job.log_result(tile, verified, wrong);
    }
    if (thread == 0) job.log_consumer(job.tiles, read);
  }
}

template <int kStages>
sluice::LaunchError launch(HalfBits* data, int columns, const TileJob& job) {
  Tensor matrix = make_tensor(make_gmem_ptr(reinterpret_cast<Element*>(data)),
                              make_shape(Int<kTileRows>{}, columns), make_stride(columns, _1{}));
  const auto tma = make_tma_copy(SM90_TMA_LOAD{}, matrix, TileLayout<kStages>{}(_, _, 0), TileShape{}, _1{});
  sluice::LaunchShape shape;
  shape.cta = dim3(kThreads);
  shape.shared_bytes = sizeof(Shared<kStages>);
  return sluice::launch(cute_async_pipeline<kStages, std::remove_const_t<decltype(tma)>>, shape, tma, columns,
                        job);
}

void print_help() {
  std::printf(
      "usage: cute_async_pipeline [options]\n"
      "Moves tiles through a ring of stages, written with CuTe, and verifies each element.\n\n"
      "  --stages N    stages of the ring, 1 to %d (3)\n"
      "  --tiles N     tiles to move, 0 to %d (8)\n"
      "  --same-tile   load one tile of the matrix again and again\n"
      "  --quiet       print the verdict alone\n"
      "  --help        this text\n\n"
      "exit status: 0 all elements right, 1 some wrong, 2 bad input, no GPU or a CUDA error\n",
      kMaxStages, kMaxTiles);
}

}  // namespace cute_example

int main(int argc, char** argv) {
  using namespace cute_example;
  Scene scene{kProgram,        "CuTe, and PipelineTmaAsync under CUTLASS's name", nullptr, 3, 8, 1, false,
              kConsumerThreads};
  bool quiet = false;
  CommandLine line(kProgram, argc, argv);
  while (line.next()) {
    if (line.flag("--help")) {
      print_help();
      return 0;
    } else if (line.number("--stages", 1, kMaxStages, &scene.stages) ||
               line.number("--tiles", 0, kMaxTiles, &scene.tiles)) {
    } else if (line.flag("--same-tile")) {
      scene.same_tile = true;
    } else if (line.flag("--quiet")) {
      quiet = true;
    } else {
      line.reject();
    }
  }
  require_device(kProgram, 9, false);
  const SharedSizes sizes = with_stages(scene.stages, [](auto stages) {
    using Storage = Shared<stages>;
    return SharedSizes{sizeof(Storage), sizeof(Storage::tiles), sizeof(Storage::barriers)};
  });
  if (!quiet) print_configuration(scene, sizes);
  std::fflush(stdout);

  // Lay out the matrix and the records, run the kernel.
  const int places = scene.same_tile || scene.tiles == 0 ? 1 : scene.tiles;
  const DeviceArray<HalfBits> matrix(kProgram, make_matrix(places));
  const DeviceArray<TileRecord> records(kProgram, static_cast<std::size_t>(scene.tiles) + 1);
  const TileJob job{scene.tiles, scene.same_tile, records.data()};
  const sluice::LaunchError error = with_stages(
      scene.stages, [&](auto stages) { return launch<stages>(matrix.data(), places * kTileCols, job); });
  if (error) fail(kProgram, "launch: %s", error.text);
  check(kProgram, cudaDeviceSynchronize(), "kernel");

  // Tell what it did.
  const std::vector<TileRecord> seen = records.read();
  const long errors = count_errors(seen, scene.tiles, 1);
  if (!quiet) {
    print_transitions(seen.data(), scene.tiles);
    print_start_states(seen.data());
    print_first_tiles(scene, seen.data());
  }
  print_verdict(errors);
  return errors == 0 ? 0 : 1;
}
