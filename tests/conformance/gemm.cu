// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// One matrix multiplication of CUTLASS (CONFORMANCE_VARIANT names a struct of variants.hpp), whose result is
// compared bit for bit with the host's. D is fp32, so that nothing is rounded on the way out.
#include <cutlass/cutlass.h>

#include <cutlass/gemm/device/gemm_universal_adapter.h>
#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/kernel/gemm_universal.hpp>

#include "host_side.hpp"
#include "variants.hpp"

#define CONFORMANCE_NAME_OF(variant) #variant
#define CONFORMANCE_NAME(variant) CONFORMANCE_NAME_OF(variant)

namespace {

using V = conformance::CONFORMANCE_VARIANT;
using Element = V::Element;
constexpr int kAlignment = 16 / sizeof(Element);

using Epilogue = cutlass::epilogue::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, V::Tile, V::Cluster,
    cutlass::epilogue::collective::EpilogueTileAuto, float, float, void, cutlass::layout::RowMajor, 4, float,
    cutlass::layout::RowMajor, 4, V::Epilogue>::CollectiveOp;

using Mainloop = cutlass::gemm::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Element, cutlass::layout::RowMajor, kAlignment,
    Element, cutlass::layout::ColumnMajor, kAlignment, float, V::Tile, V::Cluster,
    cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(
        sizeof(typename Epilogue::SharedStorage))>,
    V::Schedule>::CollectiveOp;

using Kernel =
    cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>, Mainloop, Epilogue, V::Scheduler>;
using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;

}  // namespace

int main(int argc, char** argv) {
  const conformance::Extents e = conformance::Extents::from(argc, argv);
  const auto a = conformance::integers(e.m, e.k, 1);
  const auto b = conformance::integers(e.n, e.k, 2);
  auto* d = static_cast<float*>(conformance::unset(sizeof(float) * e.m * e.n));

  const auto packed = [](int length) {
    return cute::make_stride(std::int64_t{length}, cute::_1{}, std::int64_t{0});
  };
  Gemm::Arguments arguments{
      cutlass::gemm::GemmUniversalMode::kGemm,
      {e.m, e.n, e.k, 1},
      {conformance::on_device<Element>(a), packed(e.k), conformance::on_device<Element>(b), packed(e.k)},
      {{}, nullptr, {}, d, packed(e.n)}};
  arguments.epilogue.thread.alpha = 1.0f;
  arguments.epilogue.thread.beta = 0.0f;
  arguments.hw_info.sm_count = cutlass::KernelHardwareInfo::query_device_multiprocessor_count(0);

  Gemm gemm;
  const auto good = [](cutlass::Status status, const char* what) {
    if (status == cutlass::Status::kSuccess) return;
    std::printf("CUTLASS error: %s: %s\n", what, cutlassGetStatusString(status));
    std::exit(2);
  };
  good(gemm.can_implement(arguments), "can_implement");
  void* workspace = conformance::unset(Gemm::get_workspace_size(arguments));
  good(gemm.initialize(arguments, workspace), "initialize");
  good(gemm.run(), "run");
  return conformance::judge(CONFORMANCE_NAME(CONFORMANCE_VARIANT), e, a, b, d);
}
