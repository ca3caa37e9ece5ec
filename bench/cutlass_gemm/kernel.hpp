// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// One GEMM from CUTLASS's collective builders: 128 x 256 x 64 tiles, cooperative warp-specialised, clusters
// of 2 x 1. Included by two translation units. In published.cu the whole namespace cutlass has another name
// (a macro), so that no symbol of one unit can stand in for one of the other when they are linked; what is
// declared here is local to each.
#pragma once

#include <cuda_bf16.h>

#include <cutlass/cutlass.h>
#include <cutlass/gemm/device/gemm_universal_adapter.h>
#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/kernel/gemm_universal.hpp>
#include <type_traits>

#include "gemm.hpp"

namespace cutlass_gemm {
namespace {

using Element = cutlass::bfloat16_t;
using TileShape = cute::Shape<cute::_128, cute::_256, cute::_64>;
using Cluster = cute::Shape<cute::_2, cute::_1, cute::_1>;
constexpr int kAlignment = 8;

using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, TileShape, Cluster,
    cutlass::epilogue::collective::EpilogueTileAuto, float, float, void, cutlass::layout::RowMajor,
    kAlignment, Element, cutlass::layout::RowMajor, kAlignment,
    cutlass::epilogue::TmaWarpSpecializedCooperative>::CollectiveOp;

using Mainloop = typename cutlass::gemm::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Element, cutlass::layout::RowMajor, kAlignment,
    Element, cutlass::layout::ColumnMajor, kAlignment, float, TileShape, Cluster,
    cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(
        sizeof(typename Epilogue::SharedStorage))>,
    cutlass::gemm::KernelTmaWarpSpecializedCooperative>::CollectiveOp;

using Kernel = cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>, Mainloop, Epilogue>;
using Adapter = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;

/// Does the main loop run on sluice's pipeline?
template <class Pipeline, class = void>
struct RunsOnSluice : std::false_type {};
template <class Pipeline>
struct RunsOnSluice<Pipeline, std::void_t<decltype(Pipeline::kIsSluice)>> : std::true_type {};
constexpr bool kRunsOnSluice = RunsOnSluice<typename Mainloop::MainloopPipeline>::value;

/// The stride of a matrix whose rows of `length` elements follow each other.
auto packed(int length) {
  return cute::make_stride(std::int64_t{length}, cute::_1{}, std::int64_t{0});
}

class CutlassGemm : public Gemm {
 public:
  ~CutlassGemm() override { cudaFree(workspace_); }

  bool prepare(Problem const& p) {
    typename Adapter::Arguments arguments{
        cutlass::gemm::GemmUniversalMode::kGemm,
        {p.m, p.n, p.k, 1},
        {static_cast<Element const*>(p.a), packed(p.k), static_cast<Element const*>(p.b), packed(p.k)},
        {{}, nullptr, {}, static_cast<Element*>(p.d), packed(p.n)}};
    arguments.epilogue.thread.alpha = 1.0f;
    arguments.epilogue.thread.beta = 0.0f;
    arguments.hw_info.sm_count = cutlass::KernelHardwareInfo::query_device_multiprocessor_count(0);
    if (adapter_.can_implement(arguments) != cutlass::Status::kSuccess) return false;
    std::size_t const bytes = Adapter::get_workspace_size(arguments);
    if (bytes > 0 && cudaMalloc(&workspace_, bytes) != cudaSuccess) return false;
    return adapter_.initialize(arguments, workspace_) == cutlass::Status::kSuccess;
  }

  bool launch(cudaStream_t stream) override { return adapter_.run(stream) == cutlass::Status::kSuccess; }

 private:
  Adapter adapter_;
  void* workspace_ = nullptr;
};

std::unique_ptr<Gemm> make_gemm(Problem const& problem) {
  auto gemm = std::make_unique<CutlassGemm>();
  if (!gemm->prepare(problem)) return nullptr;
  return gemm;
}

}  // namespace
}  // namespace cutlass_gemm
