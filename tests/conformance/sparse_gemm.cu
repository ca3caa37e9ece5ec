// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// A structured-sparse matrix multiplication of CUTLASS: its compressor kernel packs A and writes the
// metadata, its sparse wgmma kernel multiplies, and the result is compared bit for bit with the host's.
#include <cutlass/cutlass.h>

#include <cutlass/gemm/device/gemm_universal_adapter.h>
#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/kernel/gemm_universal.hpp>
#include <cutlass/transform/device/transform_universal_adapter.hpp>
#include <cutlass/transform/kernel/sparse_gemm_compressor.hpp>

#include "host_side.hpp"
#include "variants.hpp"

namespace {

using Element = cutlass::half_t;
using RowMajor = cutlass::layout::RowMajor;
using Tile = conformance::Extent<128, 128, 128>;
using Cluster = conformance::Extent<1, 2, 1>;
using Problem = cute::Shape<int, int, int, int>;

using Epilogue = cutlass::epilogue::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassSparseTensorOp, Tile, Cluster,
    cutlass::epilogue::collective::EpilogueTileAuto, float, float, void, RowMajor, 4, float, RowMajor, 4,
    conformance::CooperativeEpilogue>::CollectiveOp;

using Mainloop = cutlass::gemm::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassSparseTensorOp, Element, RowMajor, 8, Element,
    cutlass::layout::ColumnMajor, 8, float, Tile, Cluster,
    cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(
        sizeof(typename Epilogue::SharedStorage))>,
    conformance::Cooperative>::CollectiveOp;

using Kernel = cutlass::gemm::kernel::GemmUniversal<Problem, Mainloop, Epilogue>;
using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;
using Config = Mainloop::SparseConfig;
using Metadata = Mainloop::ElementE;
using Utility =
    cutlass::transform::kernel::StructuredSparseCompressorUtility<Problem, Element, RowMajor, Config>;
using Compressor = cutlass::transform::device::TransformUniversalAdapter<
    cutlass::transform::kernel::StructuredSparseCompressor<Problem, Element, RowMajor, Config,
                                                           cutlass::arch::Sm90>>;

auto packed(int length) {
  return cute::make_stride(std::int64_t{length}, cute::_1{}, std::int64_t{0});
}

void good(cutlass::Status status, const char* what) {
  if (status == cutlass::Status::kSuccess) return;
  std::printf("CUTLASS error: %s: %s\n", what, cutlassGetStatusString(status));
  std::exit(2);
}

template <class Operation>
void run(const typename Operation::Arguments& arguments, const char* what) {
  Operation operation;
  good(operation.can_implement(arguments), what);
  void* workspace = conformance::unset(Operation::get_workspace_size(arguments));
  good(operation.initialize(arguments, workspace), what);
  good(operation.run(), what);
  conformance::check(cudaDeviceSynchronize(), what);
}

}  // namespace

int main(int argc, char** argv) {
  const conformance::Extents e = conformance::Extents::from(argc, argv);
  auto a = conformance::integers(e.m, e.k, 1);
  conformance::make_two_of_four(a, 3);
  const auto b = conformance::integers(e.n, e.k, 2);
  auto* d = static_cast<float*>(conformance::unset(sizeof(float) * e.m * e.n));
  const Problem problem = cute::make_shape(e.m, e.n, e.k, 1);
  cutlass::KernelHardwareInfo hardware;
  hardware.sm_count = cutlass::KernelHardwareInfo::query_device_multiprocessor_count(0);

  const Utility utility(problem, packed(e.k));
  const std::size_t kept = std::size_t(utility.get_tensorA_m_physical()) * utility.get_tensorA_k_physical();
  const std::size_t described =
      std::size_t(utility.get_metadata_m_physical()) * utility.get_metadata_k_physical();
  auto* compressed = static_cast<Element*>(conformance::unset(kept * sizeof(Element)));
  auto* metadata = static_cast<Metadata*>(conformance::unset(described * sizeof(Metadata)));
  run<Compressor>(
      {problem, {conformance::on_device<Element>(a), packed(e.k), compressed, metadata}, {hardware}},
      "compressor");

  Gemm::Arguments arguments{cutlass::gemm::GemmUniversalMode::kGemm,
                            problem,
                            {compressed, Config::fill_layoutA(problem), conformance::on_device<Element>(b),
                             packed(e.k), metadata, Config::fill_layoutE(problem)},
                            {{}, nullptr, {}, d, packed(e.n)}};
  arguments.epilogue.thread.alpha = 1.0f;
  arguments.epilogue.thread.beta = 0.0f;
  arguments.hw_info = hardware;
  run<Gemm>(arguments, "gemm");
  return conformance::judge("f16_sparse", e, a, b, d);
}
